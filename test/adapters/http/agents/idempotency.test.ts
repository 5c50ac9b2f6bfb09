/** `Idempotency-Key` over HTTP: what changes something is done once, whatever becomes of the connection. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFunctionExecutor } from '../../../../src/agents/sandbox/executors/functions.js';
import { WinnowError } from '../../../../src/core/errors.js';
import type { Planner } from '../../../../src/core/planner.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { ASKED, answeringPlanner, closeAtOnce, parseEvents, post, startServer, throwingPlanner } from '../setup.js';
import { type AgentServerOptions, OPERATOR_TOKEN, startAgentServer } from './setup.js';

interface Sending {
  key?: string;
  user?: string;
  roles?: string;
  accept?: string;
  signal?: AbortSignal;
}

function senderOf(url: string) {
  return async (path: string, body: unknown, { key, user = 'ann', roles, accept, signal }: Sending = {}) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${OPERATOR_TOKEN}`,
        'content-type': 'application/json',
        'x-winnow-user': user,
        ...(roles === undefined ? {} : { 'x-winnow-roles': roles }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(accept === undefined ? {} : { accept }),
      },
      body: JSON.stringify(body),
      ...(signal ? { signal } : {}),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    const isReplayed = response.headers.get('idempotency-replayed') === 'true';
    return { status: response.status, isReplayed, text, body: isJson ? JSON.parse(text) : undefined };
  };
}

/** With a session of Ann in which files can be read, listed and deleted. */
async function start(options: AgentServerOptions = {}) {
  const server = await startAgentServer(options);
  const send = senderOf(server.url);
  const session = (await send('/v1/sessions', {})).body.id;
  const at = `/v1/sessions/${session}`;
  await send(`${at}/enable`, { names: ['file_read', 'file_list', 'file_delete'] });
  return { ...server, send, at, session };
}

/** A tool that ends when the test says so. */
function createHeldTool() {
  let [begin, end] = [() => {}, () => {}];
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  let calls = 0;
  const file_list = async () => {
    calls += 1;
    begin();
    await ended;
    return 'listed';
  };
  const executors = [createFunctionExecutor({ file_list })];
  return { more: { executors, limits: { timeoutMs: 60_000 } }, begun, end: () => end(), count: () => calls };
}

const CALL = { tool: 'file_read', arguments: { path: 'a.txt' } };
const LIST = { tool: 'file_list', arguments: {} };

