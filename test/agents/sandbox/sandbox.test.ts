import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ContentBlock, callResultSchema, type Progress } from '../../../src/agents/contracts.js';
import type { Executed, Executor } from '../../../src/agents/sandbox/executors/executor.js';
import {
  createFunctionExecutor,
  createSkillExecutor,
  type ToolFunction,
} from '../../../src/agents/sandbox/executors/functions.js';
import { createHttpExecutor } from '../../../src/agents/sandbox/executors/http/http.js';
import { createMcpExecutor } from '../../../src/agents/sandbox/executors/mcp.js';
import { fail } from '../../../src/agents/sandbox/failure.js';
import { resolveLimits } from '../../../src/agents/sandbox/limits.js';
import { createSandbox, type SandboxParts } from '../../../src/agents/sandbox/sandbox.js';
import { createLiveExecutors } from '../../../src/cli/live-executors.js';
import type { ToolEntry } from '../../../src/core/catalog/tool.js';
import { createTool } from '../../support/create-tool.js';

const QUERY = {
  properties: { query: { type: 'string' }, limit: { type: 'integer', default: 10 } },
  required: ['query'],
};

interface Case extends Omit<SandboxParts, 'executors'> {
  input?: unknown;
  output?: Readonly<Record<string, unknown>>;
  entry?: Partial<ToolEntry>;
  user?: string;
  signal?: AbortSignal;
}

/** One call of one tool `search` that does what the test says. */
function callOnce(run: ToolFunction, { input = { query: 'a' }, output, entry, user, signal, ...parts }: Case = {}) {
  const sandbox = createSandbox({ ...parts, executors: [createFunctionExecutor({ search: run })] });
  return sandbox.run({ tool: createTool('search', QUERY, output, entry), arguments: input, user, signal });
}

