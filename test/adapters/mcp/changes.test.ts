/** What a client is told while it asks nothing: tools that come and go, and turns that end. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createConnectionSession } from '../../../src/adapters/mcp/connection-session.js';
import { resolveMcpOptions } from '../../../src/adapters/mcp/mcp-options.js';
import { createPolicy, type PolicyInput } from '../../../src/agents/policy/policy.js';
import type { PolicySource } from '../../../src/agents/policy/policy-file.js';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import type { JsonSchema, Tool } from '../../../src/core/catalog/tool.js';
import { createTool } from '../../support/create-tool.js';
import { connect, createWorld, openClient, serveHttp, TOOLS } from './setup.js';

/** A world whose policy and catalogue can be set, as a file and its reload do. */
async function createChanging() {
  let policy = createPolicy({});
  let wanted: PolicyInput = {};
  const source: PolicySource = {
    current: () => policy,
    async reload() {
      policy = createPolicy(wanted);
      return { ok: true, isChanged: true, version: policy.version };
    },
  };
  let catalog = createCatalog(TOOLS);
  const adaptation = { enabled: true, alwaysOnSessions: 2 };
  const world = await createWorld({ more: { policy: source, catalog: () => catalog, adaptation } });
  return {
    ...world,
    setPolicy(next: PolicyInput) {
      wanted = next;
      return world.agents.router.reloadPolicy();
    },
    setTools(next: readonly Tool[]) {
      catalog = createCatalog(next);
      return world.agents.rebuild();
    },
  };
}

const deny = (tool: string): PolicyInput => ({ rules: [{ name: 'no', match: { tool }, decision: 'deny' }] });
const other = (name: string, more: JsonSchema) =>
  TOOLS.map((tool) => (tool.name === name ? createTool(name, more, undefined, { risk: 'low' }) : tool));

/** All that was begun before it has been answered. */
const settled = (client: { ping(): Promise<unknown> }) => client.ping();

describe('a client that asks nothing', () => {
  it('hears that the policy takes a tool away that it has, and that it gives it back', async () => {
    const world = await createChanging();
    const { ask, names, changed } = await connect(world);
    await ask('tool_enable', { names: ['file_read'] });
    await changed(1);
    await world.setPolicy(deny('file_read'));
    await changed(2);
    expect(await names()).not.toContain('file_read');
    await world.setPolicy({});
    await changed(3);
    expect(await names()).toContain('file_read');
  });

  it.each([
    ['has another schema', () => other('file_read', { properties: { path: { type: 'integer' } } })],
    ['is gone', () => TOOLS.filter(({ name }) => name !== 'file_read')],
    [
      'may do other things',
      () => TOOLS.map((tool) => (tool.name === 'file_read' ? { ...tool, risk: 'high' as const } : tool)),
    ],
  ])('hears that a tool that it has %s after a reload of the catalogue', async (_, next) => {
    const world = await createChanging();
    const { ask, changed } = await connect(world);
    await ask('tool_enable', { names: ['file_read'] });
    await world.setTools(next());
    await changed(2);
  });

  it('hears nothing of what it does not have, nor of the tools of others', async () => {
    const world = await createChanging();
    const { ask, client, changes } = await connect(world);
    await ask('tool_enable', { names: ['file_read'] });
    await world.setPolicy(deny('secret_door'));
    await world.setTools(other('file_list', { properties: { deep: { type: 'boolean' } } }));
    await world.agents.privateTools.add('bob', { name: 'file_read', toolType: 'skill', description: 'Of Bob.' });
    await settled(client);
    expect(changes()).toBe(1);
  });

  it('hears of a tool that was approved as always on for its user', async () => {
    const world = await createChanging();
    for (let time = 0; time < 2; time++) {
      const { ask, client } = await connect(world);
      await ask('tool_enable', { names: ['file_list'] });
      await ask('file_list');
      await client.close();
    }
    const { adaptation } = world.agents;
    await adaptation.learn();
    const [proposal] = await adaptation.list({ kind: 'always_on' });
    if (!proposal) throw new Error('nothing was proposed');
    const [ann, bob] = [await connect(world), await connect(world, { user: 'bob' })];
    for (const { names } of [ann, bob]) expect(await names()).not.toContain('file_list');
    await adaptation.approve(proposal, 'olga');
    await ann.changed(1);
    expect(await ann.names()).toContain('file_list');
    await settled(bob.client);
    expect(bob.changes()).toBe(0);
  });

  it('is not looked for when it has left, or has not asked for anything yet', async () => {
    const world = await createChanging();
    const { router } = world.parts;
    let listening = 0;
    world.parts.router = {
      ...router,
      onToolsChange(listener) {
        const forget = router.onToolsChange(listener);
        listening += 1;
        return () => {
          listening -= 1;
          forget();
        };
      },
    };
    const left = await connect(world);
    await left.ask('tool_enable', { names: ['file_read'] });
    expect(listening).toBe(1);
    await left.client.close();
    await connect(world);
    expect(listening).toBe(0);
    await world.setPolicy(deny('file_read'));
    expect(await world.agents.router.sessions()).toHaveLength(1);
    expect(world.log.text()).toBe('');
  });
});