describe('Idempotency-Key', () => {
  it('has a call made once, and its answer given again with a header that says so', async () => {
    const { send, at, runs } = await start();
    const first = await send(`${at}/call`, CALL, { key: 'k' });
    const second = await send(`${at}/call`, CALL, { key: 'k' });
    expect([first.isReplayed, second.isReplayed, second.text === first.text]).toEqual([false, true, true]);
    expect(first.body).toMatchObject({ ok: true, output: { text: 'hello' } });
    await send(`${at}/call`, CALL);
    expect(runs).toEqual(['file_read a.txt', 'file_read a.txt']);
  });

  it.each<[string, string, object]>([
    ['a session', '/v1/sessions', { project: 'p' }],
    ['a tool of their own', '/v1/private-tools', { tool: { name: 'mine', toolType: 'skill', instructions: 'Do.' } }],
  ])('makes %s once, with the status of the first answer', async (_, path, body) => {
    const { send } = await start();
    const [first, second] = [await send(path, body, { key: 'k' }), await send(path, body, { key: 'k' })];
    expect([first.status, second.status, second.text === first.text]).toEqual([201, 201, true]);
    expect(second.isReplayed).toBe(true);
  });

  it('refuses another body, another path and another caller of the same user with 422', async () => {
    const { send, at } = await start();
    await send(`${at}/call`, CALL, { key: 'k' });
    const others = [
      await send(`${at}/call`, { ...CALL, arguments: { path: 'b.txt' } }, { key: 'k' }),
      await send(`${at}/turns`, CALL, { key: 'k' }),
      await send(`${at}/call`, CALL, { key: 'k', roles: 'intern' }),
    ];
    expect(others.map(({ status, body }) => [status, body.code])).toEqual(others.map(() => [422, 'key_reused']));
  });

  it('is of one user alone: with it nobody gets what another was answered', async () => {
    const { send, at, session } = await start();
    await send(`${at}/call`, CALL, { key: 'k' });
    const other = await send(`${at}/call`, CALL, { key: 'k', user: 'bob' });
    expect([other.status, other.isReplayed, other.body.code]).toEqual([404, false, 'not_found']);
    expect(other.text).not.toContain('hello');
    expect((await send('/v1/sessions', {}, { key: 'k', user: 'bob' })).body.id).not.toBe(session);
  });

  it('gives 409 while the first one runs; the work goes on when its client leaves', async () => {
    const { more, begun, end, count } = createHeldTool();
    const { send, at } = await start({ more });
    const leaving = new AbortController();
    const first = send(`${at}/call`, LIST, { key: 'k', signal: leaving.signal });
    await begun;
    expect(await send(`${at}/call`, LIST, { key: 'k' })).toMatchObject({ status: 409, body: { code: 'conflict' } });
    leaving.abort();
    await expect(first).rejects.toThrow();
    end();
    let again = await send(`${at}/call`, LIST, { key: 'k' });
    while (again.status === 409) again = await send(`${at}/call`, LIST, { key: 'k' });
    expect(again).toMatchObject({ isReplayed: true, body: { ok: true, output: 'listed' } });
    expect(count()).toBe(1);
  });

  it('loses no answer where the server stops after its client has left', async () => {
    const file = join(temporaryFolder(), 'agents.db');
    const { more, begun, end } = createHeldTool();
    const { send, at, app } = await start({ more, place: { file } });
    const leaving = new AbortController();
    const first = send(`${at}/call`, LIST, { key: 'k', signal: leaving.signal });
    await begun;
    leaving.abort();
    await expect(first).rejects.toThrow();
    const closed = app.close();
    // It stops, takes nothing new, and is still there for what runs.
    while ((await send('/v1/sessions', {})).status !== 503);
    end();
    await closeAtOnce(app);
    await closed;
    const next = await startAgentServer({ place: { file } });
    expect(await senderOf(next.url)(`${at}/call`, LIST, { key: 'k' })).toMatchObject({
      isReplayed: true,
      body: { ok: true, output: 'listed' },
    });
  });

  it('holds for a run of a plan, whole or streamed', async () => {
    const { send, session, runs } = await start();
    const plan = { steps: [{ id: 's1', ...CALL }] };
    const stream = { key: 'k', accept: 'text/event-stream' };
    const first = parseEvents((await send('/v1/plans/run', { session, plan }, stream)).text);
    const second = await send('/v1/plans/run', { session, plan }, stream);
    const third = await send('/v1/plans/run', { session, plan }, { key: 'k' });
    expect(first.at(-1)).toMatchObject({ event: 'result', data: { state: 'done' } });
    expect(parseEvents(second.text)).toEqual(first.slice(-1));
    expect([second.isReplayed, third.isReplayed]).toEqual([true, true]);
    expect(third.body).toEqual(first.at(-1)?.data);
    expect(runs).toEqual(['file_read a.txt']);
  });

  it.each(['/v1/plan', '/v1/select', '/v1/plans'])(
    'has %s asked once, and asked again where it failed',
    async (path) => {
      let asked = 0;
      const failing = throwingPlanner(new WinnowError('model_failed', 'The model is down.'));
      const answering = answeringPlanner();
      const take = () => (++asked === 1 && path !== '/v1/plans' ? failing : answering);
      const planner: Planner = {
        plan: (request, call) => take().plan(request, call),
        select: (request, call) => take().select(request, call),
        view: (request) => answering.view(request),
      };
      const { send } = await start({ planner });
      const body = path === '/v1/plans' ? { requests: [ASKED] } : ASKED;
      if (path !== '/v1/plans') expect((await send(path, body, { key: 'k' })).status).toBe(502);
      const first = await send(path, body, { key: 'k' });
      const second = await send(path, body, { key: 'k' });
      expect([first.status, first.isReplayed, second.isReplayed]).toEqual([200, false, true]);
      expect(second.body).toEqual(first.body);
      expect(asked).toBe(path === '/v1/plans' ? 1 : 2);
      expect((await send(path, { ...body, user: undefined, maxTools: 3 }, { key: 'k' })).status).toBe(422);
    },
  );

  it('is refused by a server that keeps no answers', async () => {
    const { url } = await startServer({ planner: answeringPlanner() });
    const response = await post(`${url}/v1/plan`, ASKED, { headers: { 'idempotency-key': 'k' } });
    expect(response.status).toBe(400);
    expect(Object(await response.json()).issues).toEqual([
      expect.stringContaining('idempotency-key: this server keeps no'),
    ]);
  });

  it.each([
    ['with a space', 'a b'],
    ['that is too long', 'k'.repeat(256)],
    ['that is empty', ''],
  ])('refuses a key %s by name', async (_, key) => {
    const { send, at, runs } = await start();
    const { status, body } = await send(`${at}/call`, CALL, { key });
    expect([status, body.issues]).toEqual([400, [expect.stringContaining('idempotency-key')]]);
    expect(runs).toEqual([]);
  });

  it('stands in the description of each POST, and of nothing else', async () => {
    const { ask } = await start();
    const { body } = await ask('GET /openapi.json');
    const withKey = Object.entries<Record<string, { parameters?: { name: string }[] }>>(body.paths).flatMap(
      ([path, item]) =>
        Object.entries(item)
          .filter(([, { parameters = [] }]) => parameters.some(({ name }) => name === 'idempotency-key'))
          .map(([method]) => `${method} ${path}`),
    );
    expect(withKey).toEqual(
      expect.arrayContaining(['post /v1/sessions/{id}/call', 'post /v1/plans/run', 'post /v1/plan']),
    );
    expect(withKey.filter((line) => !line.startsWith('post '))).toEqual([]);
  });
});
