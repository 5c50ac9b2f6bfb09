/** MCP has no turns: a pause ends one, or the client names its own. */
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createConnectionSession } from '../../src/mcp/connection-session.js';
import { resolveMcpOptions } from '../../src/mcp/mcp-options.js';
import { connect, createWorld } from './setup.js';

const inTurn = (turn: string | number) => ({ 'winnow/turn': turn });

async function turnOf({ agents }: Awaited<ReturnType<typeof createWorld>>): Promise<number | undefined> {
  const [session] = await agents.router.sessions();
  return session?.turn;
}

describe('a pause', () => {
  it('ends a turn, and the client hears of the tools that went with it before it calls again', async () => {
    const world = await createWorld({ options: { turnPauseMs: 5 } });
    const { ask, names, changed } = await connect(world);
    await ask('tool_enable', { names: ['file_read'], ttl_turns: 1 });
    await changed(2);
    expect(await names()).not.toContain('file_read');
    expect(await turnOf(world)).toBe(2);
    expect(await ask('file_read', { path: 'a' })).toMatchObject({ code: 'not_enabled' });
  });

  it.each([-1, 0.5, Number.NaN])('of %s milliseconds is refused, with the name of the option', (turnPauseMs) => {
    expect(() => resolveMcpOptions({ turnPauseMs })).toThrow('turnPauseMs');
  });
});

describe('a client that names its turns', () => {
  it('begins one with each new name, however many calls it makes at once', async () => {
    const world = await createWorld();
    const { ask, call } = await connect(world);
    await ask('tool_enable', { names: ['file_read'], ttl_turns: 2 }, inTurn('first'));
    await call('ask_user', {}, inTurn('first'));
    expect(await turnOf(world)).toBe(1);
    const asked = ['second', 'second', 'second'].map((turn) => ask('file_read', { path: 'a' }, inTurn(turn)));
    expect(await Promise.all(asked)).toEqual([{ text: 'hello' }, { text: 'hello' }, { text: 'hello' }]);
    expect(await turnOf(world)).toBe(2);
    expect(await ask('file_read', { path: 'a' }, inTurn(3))).toMatchObject({ code: 'not_enabled' });
    expect(await turnOf(world)).toBe(3);
  });
});

describe('the clock of the pauses', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
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
    await jest.advanceTimersByTimeAsync(MINUTE - 1);
    await session.run(async () => {}, isCall);
    await jest.advanceTimersByTimeAsync(MINUTE - 1);
    expect(turns).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(turns).toEqual(['s']);
  });

  it('counts a long silence as one pause', async () => {
    const { session, turns } = start();
    await session.run(async () => {}, isCall);
    await jest.advanceTimersByTimeAsync(100 * MINUTE);
    expect(turns).toHaveLength(1);
  });

  it('stands still while a call runs, and for what is no call', async () => {
    const { session, turns } = start();
    let end: () => void = () => {};
    const long = session.run(() => new Promise<void>((resolve) => (end = resolve)), isCall);
    await session.run(async () => {}, isCall);
    await jest.advanceTimersByTimeAsync(10 * MINUTE);
    end();
    await long;
    await jest.advanceTimersByTimeAsync(MINUTE / 2);
    await session.run(async () => {});
    expect(turns).toEqual([]);
    await jest.advanceTimersByTimeAsync(MINUTE / 2);
    expect(turns).toHaveLength(1);
  });

  it('does not go for a client that names its turns', async () => {
    const { session, turns } = start();
    await session.run(async () => {}, { ...isCall, turn: 'first' });
    await jest.advanceTimersByTimeAsync(10 * MINUTE);
    expect(turns).toEqual([]);
  });

  it('never goes where it is switched off, nor after the end', async () => {
    const off = start(0);
    await off.session.run(async () => {}, isCall);
    const { session, turns } = start();
    await session.run(async () => {}, isCall);
    await session.end();
    await jest.advanceTimersByTimeAsync(10 * MINUTE);
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
    await jest.advanceTimersByTimeAsync(0);
    const end = session.end();
    await jest.advanceTimersByTimeAsync(MINUTE);
    await end;
    expect(ended).toEqual(['s']);
    await expect(session.hasChanged()).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('says what failed, and goes on', async () => {
    const { session, errors, router } = start();
    router.beginTurn = () => Promise.reject(new Error('no store'));
    await session.run(async () => {}, isCall);
    await jest.advanceTimersByTimeAsync(MINUTE);
    expect(errors).toEqual([new Error('no store')]);
    expect(await session.run(async () => 'fine', isCall)).toBe('fine');
  });
});
