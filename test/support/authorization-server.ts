/** A small authorization server, which gives tokens to one client for its secret or for codes of accounts, and a server behind it. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json, text } from 'node:stream/consumers';

export const CLIENT = { clientId: 'winnow', clientSecret: 'the-secret/of:the client' };

export interface TokenRequest {
  readonly headers: IncomingMessage['headers'];
  readonly fields: Readonly<Record<string, string>>;
}

export interface AuthorizationServer {
  readonly url: string;
  /** Lines of all requests, and those for tokens as they came. */
  readonly lines: string[];
  readonly asked: TokenRequest[];
  /** The tokens that are good now. */
  readonly tokens: Set<string>;
  /** A token, code or refresh token -> the account at this server that it is for. Each refresh token works once. */
  readonly accounts: Map<string, string>;
  /** What its metadata says besides. */
  metadata: Readonly<Record<string, unknown>>;
  /** Of a token, in seconds. */
  expiresIn: number | undefined;
  /** Answers a request for a token in its place. Default: as it should be. */
  answer: ((request: TokenRequest, response: ServerResponse) => void) | undefined;
  /** Its part of a server that has other parts, too. @returns whether the request was for it */
  handle(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  close(): void;
}

export async function listen(handle: RequestListener): Promise<{ url: string; close(): void }> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => void server.close().closeAllConnections();
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

export async function startAuthorizationServer(): Promise<AuthorizationServer> {
  const { url, close } = await listen(async (request, response) => {
    if (!(await issuer.handle(request, response))) response.writeHead(404).end();
  });
  const issuer = createAuthorizationServer(url, close);
  return issuer;
}

