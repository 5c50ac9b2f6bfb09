/** What one user may spend on models: counted by what the model server reports, and refused before the next call. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { type Behaviour, type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { answer, fail } from '../support/server-behaviours.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { configured, serve } from './serve-setup.js';

const SELECTION = '{"selected_tools": ["read_level"], "reason": "it reads levels"}';
const PLAN = '{"kind": "plan", "steps": [{"id": "s1", "tool": "read_level", "arguments": {}}]}';
const ASKED = { message: 'How high is the water?' };

let server: ScriptedServer;
afterEach(async () => {
  vi.restoreAllMocks();
  await server.close();
});

/** Each call of the model costs ten tokens read and five written. */
async function serveWith(modelTokens: object, plan: Behaviour = answer(PLAN)) {
  server = await startScriptedServer(({ body }) =>
    JSON.stringify(body).includes('selected_tools') ? answer(SELECTION) : plan,
  );
  const tools = join(temporaryFolder(), 'tools.json');
  const names = ['read_level', 'list_stations'];
  writeFileSync(tools, JSON.stringify(names.map((name) => ({ name, toolType: 'builtin', description: name }))));
  const served = await serve(
    ...configured({
      catalog: [tools],
      model: { baseUrl: server.baseUrl, name: 'm' },
      options: { passthroughTools: 0, fillTokens: 0, answer: 'list', planning: 'write' },
      quotas: { modelTokens },
    }),
  );
  const post = async (path: string, body: object = ASKED, user = 'ann') => {
    const headers = { 'content-type': 'application/json', 'x-winnow-user': user };
    const response = await fetch(`${served.address}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: response.status, wait: response.headers.get('retry-after'), body: await response.json() };
  };
  return { ...served, post };
}

it('a user who has spent the tokens is refused before the model is asked, and others are not', async () => {
  const { post } = await serveWith({ tokens: 40, seconds: 3_600 });
  vi.spyOn(Date, 'now').mockReturnValue(Date.now());
  expect([(await post('/v1/plan')).status, (await post('/v1/select')).status]).toEqual([200, 200]);
  expect(server.requests).toHaveLength(3);
  const next = 'Models are asked for you again in 3600 s.';
  const refused = {
    status: 429,
    wait: '3600',
    body: { code: 'quota_exceeded', detail: `You have reached the limit of 40 (quotas.modelTokens). ${next}` },
  };
  expect([await post('/v1/plan'), await post('/v1/select')]).toMatchObject([refused, refused]);
  expect(await post('/v1/plans', { requests: [ASKED] })).toMatchObject({
    status: 200,
    body: { answers: [{ ok: false, problem: { code: 'quota_exceeded' } }] },
  });
  expect(server.requests).toHaveLength(3);
  expect((await post('/v1/plan', ASKED, 'bob')).status).toBe(200);
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
  expect((await post('/v1/plan')).status).toBe(200);
});

it.each([
  ['is not valid, also after the repair', answer('no plan'), 40],
  ['the model server refuses', fail(400, 'not today'), 15],
])('a plan that %s counts, with tools of the request too', async (_, plan, tokens) => {
  const { post } = await serveWith({ tokens }, plan);
  const tools = [{ name: 'read_level', toolType: 'builtin', description: 'Reads the level of the water.' }];
  expect((await post('/v1/plan', { ...ASKED, tools })).status).toBe(502);
  expect((await post('/v1/select')).status).toBe(429);
});

it('over MCP the answer says it, as a tool that failed', async () => {
  const { address, post } = await serveWith({ tokens: 1 });
  await post('/v1/select');
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { 'x-winnow-user': 'ann' } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${address}/mcp`), { requestInit }));
  const answered = await client.callTool({ name: 'plan', arguments: ASKED });
  expect(answered).toMatchObject({ isError: true, structuredContent: { code: 'quota_exceeded' } });
  expect(server.requests).toHaveLength(1);
  await client.close();
});
