/** `/mcp` in the OpenAPI document, held against what a real server answers there. */
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { loadCatalog } from '../../src/core/catalog/load.js';
import { createMcpEndpoint } from '../../src/mcp/http-endpoint.js';
import type { ServerParts } from '../../src/server/app.js';
import { answeringPlanner, startServer } from '../server/setup.js';
import { closeAfterTest, createWorld } from './setup.js';

async function serve(options: ServerParts['options'] = {}) {
  const world = await createWorld();
  const mcp = createMcpEndpoint(world.parts);
  const { app, url } = await startServer({ planner: answeringPlanner(), mcp, options });
  closeAfterTest(app);
  const document = JSON.parse(await (await fetch(`${url}/openapi.json`)).text());
  return { app, url, document };
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};
const ACCEPT = { accept: 'application/json, text/event-stream' };

function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const sent = { 'content-type': 'application/json', ...ACCEPT, ...headers };
  return fetch(`${url}/mcp`, {
    method: 'POST',
    headers: sent,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

describe('/mcp in the OpenAPI document', () => {
  it('is there with each of its methods, and only where the server has it', async () => {
    const { app, document } = await serve();
    const methods = Object.keys(document.paths['/mcp']).map((method) => method.toUpperCase());
    expect(methods.sort()).toEqual(['DELETE', 'GET', 'POST']);
    for (const method of methods) expect([method, app.hasRoute({ method, url: '/mcp' })]).toEqual([method, true]);
    const { url } = await startServer({ planner: answeringPlanner() });
    const other = JSON.parse(await (await fetch(`${url}/openapi.json`)).text());
    const names = [...Object.keys(other.paths), ...Object.keys(other.components.schemas)];
    expect(names.filter((name) => /mcp/iu.test(name))).toEqual([]);
    expect(Object.keys(other.components.parameters)).not.toContain('Roles');
  });

  it('describes every answer of a connection, in status, type and form', async () => {
    const { url, document } = await serve({ bodyLimitBytes: 1_000 });
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'openapi', ...document });

    async function check(method: string, response: Response): Promise<number> {
      const { status, headers } = response;
      const documented = document.paths['/mcp'][method].responses[status];
      const { content } = documented?.$ref
        ? document.components.responses[documented.$ref.split('/').at(-1)]
        : Object(documented);
      const type = headers.get('content-type')?.split(';')[0];
      expect([method, status, Object.keys(Object(content))]).toEqual([
        method,
        status,
        type === undefined ? [] : expect.arrayContaining([type]),
      ]);
      const text = await response.text();
      if (type?.endsWith('json')) {
        const { $ref } = content[type].schema;
        const validate = ajv.getSchema(`openapi${$ref}`);
        if (!validate) throw new Error(`no schema ${$ref}`);
        validate(JSON.parse(text));
        expect([status, text, validate.errors ?? []]).toEqual([status, text, []]);
      }
      return status;
    }

    const opened = await post(url, INITIALIZE);
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    expect(session['mcp-session-id']).not.toBe('');
    const listening = new AbortController();
    const listen = { headers: { ...session, accept: 'text/event-stream' } };
    const stream = await fetch(`${url}/mcp`, { ...listen, signal: listening.signal });
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const answers = [
      await check('post', opened),
      await check('post', await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, session)),
      await check('post', await post(url, { jsonrpc: '2.0', id: 2, method: 'tools/list' }, session)),
      await check('post', await post(url, { jsonrpc: '2.0', id: 2, method: 'tools/list' })),
      await check('post', await post(url, '{')),
      await check('post', await post(url, INITIALIZE, { origin: 'https://evil.example' })),
      await check('post', await post(url, INITIALIZE, { 'mcp-session-id': 'none' })),
      await check('post', await post(url, INITIALIZE, { accept: 'text/html' })),
      await check('post', await post(url, { ...INITIALIZE, extra: 'x'.repeat(2_000) })),
      await check('post', await post(url, INITIALIZE, { 'content-type': 'text/html' })),
      await check('get', await fetch(`${url}/mcp`, listen)),
      await check('get', await fetch(`${url}/mcp`)),
      await check('delete', await fetch(`${url}/mcp`, { method: 'DELETE' })),
      await check('delete', await fetch(`${url}/mcp`, { method: 'DELETE', headers: session })),
    ];
    expect(answers).toEqual([200, 202, 200, 400, 400, 403, 404, 406, 413, 415, 409, 400, 400, 200]);
    listening.abort();
  });

  it('describes a server that is full', async () => {
    const { url, document } = await serve({ concurrency: 0 });
    const { status, headers } = await post(url, INITIALIZE);
    const { content } = document.paths['/mcp'].post.responses[503];
    expect([status, Object.keys(content)]).toEqual([503, expect.arrayContaining([headers.get('content-type')])]);
  });

  it('can be read as a part of a catalogue of tools', async () => {
    const { url } = await serve();
    const { catalog, issues } = await loadCatalog({ sources: [`openapi:${url}/openapi.json`] });
    expect(catalog.tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['mcp_send', 'mcp_listen', 'mcp_end']),
    );
    expect(issues.filter(({ level }) => level === 'warning')).toEqual([]);
  });
});
