/** From the decision to the tool: what waited is decided again, and one grant is one call. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { PolicyInput } from '../../src/agents/policy/policy.js';
import { createFunctionExecutor } from '../../src/agents/sandbox/executors/functions.js';
import { createHttpExecutor } from '../../src/agents/sandbox/executors/http/http.js';
import { createSandbox } from '../../src/agents/sandbox/sandbox.js';
import { createCatalog } from '../../src/core/catalog/catalog.js';
import type { Tool } from '../../src/core/catalog/tool.js';
import { createTool } from '../support/create-tool.js';
import { setUp, TOOLS } from './setup.js';

const BOB = { user: 'bob', roles: ['operator'] };

/** In a sandbox with one place: one call of `ask_user` holds the place until it is let go; `deploy` or `file_read` waits behind it. */
async function startWaiting(tool: 'deploy' | 'file_read', enabling: { ephemeral?: boolean } = {}) {
  let letGo: () => void = () => {};
  const ran: string[] = [];
  const sandbox = createSandbox({
    limits: { concurrency: 1 },
    executors: [
      createFunctionExecutor({
        ask_user: () =>
          new Promise<void>((resolve) => {
            letGo = resolve;
          }),
        deploy: () => void ran.push('deploy'),
        file_read: () => void ran.push('file_read'),
      }),
    ],
  });
  let catalog = createCatalog(TOOLS);
  const { store, ...setup } = await setUp({ catalog: () => catalog, prepare: sandbox.prepare, execute: sandbox.run });
  const setTools = (tools: readonly Tool[]) => {
    catalog = createCatalog(tools);
  };
  const { router } = setup;
  const { id } = await router.createSession({ user: 'ann' });
  const other = await router.createSession({ user: 'carl' });
  await router.enable(id, { names: [tool], ...enabling });
  const call = { tool, arguments: tool === 'file_read' ? { path: 'a' } : {} };
  if (tool === 'deploy') {
    const asked = await router.call(id, call);
    await router.approvals.grant(asked.ok ? '' : (asked.approval ?? ''), { by: BOB });
  }
  const holding = router.call(other.id, { tool: 'ask_user' });
  while ((await store.journal.audit({ tool: 'ask_user', limit: 1 })).length === 0) await nextTurn();
  const waiting = router.call(id, call);
  while ((await store.journal.audit({ tool, event: 'call', outcome: 'allowed', limit: 1 })).length === 0)
    await nextTurn();
  const end = async () => {
    letGo();
    await holding;
    const result = await waiting;
    return [result.ok ? 'ran' : result.code, ...ran];
  };
  return { ...setup, store, id, setTools, end };
}

const DENY: PolicyInput = { rules: [{ name: 'stop', match: { tool: 'file_read' }, decision: 'deny' }] };
const ASK: PolicyInput = { rules: [{ name: 'ask', match: { tool: 'file_read' }, decision: 'needs_approval' }] };

it.each<[string, string, (given: Awaited<ReturnType<typeof startWaiting>>) => unknown]>([
  ['runs where nothing has changed', 'ran', () => undefined],
  ['runs where the policy has changed, and allows it', 'ran', ({ setPolicy }) => setPolicy({ riskCeiling: 'medium' })],
  ['does not run when the policy denies it by then', 'unknown_tool', ({ setPolicy }) => setPolicy(DENY)],
  ['does not run when it needs an approval by then', 'not_allowed', ({ setPolicy }) => setPolicy(ASK)],
  ['does not run when its session has ended', 'session_ended', ({ router, id }) => router.endSession(id)],
  ['does not run when its session is gone', 'session_ended', ({ store }) => store.sessions.removeIdle('9999')],
  ['does not run when it is disabled', 'not_enabled', ({ router, id }) => router.disable(id, { names: ['file_read'] })],
])('a call that waited %s', async (_, outcome, change) => {
  const given = await startWaiting('file_read');
  await change(given);
  expect(await given.end()).toEqual(outcome === 'ran' ? ['ran', 'file_read'] : [outcome]);
  const [last] = await given.router.audit({ tool: 'file_read', event: 'call' });
  expect(last?.outcome).toBe(outcome === 'ran' ? 'allowed' : 'failed');
});

