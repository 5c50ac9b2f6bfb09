import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PlanRun } from '../../../src/agents/runs/plan-run.js';
import { resumePlan } from '../../../src/agents/runs/run-plan.js';
import type { RunStep } from '../../../src/agents/runs/run-step.js';
import { openStore } from '../../../src/agents/store/open-store.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let folder: string;
let child: ChildProcess | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-crash-'));
});
afterEach(async () => {
  child?.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

describe('a process that is killed in the middle of a step', () => {
  it('leaves a run that another one resumes: nothing is done twice, the open step is told', async () => {
    const [file, journal] = [join(folder, 'store.db'), join(folder, 'journal')];
    const loader = ['--import', './test/support/typescript-loader.mjs', 'test/agents/runs/crash-run.ts'];
    child = spawn(process.execPath, [...loader, file, journal], { stdio: 'ignore' });
    const exit = once(child, 'exit');
    const lines = async () => (await readFile(journal, 'utf8').catch(() => '')).trim().split('\n');
    while (!(await lines()).includes('s2 write') && child.exitCode === null) await pause(20);
    child.kill('SIGKILL');
    await exit;
    expect(await lines()).toEqual(['s1 read', 's2 write']);

    const store = await openStore({ file });
    try {
      const made: string[] = [];
      const run: RunStep = async ({ step, arguments: input }) => {
        made.push(`${step} ${JSON.stringify(input)}`);
        return { ok: true, output: {}, notes: [], milliseconds: 1 };
      };
      const options = { run, store: store.planRuns };
      const open = await whenFree(() => resumePlan('r1', options));
      expect(made).toEqual([]);
      expect(open).toMatchObject({
        state: 'failed',
        steps: { s1: { status: 'done' }, s2: { status: 'unknown' }, s3: { status: 'blocked' } },
      });
      const repeated = await resumePlan('r1', { ...options, repeat: ['s2'] });
      expect(repeated.state).toBe('done');
      expect(made).toEqual(['s2 {"a":7}', 's3 {}']);
    } finally {
      await store.close();
    }
  });
});

/** The lease of the dead runs out soon. */
async function whenFree(resume: () => Promise<PlanRun>): Promise<PlanRun> {
  for (;;) {
    try {
      return await resume();
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'conflict')) throw error;
      await pause(50);
    }
  }
}
