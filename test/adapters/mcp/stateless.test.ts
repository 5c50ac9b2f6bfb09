/** Requests of 2026-07-28 over HTTP, by a real client: what stands alone, what a handle reaches, and what is refused. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { createHandles } from '../../../src/adapters/mcp/handles.js';
import type { SessionView } from '../../../src/agents/contracts.js';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import { WinnowError } from '../../../src/core/errors.js';
import { createTool } from '../../support/create-tool.js';
import { answeringPlanner } from '../http/setup.js';
import { asUser, createWorld, MODERN, openModern, serveHttp, TOOLS, type WorldOptions } from './setup.js';

const serve = async (world: WorldOptions = {}, options?: Parameters<typeof serveHttp>[1]) =>
  serveHttp(await createWorld(world), options);

const join = (url: string, ...who: Parameters<typeof asUser>) =>
  openModern(new StreamableHTTPClientTransport(new URL(url), asUser(...who)));

const OWN = ['tool_search', 'tool_enable', 'tool_disable', 'tool_call'];
const FILE = { tool: 'file_read', arguments: { path: 'a' } };
const openSessions = async ({ agents }: Awaited<ReturnType<typeof createWorld>>) =>
  (await agents.router.sessions()).filter(({ endedAt }) => endedAt === undefined);

const read = async (response: Response): Promise<ReturnType<typeof JSON.parse>> => response.json();

/** A message as it goes over the wire, with the headers that it needs; each can be set to something else. */
function post(url: string, method: string, { params = {}, headers = {}, version = MODERN, capabilities = {} } = {}) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
  const { name } = Object(params);
  return fetch(url, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'mcp-method': method,
      ...(name === undefined ? {} : { 'mcp-name': name }),
      ...headers,
    },
  });
}

describe('a client of 2026-07-28', () => {
  it('is told what the server is, and how handles work', async () => {
    const { url } = await serve();
    const { client } = await join(url);
    expect(client.getProtocolEra()).toBe('modern');
    expect(client.getServerVersion()).toMatchObject({ name: 'winnow', title: 'Winnow' });
    expect(client.getServerCapabilities()).toEqual({ logging: {}, tools: { listChanged: true } });
    expect(client.getInstructions()).toMatch(/tool_search .* gives a session: name it in every later call/u);
    const { result } = await read(await post(url, 'server/discover'));
    expect(result).toMatchObject({ supportedVersions: [MODERN], cacheScope: 'public', ttlMs: 3_600_000 });
  });

  it('gets lists that only it may keep, since they depend on the user', async () => {
    const mine = (user: string) =>
      createTool(`of_${user}`, {}, undefined, { risk: 'low', alwaysLoad: true, scope: { user } });
    const catalog = createCatalog([...TOOLS, mine('ann'), mine('bob')]);
    const { url } = await serve({ more: { catalog: () => catalog } });
    for (const [user, other] of [
      ['ann', 'bob'],
      ['bob', 'ann'],
    ] as const) {
      const { result } = await read(await post(url, 'tools/list', { headers: { 'x-winnow-user': user } }));
      expect(result).toMatchObject({ cacheScope: 'private', ttlMs: 60_000, resultType: 'complete' });
      const names = result.tools.map(({ name }: { name: string }) => name);
      expect(names).toEqual([...OWN, 'ask_user', `of_${user}`]);
      expect(JSON.stringify(result)).not.toContain(`of_${other}`);
    }
  });

  it('calls what is always on by its name, in a session for this request alone', async () => {
    const odd = createTool('总是', { type: ['object', 'null'] }, undefined, { risk: 'low', alwaysLoad: true });
    const headed = createTool(
      'headed',
      { properties: { a: { type: 'string', 'x-mcp-header': 'Authorization' } } },
      undefined,
      { risk: 'low', alwaysLoad: true },
    );
    const catalog = createCatalog([...TOOLS, odd, headed]);
    const world = await serve({ more: { catalog: () => catalog } });
    const { list, call, ask } = await join(world.url, 'ann');
    expect(await call('ask_user')).toMatchObject({ content: [{ text: 'yes' }] });
    const shown = (await list()).find(({ title }) => title === '总是')?.name ?? '';
    expect(shown).toMatch(/^tool_[0-9a-f]{8}$/u);
    // Nothing here runs it, but it was found under the name that was shown.
    expect(await ask(shown)).toMatchObject({ code: 'not_runnable' });
    expect(JSON.stringify((await list()).find(({ name }) => name === 'headed'))).not.toContain('x-mcp-header');
    expect(await ask('file_read', { path: 'a' })).toMatchObject({ code: 'not_enabled' });
    expect(await openSessions(world)).toEqual([]);
  });

  it('has a beginning and an end in the audit only where something came of its request', async () => {
    const world = await serve({ planner: answeringPlanner() });
    const { ask } = await join(world.url, 'ann');
    const audit = async () => (await world.agents.router.audit()).map(({ event }) => event).reverse();
    await ask('tool_search', { query: 'zzzz' });
    await ask('tool_search', { query: '' });
    await ask('select', { message: 'Read a' });
    expect(await audit()).toEqual(['search', 'list']);
    await ask('ask_user');
    expect((await audit()).slice(2)).toEqual(['session_created', 'call', 'session_ended']);
    await ask('tool_search', { query: 'read a file' });
    expect((await audit()).slice(5)).toEqual(['session_created', 'search']);
    const [begun] = await world.agents.router.audit({ event: 'session_created' });
    expect(begun).toMatchObject({ user: 'ann', session: expect.any(String), policyVersion: expect.any(String) });
  });

  it('leaves no session behind where it has no reason to come again', async () => {
    const world = await serve();
    const { ask } = await join(world.url, 'ann');
    expect(await ask('tool_search', { query: 'zzzz' })).not.toHaveProperty('session');
    expect(await ask('tool_enable', { names: ['nothing'] })).not.toHaveProperty('session');
    expect(await ask('tool_call', { tool: 'secret_door' })).toMatchObject({ code: 'unknown_tool' });
    expect(await openSessions(world)).toEqual([]);
    // Work that throws.
    expect(await ask('tool_search', { query: '' })).toMatchObject({ code: 'invalid_request' });
    expect(await openSessions(world)).toEqual([]);
  });
});