describe('a call in the sandbox', () => {
  it('gets checked arguments with the defaults of the schema, and gives a result of the documented form', async () => {
    const result = await callOnce((input) => ({ got: input }));
    expect(result).toMatchObject({ ok: true, output: { got: { query: 'a', limit: 10 } }, notes: [] });
    expect(callResultSchema.parse(result)).toEqual(result);
  });

  it('that was decided on gets exactly the arguments of the decision, which are only checked', async () => {
    const sandbox = createSandbox({ executors: [createFunctionExecutor({ search: (input) => ({ got: input }) })] });
    const decided = { risk: 'low', isApproved: false, findRefusal: async () => undefined } as const;
    const call = (given: unknown) => sandbox.run({ tool: createTool('search', QUERY), arguments: given, decided });
    expect(Object(await call({ query: 'a' })).output).toEqual({ got: { query: 'a' } });
    expect(await call({ query: 7 })).toMatchObject({ code: 'invalid_arguments' });
    expect(await call(JSON.parse('{"query": "a", "__proto__": {}}'))).toMatchObject({ code: 'invalid_arguments' });
  });

  it.each([
    ['a missing one', {}, 'query: is required'],
    ['one of another type', { query: 7 }, 'query: must be string, not number'],
    ['no object', 'query', '(arguments): must be object'],
    ['nothing', undefined, '(arguments): must be object'],
  ])('is refused for its arguments with words that a model can act on: %s', async (_, input, issue) => {
    const sandbox = createSandbox({ executors: [createFunctionExecutor({ search: () => 'ran' })] });
    const result = await sandbox.run({ tool: createTool('search', QUERY), arguments: input });
    expect(result).toMatchObject({ ok: false, code: 'invalid_arguments', issues: [issue], next: expect.any(String) });
  });

  const failing = (error: unknown) => () => Promise.reject(error);
  /** Whoever reads its field fails. */
  const trap = (field: string, words: string) =>
    Object.defineProperty({}, field, {
      enumerable: true,
      get() {
        throw new Error(words);
      },
    });
  const circle: Record<string, unknown> = {};
  circle.a = circle;
  const throwing = () => {
    throw new TypeError('at once');
  };

  it.each<[string, ToolFunction, string, string]>([
    ['an error', failing(new Error('no such station')), 'tool_failed', 'no such station'],
    ['an error at once', throwing, 'tool_failed', 'at once'],
    ['a text', failing('just words'), 'tool_failed', 'just words'],
    ['nothing at all', failing(undefined), 'tool_failed', 'undefined'],
    ['an object', failing({ status: 4 }), 'tool_failed', '{"status":4}'],
    ['a trap', failing(trap('message', 'x')), 'tool_failed', 'cannot be shown'],
    ['a circle', () => circle, 'output_unusable', 'circular'],
    ['a getter that throws', () => trap('x', 'in the getter'), 'output_unusable', 'in the getter'],
    ['a toJSON that throws', () => ({ toJSON: throwing }), 'output_unusable', 'at once'],
  ])('never crashes: a tool that throws or returns %s', async (_, run, code, reason) => {
    const result = await callOnce(run);
    expect(result).toMatchObject({ ok: false, code, reason: expect.stringContaining(reason) });
    expect(callResultSchema.parse(result)).toEqual(result);
  });

  it('is a result also when the executor itself breaks', async () => {
    const broken: Executor = {
      canRun: () => {
        throw new Error('no list of tools');
      },
      run: async () => ({ ok: true, output: 1 }),
    };
    const result = await createSandbox({ executors: [broken] }).run({ tool: createTool('a'), arguments: {} });
    expect(result).toMatchObject({
      ok: false,
      code: 'not_started',
      reason: expect.stringContaining('no list of tools'),
    });
  });

  it('ends at the time-out, and the tool is told by its signal', async () => {
    const seen: unknown[] = [];
    const result = await callOnce(
      (_, { signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            seen.push(signal.reason.name);
            reject(signal.reason);
          }),
        ),
      { limits: { timeoutMs: 20 } },
    );
    expect(result).toMatchObject({ ok: false, code: 'timeout', reason: expect.stringContaining('20 ms') });
    expect(seen).toEqual(['TimeoutError']);
  });

  it('has 3,000 ms where nothing else is said', async () => {
    const kept: number[] = [];
    const executor: Executor = {
      canRun: () => true,
      run: async ({ maxReadBytes }) => {
        kept.push(maxReadBytes);
        return { ok: true, output: 1 };
      },
    };
    await createSandbox({ executors: [executor] }).run({ tool: createTool('a'), arguments: {} });
    expect(kept).toEqual([262_144 * 4]);
    expect(resolveLimits()).toMatchObject({ concurrency: 8, maxQueued: 256 });
    expect(resolveLimits().of(createTool('a'))).toMatchObject({
      timeoutMs: 3_000,
      outputCheck: 'warn',
      idempotent: false,
    });
  });

  it('has the time of what runs it, else that of functions, unless a limit says otherwise', () => {
    const { of } = resolveLimits({ tools: { b: { timeoutMs: 7 } } });
    expect([of(createTool('a')), of(createTool('a'), 60_000), of(createTool('b'), 60_000)]).toMatchObject([
      { timeoutMs: 3_000 },
      { timeoutMs: 60_000 },
      { timeoutMs: 7 },
    ]);
    expect(createMcpExecutor({}).defaultTimeoutMs?.(createTool('a'))).toBe(60_000);
    expect(createHttpExecutor().defaultTimeoutMs?.(createTool('a'))).toBe(60_000);
    expect(createLiveExecutors([createHttpExecutor(), createSkillExecutor()]).defaultTimeoutMs?.(createTool('a'))).toBe(
      undefined,
    );
  });

  describe('that tells its progress', () => {
    beforeEach(() => {
      vi.useFakeTimers();
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    it('or asks has its time anew while the question is open; one that nobody answers is dismissed after 5 minutes', async () => {
      const question = { server: 's', message: 'Which?', requestedSchema: { type: 'object', properties: {} } };
      const executor: Executor = {
        canRun: () => true,
        run: async ({ signal, onQuestion }) => ({ ok: true, output: await onQuestion?.(question, signal) }),
      };
      const signals: AbortSignal[] = [];
      const running = createSandbox({ executors: [executor], limits: { timeoutMs: 1_000 } }).run({
        tool: createTool('a'),
        arguments: {},
        onQuestion: (_, signal) => new Promise(() => void signals.push(signal)),
      });
      await vi.advanceTimersByTimeAsync(299_000);
      expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
      await vi.advanceTimersByTimeAsync(2_000);
      expect(await running).toMatchObject({ ok: true, output: { action: 'cancel' } });
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
      expect(vi.getTimerCount()).toBe(0);
    });

    async function runFor(milliseconds: number, { every, total = 5_000 }: { every: number; total?: number }) {
      const told: Progress[] = [];
      const executor: Executor = {
        canRun: () => true,
        async run({ signal, onProgress }) {
          for (let gone = 0; gone < milliseconds && !signal.aborted; gone += every) {
            await new Promise((resolve) => setTimeout(resolve, every));
            onProgress?.({ progress: gone, message: 'x'.repeat(2_000) });
          }
          return { ok: true, output: 'done' };
        },
      };
      const limits = { timeoutMs: 1_000, totalTimeoutMs: total };
      const running = createSandbox({ executors: [executor], limits }).run({
        tool: createTool('a'),
        arguments: {},
        onProgress: (progress) => told.push(progress),
      });
      await vi.advanceTimersByTimeAsync(milliseconds + 70_000);
      expect(vi.getTimerCount()).toBe(0);
      return { result: await running, told };
    }

    it('has its time anew each time, up to the total', async () => {
      expect(await runFor(4_500, { every: 900 })).toMatchObject({ result: { ok: true, output: 'done' } });
      expect(await runFor(4_500, { every: 1_100 })).toMatchObject({
        result: {
          code: 'timeout',
          reason: expect.stringContaining('within 1000 ms and was stopped (limit timeoutMs)'),
        },
      });
      expect(await runFor(9_000, { every: 900 })).toMatchObject({
        result: { code: 'timeout', reason: expect.stringContaining('5000 ms and was stopped (limit totalTimeoutMs)') },
      });
    });

    it('is passed on ten times a second and a thousand times at most, and the last report always', async () => {
      const often = await runFor(4_000, { every: 2 });
      expect(often.told.length).toBeLessThanOrEqual(41);
      expect(often.told[0]).toEqual({ progress: 0, message: 'x'.repeat(1_000) });
      expect(often.told.at(-1)).toMatchObject({ progress: 3_998 });
      const seldom = await runFor(4_000, { every: 100 });
      expect(seldom.told).toHaveLength(40);
      const long = await runFor(120_000, { every: 100, total: 600_000 });
      expect(long.told).toHaveLength(1_001);
      expect(long.told.at(-1)).toMatchObject({ progress: 119_900 });
    });
  });

  it('that is rejected after its time-out does no harm', async () => {
    let reject: (error: Error) => void = () => {};
    const result = await callOnce(
      () =>
        new Promise((_, fail) => {
          reject = fail;
        }),
      { limits: { timeoutMs: 10 } },
    );
    reject(new Error('much too late'));
    await nextTurn();
    expect(result).toMatchObject({ code: 'timeout' });
  });

  it('is cancelled by its caller, before it begins and while it runs', async () => {
    expect(await callOnce(() => 1, { signal: AbortSignal.abort() })).toMatchObject({ ok: false, code: 'not_started' });
    const controller = new AbortController();
    const running = callOnce(
      () => {
        controller.abort();
        return new Promise(() => undefined);
      },
      { signal: controller.signal },
    );
    expect(await running).toMatchObject({ ok: false, code: 'cancelled' });
  });

  it('runs no private tool by a builtin function of its name', async () => {
    const result = await callOnce(() => 'ran', { entry: { scope: { user: 'anna' } }, user: 'anna' });
    expect(result).toMatchObject({ ok: false, code: 'not_runnable' });
  });

  it.each([
    ['an MCP server', { toolType: 'mcp', metadata: { mcp: { server: 'weather', tool: 'wipe_disk' } } }],
    ['an MCP server, whatever its type', { metadata: { mcp: { server: 'weather', tool: 'wipe_disk' } } }],
    ['an API', { metadata: { http: { method: 'GET', path: '/', parameters: {} } } }],
    ['a skill', { toolType: 'skill' }],
  ])('runs no function for a tool of its name of %s', async (_, entry) => {
    expect(await callOnce(() => 'ran', { entry })).toMatchObject({ ok: false, code: 'not_runnable' });
  });

  it('of a skill gives its instructions', async () => {
    const sandbox = createSandbox({ executors: [createSkillExecutor()] });
    const tool = createTool('review', {}, undefined, { toolType: 'skill', instructions: 'Read it twice.' });
    expect(await sandbox.run({ tool, arguments: {} })).toMatchObject({ ok: true, output: 'Read it twice.' });
    const empty = createTool('empty', {}, undefined, { toolType: 'skill' });
    expect(await sandbox.run({ tool: empty, arguments: {} })).toMatchObject({ ok: false, code: 'not_runnable' });
  });
});

describe('the result of a tool', () => {
  const output = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };

  it('that is not what the tool promises gets a note, is refused, or passes, as the limits say', async () => {
    const run = () => ({ id: 7 });
    expect(await callOnce(run, { output })).toMatchObject({
      ok: true,
      output: { id: 7 },
      notes: ['The result of search does not fit its outputSchema: id: must be string, not number'],
    });
    expect(await callOnce(run, { output, limits: { outputCheck: 'refuse' } })).toMatchObject({
      ok: false,
      code: 'output_invalid',
      issues: ['id: must be string, not number'],
    });
    expect(await callOnce(run, { output, limits: { outputCheck: 'off' } })).toMatchObject({ ok: true, notes: [] });
  });

  it('that is too large is shortened with a note, and its form stays', async () => {
    const list = Array.from({ length: 1_000 }, (_, id) => ({ id, name: `station ${id}` }));
    const result = await callOnce(() => ({ list, total: list.length }), { limits: { maxOutputBytes: 10_000 } });
    expect(result).toMatchObject({ ok: true, output: { total: 1_000, list: expect.any(Array) } });
    expect(JSON.stringify(result.ok && result.output).length).toBeLessThanOrEqual(10_000);
    expect(result).toMatchObject({
      notes: [expect.stringMatching(/more than 10000 \(limit maxOutputBytes\): lists were cut to 300 items/u)],
    });
  });
});

