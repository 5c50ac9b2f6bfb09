/** The OpenAPI document, held against what a real server with every route answers. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { FastifyInstance } from 'fastify';
import { describe, expect, it } from 'vitest';
import type { ServerParts } from '../../../src/adapters/http/app.js';
import { createMcpEndpoint } from '../../../src/adapters/mcp/http-endpoint.js';
import { loadCatalog } from '../../../src/core/catalog/load.js';
import { readVersion } from '../../../src/core/environment.js';
import { ERROR_TABLE } from '../../../src/core/errors.js';
import { requestSchema } from '../../../src/core/request.js';
import { createWorld } from '../mcp/setup.js';
import { OPERATOR_TOKEN, startAgentServer } from './agents/setup.js';
import { ASKED, answeringPlanner, parseEvents, startServer } from './setup.js';

type Json = Record<string, unknown>;

/** A server for plans, agents and MCP, its document, and what checks values against a part of it. */
async function start(options: ServerParts['options'] = {}) {
  const { parts } = await createWorld();
  const server = await startAgentServer({ mcp: createMcpEndpoint(parts), options });
  const { body: document } = await server.ask('GET /openapi.json');
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema({ $id: 'openapi', ...document });
  const errorsOf = (reference: string, value: unknown) => {
    const validate = ajv.getSchema(`openapi${reference}`);
    if (!validate) throw new Error(`no schema ${reference}`);
    validate(value);
    return validate.errors ?? [];
  };
  const validate = (name: string, value: unknown) => errorsOf(`#/components/schemas/${name}`, value);
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(`${server.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${OPERATOR_TOKEN}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  return { ...server, document, errorsOf, validate, send };
}

function valuesOf(value: unknown, key: string): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => [...(name === key ? [part] : []), ...valuesOf(part, key)]);
}

/** Those of `/docs` are no part of the interface. */
const routesOf = ({ app }: { app: FastifyInstance }) =>
  app.printRoutes({ commonPrefix: false }).replace(/^[├└]── \/docs.*\n(?:[│ ].*\n)*/mu, '');

const linesOf = (document: { paths: Json }) =>
  Object.entries<Json>(Object(document.paths)).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );

describe('the OpenAPI document', () => {
  it('is OpenAPI 3.1 and lists every route of the server once', async () => {
    const { app, document } = await start();
    expect(document.openapi).toBe('3.1.1');
    expect(document.info).toMatchObject({ title: 'Winnow', version: readVersion() });
    const documented = linesOf(document);
    for (const line of documented) {
      const [method = '', path = ''] = line.split(' ');
      expect([line, app.hasRoute({ method, url: path.replace('{id}', ':id') })]).toEqual([line, true]);
    }
    const methods = routesOf({ app }).match(/(?<=\()[A-Z, ]+(?=\))/gu) ?? [];
    expect(methods.flatMap((text) => text.split(', ')).filter((method) => method !== 'HEAD')).toHaveLength(
      documented.length,
    );
    const some = ['POST /v1/plan', 'POST /v1/sessions/{id}/call', 'POST /mcp', 'GET /mcp', 'DELETE /mcp'];
    expect(documented).toEqual(expect.arrayContaining(some));
  });

  it('is a page under /docs that takes nothing from elsewhere', async () => {
    const { send } = await start();
    const page = await send('GET', '/docs');
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /u);
    const text = await page.text();
    const links = [...text.matchAll(/(?:src|href)="([^"]*)"/gu)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) expect([link, (await send('GET', link)).status]).toEqual([link, 200]);
    expect(Object(await (await send('GET', '/docs/json')).json()).openapi).toBe('3.1.1');
    const missing = await send('GET', '/docs/static/nothing.js');
    expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    const elsewhere = await send('GET', '/docs', undefined, { origin: 'https://evil.example' });
    expect(elsewhere.status).toBe(403);
  });

  it('passes a validator of OpenAPI that is not ours', async () => {
    const { document } = await start();
    expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true });
    const { info: _, ...broken } = document;
    expect(await new Validator().validate(broken)).toMatchObject({ valid: false });
  });

  it('says nothing of agents and MCP where the server has none', async () => {
    const { app, url } = await startServer({ planner: answeringPlanner() });
    const document = JSON.parse(await (await fetch(`${url}/openapi.json`)).text());
    const plans = ['POST /v1/plan', 'POST /v1/select', 'POST /v1/plans'];
    const lines = [...plans, 'GET /v1/tools', 'GET /healthz', 'GET /readyz'];
    expect(linesOf(document)).toEqual([...lines, 'GET /openapi.json']);
    expect(routesOf({ app }).match(/─ /g)).toHaveLength(lines.length + 1);
    expect(Object.keys(document.components.schemas).filter((name) => /mcp|session/iu.test(name))).toEqual([]);
    expect(JSON.stringify(document)).not.toMatch(/x-winnow-roles|\/v1\/sessions/u);
    expect((await fetch(`${url}/v1/audit`)).status).toBe(404);
  });

  it('names who asks as a header of each path but those that are open to all', async () => {
    const { document } = await start();
    const isOpen = ([, { get = {} }]: [string, Json]) =>
      !Object(get).parameters?.some(({ name }: { name: string }) => name === 'x-winnow-user');
    const open = Object.entries<Json>(document.paths).filter(([, item]) => 'get' in item);
    expect(open.filter(isOpen).map(([path]) => path)).toEqual(['/healthz', '/readyz', '/openapi.json']);
  });

  it('has a schema behind every reference', async () => {
    const { document } = await start();
    const references = valuesOf(document, '$ref').map(String);
    expect(references.length).toBeGreaterThan(20);
    for (const reference of references) {
      const found = reference
        .slice(2)
        .split('/')
        .reduce<unknown>((part, key) => Object(part)[key], document);
      expect([reference, typeof found]).toEqual([reference, 'object']);
    }
  });

  it('tells that every failure is a problem, with each code of the error table and its status', async () => {
    const { document } = await start();
    const { description } = document.components.schemas.Problem.properties.code;
    for (const [code, { httpStatus, meaning }] of Object.entries(ERROR_TABLE))
      expect(description).toContain(`\`${code}\` (${httpStatus}): ${meaning}`);
    const { '/mcp': _, ...paths } = document.paths;
    for (const item of Object.values<Json>(paths))
      for (const operation of Object.values(item))
        expect(Object(operation).responses.default.content).toEqual({
          'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
        });
  });

  it('describes each field of a request, and asks for a body only where one without any field would be refused', async () => {
    const { document } = await start();
    const { properties, required } = document.components.schemas.PlanRequest;
    expect(Object.keys(properties)).toEqual([...Object.keys(requestSchema.shape), 'tools']);
    expect(required).toEqual(['message']);
    const isRequired = (path: string) => document.paths[path].post.requestBody.required;
    expect(['/v1/index/rebuild', '/v1/sessions'].map(isRequired)).toEqual([false, false]);
    const asking = ['/v1/index/snapshot', '/v1/sessions/{id}/call', '/v1/private-tools'];
    expect(asking.map(isRequired)).toEqual([true, true, true]);
  });

  it('can itself be read as a catalogue of tools', async () => {
    const { url } = await start();
    const { catalog, issues } = await loadCatalog({ sources: [`openapi:${url}/openapi.json`] });
    const names = [
      'plan',
      'select',
      'list_tools',
      'health',
      'readiness',
      'openapi',
      'mcp_send',
      'mcp_listen',
      'mcp_end',
    ];
    expect(catalog.tools.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
    expect(issues.filter(({ level }) => level === 'warning')).toEqual([]);
    const call = catalog.tools.find(({ name }) => name === 'call_tool');
    expect(Object.keys(Object(call?.inputSchema.properties))).toEqual(expect.arrayContaining(['id', 'tool']));
  });
});