it('a call that waited runs by its one use, which is counted once', async () => {
  const { end, router, id } = await startWaiting('file_read', { ephemeral: true });
  expect(await end()).toEqual(['ran', 'file_read']);
  expect(await router.call(id, { tool: 'file_read', arguments: { path: 'a' } })).toMatchObject({ code: 'not_enabled' });
});

it('an approved call that waited runs by the approval that it has used, under the same policy only', async () => {
  const same = await startWaiting('deploy');
  expect(await same.end()).toEqual(['ran', 'deploy']);
  const changed = await startWaiting('deploy');
  changed.setPolicy({ pinned: ['deploy'] });
  expect(await changed.end()).toEqual(['not_allowed']);
});

it('a call that waited does not run when its tool is another one by then', async () => {
  const given = await startWaiting('file_read');
  given.setTools(TOOLS.map((tool) => (tool.name === 'file_read' ? createTool('file_read', {}) : tool)));
  expect(await given.end()).toEqual(['not_allowed']);
});

describe('an approved call of an HTTP API', () => {
  const opened: Server[] = [];
  afterEach(() => {
    for (const server of opened.splice(0)) server.close().closeAllConnections();
  });

  async function startPaying(status: number) {
    let requests = 0;
    const server = createServer((_, response) => {
      requests += 1;
      response.writeHead(status).end();
    });
    opened.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = Object(server.address());
    const http = { method: 'POST', path: '/pay', server: `http://127.0.0.1:${port}`, parameters: {} };
    const sandbox = createSandbox({ executors: [createHttpExecutor({ privateAddresses: ['127.0.0.1'] })] });
    const pay = createTool('pay', {}, undefined, { risk: 'low', metadata: { http } });
    const policy: PolicyInput = { rules: [{ name: 'ask', match: { tool: 'pay' }, decision: 'needs_approval' }] };
    const { router } = await setUp({ tools: [pay], policy, prepare: sandbox.prepare, execute: sandbox.run });
    const { id } = await router.createSession({ user: 'ann' });
    await router.enable(id, { names: ['pay'] });
    const call = () => router.call(id, { tool: 'pay' });
    const asked = Object(await call());
    await router.approvals.grant(asked.approval, { by: BOB });
    const state = async () => (await router.approvals.get(asked.approval))?.state;
    return { server, call, state, requests: () => requests };
  }

  it.each([429, 502, 503])('uses its grant up, though the server says that it did nothing: %s', async (status) => {
    const { call, state, requests } = await startPaying(status);
    expect(await call()).toMatchObject({ ok: false, code: 'connection_lost' });
    expect(await state()).toBe('used');
    expect(await call()).toMatchObject({ ok: false, code: 'needs_approval' });
    expect(requests()).toBe(1);
  });

  it('gets its grant back where nothing was sent', async () => {
    const { server, call, state } = await startPaying(200);
    server.close();
    await once(server, 'close');
    expect(await call()).toMatchObject({ ok: false, code: 'tool_unavailable' });
    expect(await state()).toBe('granted');
  });
});

it('a call runs as it was decided: with its own risk, and with the approval that it used', async () => {
  const policy: PolicyInput = { argumentRisks: [{ match: { tool: 'file_read' }, risk: 'medium' }] };
  const { router, runs } = await setUp({ policy });
  const { id } = await router.createSession({ user: 'ann' });
  await router.enable(id, { names: ['file_read', 'deploy'] });
  await router.call(id, { tool: 'file_read', arguments: { path: 'a' } });
  const asked = Object(await router.call(id, { tool: 'deploy' }));
  await router.approvals.grant(asked.approval, { by: BOB });
  await router.call(id, { tool: 'deploy' });
  expect(runs.map(({ decided }) => decided)).toMatchObject([
    { risk: 'medium', isApproved: false },
    { risk: 'high', isApproved: true },
  ]);
});