describe('a handle', () => {
  it('of another user looks like one that does not exist', async () => {
    const { url, agents } = await serve();
    const { session } = await (await join(url, 'ann')).ask('tool_enable', { names: ['file_read'] });
    for (const user of ['bob', undefined]) {
      const { call } = await join(url, user);
      const answer = async (handle: string) =>
        JSON.stringify(await call('tool_call', { ...FILE, session: handle })).replaceAll(handle, '');
      const real = await answer(session);
      expect(real).toBe(await answer('7d10a8ca-5b74-47f8-9f90-79ee5f19f720'));
      expect(real).toContain('unknown_session');
    }
    expect(await agents.router.sessions({ user: 'bob' })).toEqual([]);
  });

  it('counts with the roles of the request', async () => {
    const policy = { rules: [{ name: 'no', match: { tool: 'file_*', role: 'guest' }, decision: 'deny' as const }] };
    const { url } = await serve({ policy });
    const { session } = await (await join(url, 'ann')).ask('tool_enable', { names: ['file_read'] });
    const guest = await join(url, 'ann', 'guest');
    expect(await guest.ask('tool_call', { ...FILE, session })).toMatchObject({ code: 'unknown_tool' });
  });

  it.each([[7], [''], ['x'.repeat(200)]])('that can be none is refused with its name: %s', async (session) => {
    const { url } = await serve();
    const { ask } = await join(url);
    expect(await ask('tool_call', { ...FILE, session })).toMatchObject({
      code: 'invalid_request',
      issues: [expect.stringContaining('session')],
    });
  });

  it('comes with a call that waits for somebody else, and is where it runs once', async () => {
    const world = await serve({
      policy: { rules: [{ name: 'ask', match: { tool: 'ask_user' }, decision: 'needs_approval' }] },
    });
    const { call, ask } = await join(world.url, 'ann');
    const refused = await call('ask_user');
    expect(refused).toMatchObject({ isError: true, structuredContent: { code: 'needs_approval' } });
    const { session, approval } = Object(refused.structuredContent);
    expect(JSON.stringify(refused.content)).toContain(`Session: ${session}`);
    await world.agents.router.approvals.grant(approval, { by: { user: 'bob', roles: ['operator'] } });
    // Under its own name the session stands beside the arguments.
    const asked = () => call('ask_user', {}, { 'winnow/session': session });
    expect(await asked()).toMatchObject({ content: [{ text: 'yes' }] });
    expect(await ask('tool_call', { tool: 'ask_user', session })).toMatchObject({ code: 'needs_approval' });
    expect(world.runs).toEqual(['ask_user']);
  });
});