describe('what the server really answers is of the described form', () => {
  it('to plans and selections, whole and as events', async () => {
    const { validate, send } = await start();
    const answers: [string, Response][] = [
      ['PlanResult', await send('POST', '/v1/plan', ASKED)],
      ['SelectResult', await send('POST', '/v1/select', ASKED)],
      ['ToolList', await send('GET', '/v1/tools')],
      ['Problem', await send('POST', '/v1/plan', {})],
      ['Problem', await send('GET', '/v1/plan')],
    ];
    for (const [name, response] of answers) expect([name, validate(name, await response.json())]).toEqual([name, []]);
    const stream = await send('POST', '/v1/plan', ASKED, { accept: 'text/event-stream' });
    const events = parseEvents(await stream.text());
    expect(events.length).toBeGreaterThan(1);
    for (const { event, data } of events)
      expect([event, validate(event === 'stage' ? 'TraceEvent' : 'PlanResult', data)]).toEqual([event, []]);
    expect(validate('PlanRequest', ASKED)).toEqual([]);
    expect(validate('PlanRequest', { mesage: 'x' })).not.toEqual([]);
    expect(validate('PlanResult', { kind: 'plan' })).not.toEqual([]);
  });

  it('to agents', async () => {
    const { ask, document, validate } = await start();
    const call = { tool: 'file_delete', arguments: { path: 'a.txt' } };
    const { body: session } = await ask('POST /v1/sessions', { user: 'ann' });
    const at = `/v1/sessions/${session.id}`;
    const enabled = await ask(`POST ${at}/enable`, { names: ['file_delete', 'nothing'] });
    const refused = await ask(`POST ${at}/call`, call);
    const ahead = (path: unknown) =>
      ask('POST /v1/approvals', { session: session.id, ...call, arguments: { path } }, { user: 'ann' });
    const [asked, wrong] = [await ahead('b.txt'), await ahead(1)];
    expect([asked.status, wrong.status]).toEqual([201, 200]);
    expect(Object.keys(document.paths['/v1/approvals'].post.responses)).toEqual(['200', '201', 'default']);
    const answers: [string, unknown][] = [
      ['Session', session],
      ['SearchResult', (await ask(`POST ${at}/search`, { query: 'delete a file' })).body],
      ['EnableResult', enabled.body],
      ['DisableResult', (await ask(`POST ${at}/disable`, { names: ['file_read'] })).body],
      ['HandOut', (await ask(`GET ${at}/tools?mode=narrow&query=read&top_k=1`)).body],
      ['HandOut', (await ask(`GET ${at}/tools?mode=narrow&query=zzz`)).body],
      ['CallResult', refused.body],
      ['ApprovalResult', asked.body],
      ['ApprovalResult', wrong.body],
      ['ApprovalList', (await ask('GET /v1/approvals?limit=1')).body],
      ['Approval', (await ask(`GET /v1/approvals/${refused.body.approval}`)).body],
      ['ApprovalResult', (await ask(`POST /v1/approvals/${refused.body.approval}/refuse`, { by: { user: 'b' } })).body],
      ['AuditTrail', (await ask('GET /v1/audit')).body],
      ['IndexStatus', (await ask('GET /v1/index')).body],
      ['RebuiltIndex', (await ask('POST /v1/index/rebuild')).body],
      ['IndexSnapshot', (await ask('GET /v1/index/snapshot?level=full')).body],
      ['ImportedIndex', (await ask('POST /v1/index/snapshot', { level: 'none' })).body],
      ['PrivateTool', (await ask('POST /v1/private-tools', { user: 'ann', tool: { name: 'a' } })).body],
      ['PrivateToolList', (await ask('GET /v1/private-tools?user=ann')).body],
      ['Rule', (await ask('PUT /v1/rules/r', { when: { intent: 'i' }, first: ['a'] })).body],
      ['RuleList', (await ask('GET /v1/rules')).body],
      ['RemovedRule', (await ask('DELETE /v1/rules/r')).body],
      ['LearntList', (await ask('GET /v1/adaptation')).body],
      ['Learnt', (await ask('POST /v1/adaptation/learn')).body],
      ['TelemetryReport', (await ask('GET /v1/telemetry?by=tool')).body],
    ];
    for (const [name, value] of answers) expect([name, validate(name, value)]).toEqual([name, []]);
    expect(validate('Session', {})).not.toEqual([]);
    expect(validate('ApprovalResult', { ok: true })).not.toEqual([]);
    expect(validate('RuleRequest', { when: {}, weight: 1 })).not.toEqual([]);
  });

  const INITIALIZE = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
  };
  const ACCEPT = { accept: 'application/json, text/event-stream' };

  it('to a connection of MCP, in status, type and form', async () => {
    const { document, errorsOf, send } = await start({ bodyLimitBytes: 1_000 });
    const post = (body: unknown, headers = {}) => send('POST', '/mcp', body, { ...ACCEPT, ...headers });

    async function check(method: string, response: Response): Promise<number> {
      const { status, headers } = response;
      const { [status]: documented, default: failure } = document.paths['/mcp'][method].responses;
      const { content } = documented ?? failure;
      const type = headers.get('content-type')?.split(';')[0];
      expect([method, status, Object.keys(Object(content))]).toEqual([
        method,
        status,
        type === undefined ? [] : expect.arrayContaining([type]),
      ]);
      const text = await response.text();
      if (type?.endsWith('json')) {
        const { $ref } = content[type].schema;
        expect([status, text, errorsOf($ref, JSON.parse(text))]).toEqual([status, text, []]);
      }
      return status;
    }

    const opened = await post(INITIALIZE);
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    expect(session['mcp-session-id']).not.toBe('');
    const listen = { ...session, accept: 'text/event-stream' };
    const stream = await send('GET', '/mcp', undefined, listen);
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const answers = [
      await check('post', opened),
      await check('post', await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, session)),
      await check('post', await post({ jsonrpc: '2.0', id: 2, method: 'tools/list' }, session)),
      await check('post', await post({ jsonrpc: '2.0', id: 2, method: 'tools/list' })),
      await check('post', await post('{')),
      await check('post', await post(INITIALIZE, { origin: 'https://evil.example' })),
      await check('post', await post(INITIALIZE, { 'mcp-session-id': 'none' })),
      await check('post', await post(INITIALIZE, { accept: 'text/html' })),
      await check('post', await post({ ...INITIALIZE, extra: 'x'.repeat(2_000) })),
      await check('post', await post(INITIALIZE, { 'content-type': 'text/html' })),
      await check('get', await send('GET', '/mcp', undefined, listen)),
      await check('get', await send('GET', '/mcp')),
      await check('delete', await send('DELETE', '/mcp')),
      await check('delete', await send('DELETE', '/mcp', undefined, session)),
    ];
    expect(answers).toEqual([200, 202, 200, 400, 400, 403, 404, 406, 413, 415, 409, 400, 400, 200]);
    await stream.body?.cancel();
  });

  it('to a connection of MCP where the server is full', async () => {
    const { document, send } = await start({ concurrency: 0 });
    const { status, headers } = await send('POST', '/mcp', INITIALIZE, ACCEPT);
    const { content } = document.paths['/mcp'].post.responses.default;
    expect([status, Object.keys(content)]).toEqual([503, expect.arrayContaining([headers.get('content-type')])]);
  });
});
