import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createWorkerExecutor } from '../../../../src/agents/sandbox/executors/workers.js';
import { createSandbox } from '../../../../src/agents/sandbox/sandbox.js';
import { createTool } from '../../../support/create-tool.js';

const module = pathToFileURL('test/agents/sandbox/executors/worker-functions.mjs');
const names = [
  'add',
  'who',
  'environment',
  'count',
  'endless',
  'beats',
  'slow_pattern',
  'sleepless',
  'never',
  'fails',
  'throws_nothing',
  'throws_trap',
  'late_rejection',
  'hungry',
  'huge',
  'gives_function',
  'trapped_getter',
  'exits',
  'prints',
  'forges',
  'forges_bytes',
  'rich',
  'notAFunction',
];
const functions = {
  ...Object.fromEntries(names.map((name) => [name, { module }])),
  absent: { module: pathToFileURL('test/agents/sandbox/executors/no-such-file.mjs') },
  plus: { module, export: 'add' },
};
const sandbox = createSandbox({
  executors: [createWorkerExecutor(functions, { maxMemoryMb: 32 })],
  limits: { timeoutMs: 30_000 },
});
const run = (name: string, input: object = {}) =>
  sandbox.run({ tool: createTool(name), arguments: input, user: 'anna' });

describe('a function in a thread of its own', () => {
  it('gets its arguments and who asks, and gives its result', async () => {
    expect(await run('add', { a: 1, b: 2 })).toMatchObject({ ok: true, output: 3, notes: [] });
    expect(await run('plus', { a: 1, b: 2 })).toMatchObject({ ok: true, output: 3 });
    expect(await run('who')).toMatchObject({ ok: true, output: { user: 'anna' } });
  });

  it('sees nothing of our environment, and nothing of the call before', async () => {
    expect(await run('environment')).toHaveProperty('output', {});
    expect(await run('count')).toMatchObject({ output: 1 });
    expect(await run('count')).toMatchObject({ output: 1 });
  });

  it('keeps what it prints away from our stdout', async () => {
    expect(await run('prints')).toMatchObject({ ok: true, output: 'printed' });
  });

  it.each(['endless', 'slow_pattern', 'sleepless'])('is really ended when it does not end: %s', async (name) => {
    // The place is free again only when the thread is gone: with one place, the next call proves it.
    const one = createSandbox({
      executors: [createWorkerExecutor(functions)],
      limits: { concurrency: 1, stopGraceMs: 60_000, tools: { [name]: { timeoutMs: 400 } }, timeoutMs: 30_000 },
    });
    const stopped = one.run({ tool: createTool(name), arguments: {} });
    const next = one.run({ tool: createTool('add'), arguments: { a: 2, b: 2 } });
    expect(await stopped).toMatchObject({ ok: false, code: 'timeout' });
    expect(await next).toMatchObject({ ok: true, output: 4 });
  });

  it('does nothing more once it is stopped', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'winnow-worker-'));
    try {
      const path = join(folder, 'beats');
      const impatient = createSandbox({ executors: [createWorkerExecutor(functions)], limits: { timeoutMs: 500 } });
      expect(await impatient.run({ tool: createTool('beats'), arguments: { path } })).toMatchObject({
        code: 'timeout',
      });
      await pause(100);
      const { size } = await stat(path);
      await pause(100);
      expect((await stat(path)).size).toBe(size);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it.each([
    ['fails', 'tool_failed', 'no such station'],
    ['throws_nothing', 'tool_failed', 'undefined'],
    ['throws_trap', 'tool_failed', 'cannot be shown'],
    ['late_rejection', 'tool_failed', 'late'],
    ['hungry', 'tool_failed', 'more memory'],
    ['huge', 'output_too_large', 'at most 1048576'],
    ['gives_function', 'output_unusable', 'could not be cloned'],
    ['trapped_getter', 'output_unusable', 'from the getter'],
    ['exits', 'tool_failed', 'exit 7'],
    ['never', 'tool_failed', 'without a result'],
    ['forges', 'output_unusable', 'unknown form'],
    ['forges_bytes', 'output_unusable', "can't be read"],
    ['notAFunction', 'not_runnable', 'exports no function "notAFunction"'],
    ['absent', 'not_runnable', "can't be loaded"],
  ])('can break in any way, and it is a result: %s is %s', async (name, code, reason) => {
    expect(await run(name)).toMatchObject({ ok: false, code, reason: expect.stringContaining(reason) });
  });

  it('may return what JSON has no form for', async () => {
    const result = await run('rich');
    expect(result).toMatchObject({ ok: true, output: { at: '1970-01-01T00:00:00.000Z', tags: ['a'], big: '12' } });
    expect(result).toMatchObject({ notes: [expect.stringContaining('Set'), expect.stringContaining('bigint')] });
  });

  it('is not reached by a private tool of its name', async () => {
    const tool = createTool('add', {}, undefined, { scope: { user: 'anna' } });
    expect(await sandbox.run({ tool, arguments: { a: 1, b: 2 }, user: 'anna' })).toMatchObject({
      code: 'not_runnable',
    });
  });

  it('is stopped when the caller cancels', async () => {
    const controller = new AbortController();
    const running = sandbox.run({ tool: createTool('endless'), arguments: {}, signal: controller.signal });
    await nextTurn();
    controller.abort();
    expect(await running).toMatchObject({ ok: false, code: 'cancelled' });
  });

  it.each(['https://host.test/x.mjs', './x.mjs', 'data:text/javascript,1'])('is never loaded from %s', (place) => {
    expect(() => createWorkerExecutor({ a: { module: place } })).toThrow('functions.a.module');
  });
});
