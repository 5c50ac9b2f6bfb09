import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { createFunctionExecutor, type ToolFunction } from '../../../src/agents/sandbox/executors/functions.js';
import { createSandbox, type SandboxParts } from '../../../src/agents/sandbox/sandbox.js';
import { createTool } from '../../support/create-tool.js';

/** A function that waits until the test lets it go on. */
function createGate() {
  const open: (() => void)[] = [];
  const running: unknown[] = [];
  let most = 0;
  const run: ToolFunction = async (input) => {
    running.push(input.id ?? input.query);
    most = Math.max(most, open.length + 1);
    await new Promise<void>((resolve) => open.push(resolve));
    return input.id;
  };
  return { run, running, open, most: () => most, next: () => open.shift()?.() };
}

describe('many calls', () => {
  const start = (
    limits: SandboxParts['limits'],
    count: number,
    entry: (id: number) => string = () => 'search',
    userOf: (id: number) => string | undefined = () => undefined,
  ) => {
    const gate = createGate();
    const sandbox = createSandbox({
      executors: [createFunctionExecutor({ search: gate.run, write: gate.run })],
      limits,
    });
    const results = Array.from({ length: count }, (_, id) =>
      sandbox.run({ tool: createTool(entry(id)), arguments: { id }, user: userOf(id) }),
    );
    return { gate, results };
  };
  const drain = async ({ gate, results }: ReturnType<typeof start>) => {
    for (let left = true; left; ) {
      await nextTurn();
      left = gate.open.length > 0;
      gate.next();
    }
    return Promise.all(results);
  };

  it('run 8 at once, and all 50 come to their end', async () => {
    const started = start({}, 50);
    await nextTurn();
    expect(started.gate.running).toHaveLength(8);
    const results = await drain(started);
    expect(results.map((result) => result.ok && result.output)).toEqual(Array.from({ length: 50 }, (_, id) => id));
    expect(started.gate.most()).toBe(8);
  });

  it('are refused when too many wait', async () => {
    const started = start({ concurrency: 2, maxQueued: 3 }, 8);
    const results = await drain(started);
    expect(results.filter(({ ok }) => ok)).toHaveLength(5);
    expect(results.filter((result) => !result.ok).map((result) => !result.ok && result.code)).toEqual(
      Array(3).fill('overloaded'),
    );
  });

  it('are refused when they have waited too long', async () => {
    const started = start({ concurrency: 1, maxWaitMs: 10 }, 2);
    expect(await started.results[1]).toMatchObject({
      code: 'overloaded',
      reason: expect.stringContaining('maxWaitMs'),
    });
    started.gate.next();
    expect(await started.results[0]).toMatchObject({ ok: true });
  });

  it('of one user leave places and room to wait for those of another', async () => {
    const limits = { concurrency: 4, maxQueued: 8 };
    const started = start(limits, 10, undefined, (id) => (id < 8 ? 'mallory' : 'ann'));
    await nextTurn();
    expect(started.gate.running).toEqual([0, 1, 8, 9]);
    const results = await drain(started);
    expect(results.map((result) => (result.ok ? 'ok' : result.reason))).toEqual([
      ...Array(6).fill('ok'),
      ...Array(2).fill('6 calls of yours are under way (limit userShare).'),
      ...Array(2).fill('ok'),
    ]);
  });

  it('of one user who waits for themselves hold nobody up in their mutex group', async () => {
    const limits = { concurrency: 2, tools: { write: { mutexGroup: 'files' } } };
    const started = start(
      limits,
      3,
      (id) => (id === 0 ? 'search' : 'write'),
      (id) => (id < 2 ? 'mallory' : 'ann'),
    );
    await nextTurn();
    expect(started.gate.running).toEqual([0, 2]);
    await drain(started);
  });

  it('of one user take all places where the share is whole', async () => {
    const started = start({ concurrency: 4, userShare: 1 }, 6, undefined, () => 'ann');
    await nextTurn();
    expect(started.gate.running).toHaveLength(4);
    await drain(started);
  });

  it('of one mutex group run one after another, and do not take the places of others', async () => {
    const limits = { concurrency: 4, tools: { write: { mutexGroup: 'files' } } };
    const started = start(limits, 6, (id) => (id < 4 ? 'write' : 'search'));
    await nextTurn();
    expect([...started.gate.running].sort()).toEqual([0, 4, 5]);
    const results = await drain(started);
    expect(results.every(({ ok }) => ok)).toBe(true);
  });

  it('wait for a stopped tool that has not ended, so that it is alone in its group', async () => {
    const gate = createGate();
    const sandbox = createSandbox({
      executors: [createFunctionExecutor({ write: gate.run })],
      limits: { tools: { write: { mutexGroup: 'files', timeoutMs: 15 } }, stopGraceMs: 60_000 },
    });
    const call = (id: number) => sandbox.run({ tool: createTool('write'), arguments: { id } });
    const [first, second] = [call(1), call(2)];
    expect(await first).toMatchObject({ code: 'timeout' });
    await nextTurn();
    expect(gate.running).toEqual([1]);
    gate.next();
    expect(await second).toMatchObject({ code: 'timeout' });
    expect(gate.running).toEqual([1, 2]);
    gate.next();
  });

  it('that never end are given up in the end', async () => {
    const started = start({ concurrency: 1, timeoutMs: 10, stopGraceMs: 10 }, 3);
    expect(await Promise.all(started.results)).toMatchObject(Array(3).fill({ code: 'timeout' }));
  });
});

