import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { WinnowError } from '../../src/core/errors.js';
import { type CaseRunner, createCaseRunner } from '../../src/evaluation/case-runner.js';
import { openCases } from '../../src/evaluation/case-source.js';
import { createLocalDispatcher } from '../../src/evaluation/dispatcher.js';
import { type EvaluationOptions, evaluate } from '../../src/evaluation/evaluate.js';
import type { CaseRecord } from '../../src/evaluation/record.js';
import { openRunFolder, readPrompt, readRecords, readSummary } from '../../src/evaluation/run-folder.js';
import { createSuitePlanners } from '../../src/evaluation/suite.js';
import { aModel, catalog, JUDGING } from './runner-setup.js';
import { aFolder, aRecord, aStart } from './setup.js';

const isSelection = (system: string) => system.includes('selected_tools');

async function sourceOf(count: number) {
  const caseFile = join(aFolder(), 'cases.jsonl');
  const lines = Array.from({ length: count }, (_, place) =>
    JSON.stringify({ id: `c${place}`, query: 'q', expectedTools: ['find_station'] }),
  );
  writeFileSync(caseFile, `${lines.join('\n')}\n`);
  return openCases([{ name: 'set', catalog, caseFile }], { seed: 1 });
}

interface RunParts extends Partial<EvaluationOptions> {
  path?: string;
  run?: CaseRunner;
  count?: number;
  jobs?: number;
}

const answerAll: CaseRunner = async ({ case: { id }, repeat }) => aRecord({ id, repeat });

async function evaluated({
  path = aFolder(),
  run = answerAll,
  count = 6,
  jobs = 2,
  repeats = 1,
  ...more
}: RunParts = {}) {
  const folder = await openRunFolder(path);
  const start = aStart({ planned: count * repeats, cases: count });
  try {
    const end = await evaluate({
      folder,
      source: await sourceOf(count),
      repeats,
      dispatch: createLocalDispatcher(run, jobs),
      start,
      ...more,
    });
    return { ...end, path, keys: await keysIn(path) };
  } finally {
    folder.close();
  }
}

async function keysIn(path: string): Promise<string[]> {
  const keys = [];
  for await (const { id, repeat } of readRecords(path)) keys.push(`${id}#${repeat}`);
  return keys;
}

describe('a run', () => {
  it('does every case and repeat once, first tries first', async () => {
    const { keys, summary } = await evaluated({ count: 3, repeats: 2, jobs: 1 });
    expect(keys).toEqual(['c0#0', 'c1#0', 'c2#0', 'c0#1', 'c1#1', 'c2#1']);
    expect(summary).toMatchObject({ interrupted: false, counts: { done: 6, right: 6 }, endedAt: expect.any(String) });
  });

  it('does as many at once as it may, and no more', async () => {
    const now = { running: 0, most: 0 };
    const run: CaseRunner = async (job) => {
      now.running += 1;
      now.most = Math.max(now.most, now.running);
      await new Promise((resolve) => setImmediate(resolve));
      now.running -= 1;
      return answerAll(job);
    };
    expect((await evaluated({ run, count: 12, jobs: 3 })).keys).toHaveLength(12);
    expect(now.most).toBe(3);
  });

  it('goes on with what is missing after it was stopped', async () => {
    const stop = new AbortController();
    const onRecord = ({ id }: CaseRecord) => (id === 'c2' ? stop.abort() : undefined);
    const first = await evaluated({ stop: stop.signal, onRecord, jobs: 1 });
    expect(first.keys).toEqual(['c0#0', 'c1#0', 'c2#0']);
    expect(first.summary).toMatchObject({ interrupted: true, counts: { done: 3 } });
    expect(first.summary).not.toHaveProperty('endedAt');
    const second = await evaluated({ path: first.path });
    expect([...second.keys].sort()).toEqual(['c0#0', 'c1#0', 'c2#0', 'c3#0', 'c4#0', 'c5#0']);
    expect(second.summary.interrupted).toBe(false);
  });

  it('keeps what is done when it is cancelled in the middle of a case', async () => {
    const cancel = new AbortController();
    const run: CaseRunner = async (job, signal) => {
      if (job.case.id !== 'c3') return answerAll(job);
      cancel.abort();
      signal?.throwIfAborted();
      return answerAll(job);
    };
    const { keys, summary, failure } = await evaluated({ run, cancel: cancel.signal, jobs: 1 });
    expect(keys).toEqual(['c0#0', 'c1#0', 'c2#0']);
    expect([summary.interrupted, failure]).toEqual([true, undefined]);
  });

  it('ends when the server is down, and says how to go on', async () => {
    const error = { code: 'model_unavailable', message: 'refused', issues: [] };
    const run: CaseRunner = async ({ case: { id } }) => aRecord({ id, outcome: 'error', error, scores: {} });
    const { keys, failure } = await evaluated({ run, count: 10, jobs: 1, maxErrorsInARow: 3 });
    expect(keys).toHaveLength(3);
    expect(failure?.message).toMatch(
      /3 cases in a row failed, the last with model_unavailable: refused Continue with --resume --retry-errors/u,
    );
  });

  it('tells of a disk that is full, and does no more', async () => {
    const full = () => {
      throw new WinnowError('invalid_option', 'is the disk full?');
    };
    const { failure, keys } = await evaluated({ onRecord: full, jobs: 1 });
    expect(failure?.message).toBe('is the disk full?');
    expect(keys).toHaveLength(1);
  });

  it('has a summary from its first moment', async () => {
    const path = aFolder();
    const seen: boolean[] = [];
    await evaluated({ path, onRecord: () => seen.push(readSummary(path).interrupted) });
    expect(new Set(seen)).toEqual(new Set([true]));
    expect(readSummary(path).interrupted).toBe(false);
  });

  it('of real planners keeps the prompts that its records name', async () => {
    const path = aFolder();
    const folder = await openRunFolder(path);
    const planners = createSuitePlanners(
      { name: 'set', catalog, caseFile: '' },
      { model: aModel(), options: { passthroughTools: 0 }, onStablePart: folder.keepPrompt },
    );
    const run = createCaseRunner({
      suites: new Map([['set', planners]]),
      ...JUDGING,
    });
    await evaluate({
      folder,
      source: await sourceOf(2),
      repeats: 1,
      dispatch: createLocalDispatcher(run, 1),
      start: aStart({ planned: 2 }),
    });
    folder.close();
    for await (const { calls } of readRecords(path)) {
      const texts = await Promise.all(calls.map(({ system }) => readPrompt(path, system)));
      expect(texts.map((text) => isSelection(text ?? ''))).toEqual([true, false]);
    }
  });
});
