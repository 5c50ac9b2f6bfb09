import { describe, expect, it } from '@jest/globals';
import { createLiveExecutors } from '../../src/cli/live-executors.js';
import type { Executor, ExecutorCall } from '../../src/execution/executors/executor.js';
import { createTool } from '../support/create-tool.js';

const call: ExecutorCall = {
  tool: createTool('a'),
  arguments: {},
  signal: new AbortController().signal,
  maxReadBytes: 1,
  repeatable: false,
};

function makeExecutor(output: string) {
  const state = { isClosed: false, end: () => {} };
  const executor: Executor = {
    canRun: ({ name }) => name === 'a',
    run: () =>
      new Promise((resolve) => {
        state.end = () => resolve({ ok: true, output });
      }),
    async close() {
      state.isClosed = true;
    },
  };
  return { executor, state };
}

describe('executors that are replaced', () => {
  it('end their calls where they began, and are closed after the last one', async () => {
    const [old, next] = [makeExecutor('old'), makeExecutor('next')];
    const live = createLiveExecutors([old.executor]);
    const running = live.run(call);
    live.replace([next.executor]);
    expect(old.state.isClosed).toBe(false);
    const later = live.run(call);
    old.state.end();
    next.state.end();
    expect([await running, await later]).toEqual([
      { ok: true, output: 'old' },
      { ok: true, output: 'next' },
    ]);
    expect([old.state.isClosed, next.state.isClosed]).toEqual([true, false]);
    await live.close();
    expect(next.state.isClosed).toBe(true);
  });

  it('are closed at once where nothing runs, and say what none of them can run', async () => {
    const old = makeExecutor('old');
    const live = createLiveExecutors([old.executor]);
    live.replace([]);
    expect(old.state.isClosed).toBe(true);
    expect(live.canRun(call.tool)).toBe(false);
    expect(await live.run(call)).toMatchObject({ ok: false, code: 'not_runnable' });
  });
});