describe('the handles of an owner', () => {
  const PAUSE = 60_000;
  function start() {
    let now = Date.UTC(2026, 0, 1);
    const [ended, turns, errors]: [string[], string[], unknown[]] = [[], [], []];
    const sessions = new Map<string, SessionView>();
    const at = () => new Date(now).toISOString();
    const router = {
      async createSession(owner = {}): Promise<SessionView> {
        const id = `s${sessions.size + 1}`;
        const view = { id, roles: [], turn: 1, createdAt: at(), activeAt: at(), enabled: [], ...owner };
        sessions.set(id, view);
        return view;
      },
      async session(id: string) {
        const view = sessions.get(id);
        if (!view) throw new WinnowError('not_found', `There is no session "${id}". Open one first.`);
        return view;
      },
      async beginTurn(id: string) {
        turns.push(id);
        return router.session(id);
      },
      async endSession(id: string) {
        ended.push(id);
        return router.session(id);
      },
    };
    const onError = (error: unknown) => errors.push(error);
    const handles = createHandles({ router, turnPauseMs: PAUSE, onError, clock: () => now });
    const ask = (
      handle?: string,
      { owner = { user: 'ann' } as object, isKept = true, turn = undefined as string | undefined } = {},
    ) =>
      handles.within(
        { owner, caller: undefined },
        { handle, turn },
        async (value) => ({ value, isKept }),
        (reason) => reason,
      );
    return { ask, ended, turns, errors, router, handles, pass: (ms: number) => (now += ms) };
  }

  it('end a turn by a pause that nothing interrupts, once however long it is', async () => {
    const { ask, turns, pass } = start();
    const id = await ask();
    pass(PAUSE - 1);
    await ask(id);
    pass(PAUSE - 1);
    await ask(id);
    expect(turns).toEqual([]);
    pass(10 * PAUSE);
    await Promise.all([ask(id), ask(id)]);
    expect(turns).toEqual([id]);
    await ask(id, { turn: 'first' });
    pass(10 * PAUSE);
    await ask(id, { turn: 'first' });
    expect(turns).toEqual([id]);
  });

  it('reach no session with another ceiling or project', async () => {
    const { ask } = start();
    const id = await ask(undefined, { owner: { user: 'ann', riskCeiling: 'low' } });
    for (const owner of [{ user: 'ann' }, { user: 'ann', riskCeiling: 'high' }, { user: 'ann', project: 'a' }, {}])
      expect(await ask(id, { owner })).toBe(`There is no session "${id}".`);
    expect(await ask(id, { owner: { user: 'ann', riskCeiling: 'low' } })).toBe(id);
  });

  it('that were given and never named make room, oldest first; those that were named stay', async () => {
    const { ask, ended } = start();
    const named = await ask();
    await ask(named);
    const given = [];
    for (let count = 0; count < 66; count++) given.push(await ask());
    const others = await ask(undefined, { owner: { user: 'bob' } });
    expect(ended).toEqual(given.slice(0, 2));
    expect(ended).not.toContain(others);
  });

  it('end with a request that fails, and say what fails while nobody waits', async () => {
    const { handles, ended, errors, router, ask, pass } = start();
    const asker = { owner: { user: 'ann' }, caller: undefined };
    const named = { handle: undefined, turn: undefined };
    await expect(handles.within<string>(asker, named, () => Promise.reject(new Error('no')), String)).rejects.toThrow(
      'no',
    );
    expect(ended).toEqual(['s1']);
    router.beginTurn = () => Promise.reject(new Error('no store'));
    const id = await ask();
    pass(PAUSE);
    expect(await ask(id)).toBe(id);
    expect(errors).toEqual([new Error('no store')]);
  });
});