describe('a client over HTTP', () => {
  const serve = async () => serveHttp(await createChanging());

  it('hears at once where it listens', async () => {
    const world = await serve();
    const { ask, changed } = await openClient(world.old());
    await ask('tool_enable', { names: ['file_read'] });
    await changed(1);
    await world.setPolicy(deny('file_read'));
    await changed(2);
  });

  it('hears with its next call where it does not, and only then', async () => {
    const world = await serve();
    let session = {};
    const send = async (method: string, params: object) => {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...session,
      };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const response = await fetch(world.url, { method: 'POST', headers, body });
      session = { 'mcp-session-id': response.headers.get('mcp-session-id') };
      return (await response.text()).includes('list_changed');
    };
    const call = (name: string, given: object) => send('tools/call', { name, arguments: given });
    const client = { name: 'raw', version: '1' };
    await send('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: client });
    expect(await call('tool_enable', { names: ['file_read'] })).toBe(true);
    await world.setPolicy(deny('file_read'));
    // Nobody waits for the look that the change has begun.
    await world.agents.router.sessions();
    expect(await call('tool_search', { query: 'files' })).toBe(true);
    expect(await call('tool_search', { query: 'files' })).toBe(false);
  });
});

/** MCP has no turns: a pause ends one, or the client names its own. */
describe('a pause', () => {
  it('ends a turn, and the client hears of the tools that went with it before it calls again', async () => {
    const world = await createWorld({ options: { turnPauseMs: 5 } });
    const { ask, names, changed } = await connect(world);
    await ask('tool_enable', { names: ['file_read'], ttl_turns: 1 });
    await changed(2);
    expect(await names()).not.toContain('file_read');
    expect(await world.agents.router.sessions()).toMatchObject([{ turn: 2 }]);
    expect(await ask('file_read', { path: 'a' })).toMatchObject({ code: 'not_enabled' });
  });

  it.each([-1, 0.5, Number.NaN])('of %s milliseconds is refused, with the name of the option', (turnPauseMs) => {
    expect(() => resolveMcpOptions({ turnPauseMs })).toThrow('turnPauseMs');
  });
});

describe('the clock of the pauses', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const MINUTE = 60_000;
  const isCall = { isCall: true };

  function start(turnPauseMs = MINUTE) {
    const view = { id: 's', roles: [], turn: 1, createdAt: '', activeAt: '', enabled: [] };
    const turns: string[] = [];
    const router = {
      createSession: async () => view,
      session: async () => view,
      fingerprint: async () => '',
      onToolsChange: () => () => {},
      endSession: async () => view,
      async beginTurn(id: string) {
        turns.push(id);
        return view;
      },
    };
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    const session = createConnectionSession({ router, owner: {}, turnPauseMs, onChange: () => {}, onError });
    return { session, turns, errors, router };
  }

  it('begins with the end of a call, and a call within it lets it begin anew', async () => {
    const { session, turns } = start();
    await session.run(async () => {}, isCall);
    await vi.advanceTimersByTimeAsync(MINUTE - 1);
    await session.run(async () => {}, isCall);
    await vi.advanceTimersByTimeAsync(MINUTE - 1);
    expect(turns).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(turns).toEqual(['s']);
  });

  it('counts a long silence as one pause', async () => {
    const { session, turns } = start();
    await session.run(async () => {}, isCall);
    await vi.advanceTimersByTimeAsync(100 * MINUTE);
    expect(turns).toHaveLength(1);
  });

  it('stands still while a call runs, and for what is no call', async () => {
    const { session, turns } = start();
    let end: () => void = () => {};
    const long = session.run(() => new Promise<void>((resolve) => (end = resolve)), isCall);
    await session.run(async () => {}, isCall);
    await vi.advanceTimersByTimeAsync(10 * MINUTE);
    end();
    await long;
    await vi.advanceTimersByTimeAsync(MINUTE / 2);
    await session.run(async () => {});
    expect(turns).toEqual([]);
    await vi.advanceTimersByTimeAsync(MINUTE / 2);
    expect(turns).toHaveLength(1);
  });

  it('does not go for a client that names its turns', async () => {
    const { session, turns } = start();
    await session.run(async () => {}, { ...isCall, turn: 'first' });
    await vi.advanceTimersByTimeAsync(10 * MINUTE);
    expect(turns).toEqual([]);
  });

  it('never goes where it is switched off, nor after the end', async () => {
    const off = start(0);
    await off.session.run(async () => {}, isCall);
    const { session, turns } = start();
    await session.run(async () => {}, isCall);
    await session.end();
    await vi.advanceTimersByTimeAsync(10 * MINUTE);
    expect([turns, off.turns]).toEqual([[], []]);
  });

  it('does not hold a session open for work that can not be stopped', async () => {
    const { session, router } = start();
    const ended: string[] = [];
    router.endSession = async (id?: string) => {
      ended.push(String(id));
      return router.session();
    };
    void session.run(() => new Promise(() => {}), isCall);
    await vi.advanceTimersByTimeAsync(0);
    const end = session.end();
    await vi.advanceTimersByTimeAsync(MINUTE);
    await end;
    expect(ended).toEqual(['s']);
    await expect(session.hasChanged()).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('says what failed, and goes on', async () => {
    const { session, errors, router } = start();
    router.beginTurn = () => Promise.reject(new Error('no store'));
    await session.run(async () => {}, isCall);
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(errors).toEqual([new Error('no store')]);
    expect(await session.run(async () => 'fine', isCall)).toBe('fine');
  });
});
