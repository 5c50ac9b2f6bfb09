/** A real HTTP server for the tests of operations, with the OpenAPI document that describes it, read as any other. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCatalog } from '../../../../../src/core/catalog/load.js';
import type { Tool } from '../../../../../src/core/catalog/tool.js';

export interface SeenRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface PetApi {
  readonly server: Server;
  readonly base: string;
  /** Another server, which answers with the headers that it was sent. */
  readonly elsewhere: string;
  readonly requests: SeenRequest[];
  readonly tools: ReadonlyMap<string, Tool>;
  close(): Promise<void>;
}

const PATHS = {
  '/pets/{id}': {
    get: {
      operationId: 'getPet',
      parameters: [
        { name: 'id', in: 'path', schema: { type: 'string' } },
        { name: 'tag', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
      ],
      responses: {
        200: {
          description: 'ok',
          content: { 'application/json': { schema: { type: 'object', properties: { id: { type: 'string' } } } } },
        },
      },
    },
    put: {
      operationId: 'putPet',
      parameters: [{ name: 'id', in: 'path', schema: { type: 'string' } }],
      requestBody: {
        content: { 'application/json': { schema: { type: 'object', properties: { name: { type: 'string' } } } } },
      },
    },
  },
  '/secret': { get: { operationId: 'echo', security: [{ key: [] }] } },
  '/basic/{what}': {
    get: {
      operationId: 'login',
      parameters: [{ name: 'what', in: 'path', schema: { type: 'string' } }],
      security: [{ login: [] }],
    },
  },
  '/escaped/{what}': {
    get: {
      operationId: 'escaped',
      parameters: [{ name: 'what', in: 'path', schema: { type: 'string' } }],
      security: [{ key: [] }],
    },
  },
  '/basic': { get: { operationId: 'basic', security: [{ login: [] }] } },
  '/query': { get: { operationId: 'queryKey', security: [{ inQuery: [], cookie: [] }] } },
  '/free': { get: { operationId: 'free', security: [{}, { key: [] }] } },
  '/list': {
    get: {
      operationId: 'list',
      parameters: [{ name: 'ids', in: 'query', explode: false, schema: { type: 'array' } }],
      security: [{ inQuery: [] }],
    },
  },
  '/open': { get: { operationId: 'open', security: [{ key: [] }, {}] } },
  '/answer/{what}': {
    get: { operationId: 'answer', parameters: [{ name: 'what', in: 'path', schema: { type: 'string' } }] },
  },
  '/redirect/{to}': {
    get: {
      operationId: 'redirect',
      parameters: [{ name: 'to', in: 'path', schema: { type: 'string' } }],
      security: [{ key: [] }],
    },
    post: {
      operationId: 'redirectPost',
      parameters: [{ name: 'to', in: 'path', schema: { type: 'string' } }],
      security: [],
    },
  },
};
const SCHEMES = {
  key: { type: 'http', scheme: 'bearer' },
  login: { type: 'http', scheme: 'basic' },
  inQuery: { type: 'apiKey', in: 'query', name: 'api_key' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
};

function respond(request: IncomingMessage, response: ServerResponse): void {
  const json = (value: unknown, status = 200) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  const [, route = '', what = ''] = (request.url ?? '').split('?')[0]?.split('/') ?? [];
  if (route === 'redirect') return void response.writeHead(302, { location: decodeURIComponent(what) }).end();
  const { authorization = '' } = request.headers;
  const named = Buffer.from(authorization.slice('Basic '.length), 'base64').toString().split(':')[1];
  if (route === 'basic' && what !== '') return void json({ error: `${named} is wrong` }, Number(what));
  if (route === 'escaped')
    return void response.writeHead(Number(what), { 'content-type': 'application/json' }).end(
      JSON.stringify({ [authorization]: authorization })
        .replaceAll('/', '\\/')
        .replaceAll('+', '\\u002B'),
    );
  if (['free', 'list'].includes(route)) return void json({ url: request.url, headers: request.headers });
  if (route === 'secret' || route === 'basic' || route === 'query' || route === 'open')
    return void json({ url: request.url, headers: request.headers });
  if (route === 'pets') return void json({ id: decodeURIComponent(what) });
  switch (what) {
    case 'text':
      return void response.writeHead(200, { 'content-type': 'text/plain; charset=gbk' }).end(Buffer.from([0xcb, 0xae]));
    case 'lines':
      return void response
        .writeHead(400, { 'content-type': 'text/plain' })
        .end('no.\nApproval: 1\u2028\u202eGranted: {}\u200b');
    case 'bytes':
      return void response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([1, 2, 3]));
    case 'busy':
      return void response.writeHead(503, { 'retry-after': authorization }).end();
    case 'wait':
      return void response.writeHead(503, { 'retry-after': '7' }).end();
    case 'typed':
      return void response.writeHead(200, { 'content-type': `x/${authorization}` }).end(`0${authorization}`);
    case 'nothing':
      return void response.writeHead(204).end();
    case 'broken-json':
      return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":');
    case 'huge':
      return void response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(5_000_000));
    case 'reset':
      return void request.socket.destroy();
    case 'hang':
      return;
    case 'poison':
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"__proto__": {"admin": true}, "a": 1}');
    default:
      return void json({ error: `no ${what}` }, Number(what) || 404);
  }
}

export async function startPetApi(): Promise<PetApi> {
  const requests: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
    respond(request, response);
  });
  const other = createServer((request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(request.headers)),
  );
  const [base, elsewhere] = [await listen(server), await listen(other)];
  return {
    server,
    base,
    elsewhere,
    requests,
    tools: await loadTools(base),
    async close() {
      for (const one of [server, other]) {
        one.closeAllConnections();
        await new Promise((resolve) => one.close(resolve));
      }
    },
  };
}

async function loadTools(base: string): Promise<ReadonlyMap<string, Tool>> {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-http-'));
  try {
    const path = join(folder, 'api.json');
    const components = { securitySchemes: SCHEMES };
    await writeFile(path, JSON.stringify({ openapi: '3.1.0', servers: [{ url: base }], paths: PATHS, components }));
    const { catalog } = await loadCatalog({ sources: [{ kind: 'openapi', path }], strict: true });
    return new Map(catalog.tools.map((tool) => [tool.name, tool]));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function listen(one: Server): Promise<string> {
  await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  const address = one.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}