it('a call that can not be counted has not reached the tool', async () => {
  const broken = () => {
    throw new Error('no memory left');
  };
  const runs: unknown[] = [];
  const executor = createFunctionExecutor({ search: () => runs.push(1) });
  const rates = { take: broken, waitOf: broken, spend: broken };
  const sandbox = createSandbox({ executors: [executor], rates });
  expect(await sandbox.run({ tool: createTool('search'), arguments: {} })).toMatchObject({
    code: 'not_started',
    reason: expect.stringContaining('no memory left'),
  });
  expect(runs).toEqual([]);
});

describe('the rates', () => {
  let clock: MockInstance<typeof Date.now>;
  beforeEach(() => {
    clock = vi.spyOn(Date, 'now').mockReturnValue(0);
  });
  afterEach(() => clock.mockRestore());

  function createCaller(limits: NonNullable<SandboxParts['limits']>) {
    const sandbox = createSandbox({ executors: [createFunctionExecutor({ a: () => 1, b: () => 1 })], limits });
    const call = async (name: string, user?: string) => {
      const result = await sandbox.run({ tool: createTool(name), arguments: {}, user });
      return result.ok ? 'ok' : result.code;
    };
    return { call, sandbox };
  }

  it('of one tool by one user leave other users and other tools alone', async () => {
    const { call } = createCaller({ tools: { a: { rate: { calls: 2, seconds: 10 } } } });
    expect([await call('a', 'u'), await call('a', 'u'), await call('a', 'u')]).toEqual(['ok', 'ok', 'rate_limited']);
    expect([await call('a', 'v'), await call('b', 'u')]).toEqual(['ok', 'ok']);
    clock.mockReturnValue(9_999);
    expect(await call('a', 'u')).toBe('rate_limited');
    clock.mockReturnValue(10_000);
    expect([await call('a', 'u'), await call('a', 'u'), await call('a', 'u')]).toEqual(['ok', 'ok', 'rate_limited']);
  });

  it('of one tool by all, and of one user over all tools', async () => {
    const shared = createCaller({ sharedRate: { calls: 1, seconds: 60 } });
    expect([await shared.call('a', 'u'), await shared.call('a', 'v'), await shared.call('b', 'v')]).toEqual([
      'ok',
      'rate_limited',
      'ok',
    ]);
    const own = createCaller({ userRate: { calls: 1, seconds: 60 } });
    expect([await own.call('a', 'u'), await own.call('b', 'u'), await own.call('b', 'v')]).toEqual([
      'ok',
      'rate_limited',
      'ok',
    ]);
  });

  it('that refuse a call by one of them take nothing of the others', async () => {
    const { call } = createCaller({ rate: { calls: 1, seconds: 3_600 }, userRate: { calls: 1, seconds: 10 } });
    expect([await call('b', 'u'), await call('a', 'u')]).toEqual(['ok', 'rate_limited']);
    clock.mockReturnValue(10_000);
    expect([await call('b', 'u'), await call('a', 'u')]).toEqual(['rate_limited', 'ok']);
  });

  it('say when the next call is free', async () => {
    const { sandbox } = createCaller({ rate: { calls: 1, seconds: 30 } });
    const call = () => sandbox.run({ tool: createTool('a'), arguments: {} });
    await call();
    expect(await call()).toMatchObject({
      code: 'rate_limited',
      reason: 'a is called too often. The next call is free in 30000 ms.',
    });
  });
});