describe('the blocks of a result', () => {
  const runs = (executed: Executed) => {
    const executor: Executor = { canRun: () => true, run: async () => executed };
    return createSandbox({ executors: [executor] }).run({ tool: createTool('a'), arguments: {} });
  };
  const poisoned = JSON.parse('{"type": "text", "text": "x", "__proto__": {"admin": true}}');
  const content = [{ type: 'text', text: 'x' }];

  it('are plain JSON, as is its _meta, with one note of what was left out', async () => {
    const meta = JSON.parse('{"a": 1, "__proto__": {"admin": true}}');
    const result = await runs({ ok: true, output: poisoned, content: [poisoned], meta });
    const notes = ['a field "__proto__" of the result was left out'];
    expect(result).toMatchObject({ ok: true, output: content[0], content, meta: { a: 1 }, notes });
    expect(JSON.stringify(result)).not.toContain('admin');
  });

  it('are plain JSON where it failed', async () => {
    const result = await runs({ ...fail('tool_failed', 'x'), content: [poisoned] });
    expect(result).toMatchObject({ ok: false, content });
    expect(JSON.stringify(result)).not.toContain('admin');
  });

  it('are left out with a note where they can not be written as JSON', async () => {
    const round: ContentBlock = { type: 'text' };
    round.self = round;
    const result = await runs({ ok: true, output: 1, content: [round] });
    expect(result).toMatchObject({ ok: true, output: 1, notes: [expect.stringContaining('they are no JSON')] });
    expect(result).not.toHaveProperty('content');
  });
});

describe('limits', () => {
  it.each([
    ['a time-out of nothing', { timeoutMs: 0 }, 'sandbox.timeoutMs'],
    ['an unknown name', { timeout: 1 }, 'sandbox: Unrecognized key "timeout"; nearest: "timeoutMs"'],
    [
      'an unknown name for a tool',
      { tools: { a: { concurrency: 1 } } },
      'sandbox.tools.a: Unrecognized key "concurrency"; known: timeoutMs, ',
    ],
    ['a rate without a period', { rate: { calls: 1 } }, 'sandbox.rate.seconds'],
  ])('are refused with the name of what is wrong: %s', (_, limits, name) => {
    expect(() => createSandbox({ executors: [], limits: limits as never })).toThrow(name);
  });
});