describe('a message that is not of the protocol', () => {
  it.each<[string, Parameters<typeof post>[2], number, number]>([
    ['another method in its header', { headers: { 'mcp-method': 'tools/call' } }, 400, -32_020],
    ['another version in its header', { headers: { 'mcp-protocol-version': '2025-06-18' } }, 400, -32_020],
    ['a version that nobody knows', { version: '2099-01-01' }, 400, -32_022],
  ])('with %s is refused', async (_, given, status, code) => {
    const { url } = await serve();
    const response = await post(url, 'tools/list', given);
    expect([response.status, (await read(response)).error.code]).toEqual([status, code]);
  });

  it('that calls another tool than its header says is refused, and nothing runs', async () => {
    const { url, runs } = await serve();
    const response = await post(url, 'tools/call', {
      params: { name: 'ask_user', arguments: {} },
      headers: { 'mcp-name': 'tool_search' },
    });
    expect([response.status, (await read(response)).error.code, runs]).toEqual([400, -32_020, []]);
  });

  it('with a state that the server did not make is refused', async () => {
    const { url } = await serve();
    const response = await post(url, 'tools/call', { params: { name: 'ask_user', requestState: 'bm9uZQ' } });
    expect((await read(response)).error).toMatchObject({ code: -32_602, data: { reason: 'invalid_request_state' } });
  });

  it('from a page of another place is refused', async () => {
    const { url } = await serve();
    expect((await post(url, 'tools/list', { headers: { origin: 'https://evil.example' } })).status).toBe(403);
  });
});

describe('a client that listens', () => {
  async function listen(url: string, user: string) {
    let heard = 0;
    let onHeard: () => void = () => {};
    const { client, list } = await join(url, user);
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      heard += 1;
      onHeard();
    });
    const subscription = await client.listen({ toolsListChanged: true });
    const heardOnce = () =>
      new Promise<void>((resolve) => {
        onHeard = resolve;
        if (heard > 0) resolve();
      });
    return { client, list, subscription, heard: () => heard, heardOnce };
  }

  it('hears of what changes for its user, and of nothing else', async () => {
    let catalog = createCatalog(TOOLS);
    // Who listens takes no place of those who ask.
    const world = await serve({ more: { catalog: () => catalog } }, { server: { concurrency: 1 } });
    const ann = await listen(world.url, 'ann');
    const bob = await listen(world.url, 'bob');
    const always = (name: string, more = {}) =>
      createTool(name, {}, undefined, { risk: 'low', alwaysLoad: true, ...more });
    const ofBob = always('of_bob', { scope: { user: 'bob' } });
    catalog = createCatalog([...TOOLS, ofBob]);
    await world.agents.rebuild();
    await bob.heardOnce();
    expect((await bob.list()).map(({ name }) => name)).toEqual([...OWN, 'ask_user', 'of_bob']);
    expect((await ann.list()).map(({ name }) => name)).toEqual([...OWN, 'ask_user']);
    expect([ann.heard(), bob.heard()]).toEqual([0, 1]);
    catalog = createCatalog([...TOOLS, ofBob, always('of_all')]);
    await world.agents.rebuild();
    await ann.heardOnce();
    expect(ann.heard()).toBe(1);
  });

  it('is one of so many', async () => {
    const { url } = await serve({}, { http: { maxUserConnections: 1, maxConnections: 2 } });
    await listen(url, 'ann');
    await expect(listen(url, 'ann')).rejects.toThrow(/limit reached/u);
    await listen(url, 'bob');
    await expect(listen(url, 'cid')).rejects.toThrow(/limit reached/u);
  });

  it('is cut when the server stops; what runs gets its answer, and nobody new is taken', async () => {
    const world = await serve();
    const { subscription } = await listen(world.url, 'ann');
    const { ask } = await join(world.url, 'bob');
    const { session } = await ask('tool_enable', { names: ['wait'] });
    const running = ask('tool_call', { tool: 'wait', session });
    await world.waiting.began;
    const closed = world.mcp.close(new AbortController().signal);
    await subscription.closed;
    expect((await post(world.url, 'tools/list')).status).toBe(503);
    world.waiting.release();
    await running;
    await closed;
  });
});