export function createAuthorizationServer(url: string, close: () => void): AuthorizationServer {
  const issuer: AuthorizationServer = {
    ...{ url, lines: [], asked: [], tokens: new Set(), accounts: new Map(), metadata: {} },
    ...{ expiresIn: undefined, answer: undefined, close },
    async handle(request, response) {
      const { method, url: path = '', headers } = request;
      issuer.lines.push(`${method} ${path}`);
      if (path === '/.well-known/oauth-authorization-server') {
        const endpoints = {
          ...{ authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token` },
          revocation_endpoint: `${url}/revoke`,
        };
        sendJson(response, 200, { issuer: url, response_types_supported: ['code'], ...endpoints, ...issuer.metadata });
        return true;
      }
      if (path.startsWith('/authorize?')) {
        response.writeHead(302, { location: authorize(new URL(path, url).searchParams, headers) }).end();
        return true;
      }
      if (path !== '/token' && path !== '/revoke') return false;
      const asking = { headers, fields: Object.fromEntries(new URLSearchParams(await text(request))) };
      if (path === '/revoke') {
        response.writeHead(knows(headers) && issuer.accounts.delete(asking.fields.token ?? '') ? 200 : 400).end();
        return true;
      }
      issuer.asked.push(asking);
      if (issuer.answer) issuer.answer(asking, response);
      else giveToken(asking, response);
      return true;
    },
  };

  const challenges = new Map<string, string>();

  /** The person at the browser has the account of the header `x-account`, and agrees. @returns where the browser goes back */
  function authorize(asked: URLSearchParams, headers: IncomingMessage['headers']): string {
    const code = `code-number-${challenges.size}-of-${url.split(':').at(-1)}`;
    challenges.set(code, `${asked.get('code_challenge')} ${asked.get('redirect_uri')}`);
    issuer.accounts.set(code, String(headers['x-account'] ?? 'somebody'));
    const back = new URL(asked.get('redirect_uri') ?? '');
    back.search = String(new URLSearchParams({ code, state: asked.get('state') ?? '', iss: url }));
    return back.href;
  }

  function knows({ authorization = '' }: IncomingMessage['headers']): boolean {
    const [id, secret] = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().split(/:(.*)/u);
    return id === CLIENT.clientId && secret === CLIENT.clientSecret;
  }

  /** The account of a code or refresh token, which works once. */
  function accountFor({ code = '', code_verifier = '', redirect_uri, refresh_token = '' }: TokenRequest['fields']) {
    const challenge = createHash('sha256').update(code_verifier).digest('base64url');
    const isOf = code === '' || challenges.get(code) === `${challenge} ${redirect_uri}`;
    const account = issuer.accounts.get(code || refresh_token);
    issuer.accounts.delete(code || refresh_token);
    return isOf ? account : undefined;
  }

  function giveToken({ headers, fields }: TokenRequest, response: ServerResponse): ServerResponse {
    const secret = Buffer.from((headers.authorization ?? '').replace('Basic ', ''), 'base64').toString();
    const description = `not ${secret.slice(secret.indexOf(':') + 1)}`;
    if (!knows(headers)) return sendJson(response, 401, { error: 'invalid_client', error_description: description });
    const isOfUser = fields.grant_type === 'authorization_code' || fields.grant_type === 'refresh_token';
    if (!isOfUser && fields.grant_type !== 'client_credentials')
      return sendJson(response, 400, { error: 'unsupported_grant_type' });
    const account = isOfUser ? accountFor(fields) : undefined;
    if (isOfUser && account === undefined) return sendJson(response, 400, { error: 'invalid_grant' });
    const token = `token-number-${issuer.asked.length}-of-${url.split(':').at(-1)}`;
    issuer.tokens.add(token);
    if (account !== undefined) for (const one of [token, `refresh-${token}`]) issuer.accounts.set(one, account);
    const { expiresIn } = issuer;
    return sendJson(response, 200, {
      ...{ access_token: token, token_type: 'Bearer' },
      ...(account === undefined ? {} : { refresh_token: `refresh-${token}`, scope: 'notes:read' }),
      ...(expiresIn === undefined ? {} : { expires_in: expiresIn }),
    });
  }
  return issuer;
}

export function sendJson(response: ServerResponse, status: number, body: object): ServerResponse {
  return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const METADATA = '/.well-known/oauth-protected-resource';

export interface GuardedOptions {
  /** Those that it takes. Default: those of its own issuer. */
  readonly tokens?: Set<string>;
  /** Whose each token is: the tool then answers with the account. */
  readonly accounts?: ReadonlyMap<string, string>;
  readonly describes?: object;
}

/** A server of one tool behind tokens. `issuer` is its own authorization server. */
export async function startGuardedServer({ tokens, accounts, describes = {} }: GuardedOptions = {}) {
  const seen: IncomingMessage['headers'][] = [];
  const state = {
    seen,
    challenge: 'Bearer',
    location: '',
    refuse: undefined as number | undefined,
    describes: describes as object | undefined,
    isHidden: false,
    /** The tool answers with its token. */
    isEcho: false,
    calls: 0,
    /** The account of each connection, and how many were given back. */
    connections: [] as (string | undefined)[],
    closed: 0,
  };
  let stream: Parameters<typeof sendJson>[0] | undefined;
  const { url, close } = await listen(async (request, response) => {
    const isDescribed = state.isHidden ? request.url === '/description' : request.url?.startsWith(METADATA);
    if (isDescribed) {
      if (!state.describes) return response.writeHead(404).end();
      return sendJson(response, 200, { resource: `${url}/mcp`, ...state.describes });
    }
    if (await issuer.handle(request, response)) return undefined;
    if (request.url !== '/mcp' && request.url !== '/sse') return response.writeHead(404).end();
    const { authorization = '' } = request.headers;
    seen.push(request.headers);
    const [, token = ''] = authorization.split(' ');
    const good = (tokens ?? issuer.tokens).has(token);
    if (state.refuse !== undefined && good && request.method === 'POST')
      return response
        .writeHead(state.refuse, { 'www-authenticate': state.challenge, location: state.location })
        .end(`no, ${authorization}`);
    if (!good) return response.writeHead(401, { 'www-authenticate': state.challenge }).end('no token');
    if (request.url === '/sse' && request.method === 'GET') {
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      return stream.write('event: endpoint\ndata: /sse\n\n');
    }
    if (request.method === 'DELETE') state.closed += 1;
    if (request.method !== 'POST') return response.writeHead(405).end();
    const account = accounts?.get(token);
    const { method, id } = Object(await json(request));
    if (id === undefined) return response.writeHead(202).end();
    if (method === 'server/discover') return response.writeHead(400).end();
    if (method === 'tools/call') state.calls += 1;
    if (method === 'initialize') state.connections.push(account);
    if (method === 'initialize' && accounts)
      response.setHeader('mcp-session-id', `session-${state.connections.length}`);
    const serverInfo = { name: 'guarded', version: '1' };
    const results: Record<string, object> = {
      initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo },
      'tools/list': { tools: [{ name: 'nod', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: state.isEcho ? authorization : (account ?? 'done') }] },
    };
    const message = { jsonrpc: '2.0', id, result: results[method] };
    if (request.url !== '/sse') return sendJson(response, 200, message);
    response.writeHead(202).end();
    return stream?.write(`data: ${JSON.stringify(message)}\n\n`);
  });
  const issuer: AuthorizationServer = createAuthorizationServer(url, close);
  return Object.assign(state, { url: `${url}/mcp`, origin: url, issuer, close });
}
