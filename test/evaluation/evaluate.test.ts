import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createCatalog } from '../../src/catalog/catalog.js';
import { WinnowError } from '../../src/errors.js';
import { createAnswerCache } from '../../src/evaluation/answer-cache.js';
import { type CaseRunner, type CaseRunnerOptions, createCaseRunner } from '../../src/evaluation/case-runner.js';
import { openCases } from '../../src/evaluation/case-source.js';
import { createLocalDispatcher } from '../../src/evaluation/dispatcher.js';
import { type EvaluationOptions, evaluate } from '../../src/evaluation/evaluate.js';
import type { CaseRecord } from '../../src/evaluation/record.js';
import { openRunFolder, readPrompt, readRecords, readSummary } from '../../src/evaluation/run-folder.js';
import { createSuitePlanners } from '../../src/evaluation/suite.js';
import type { Model } from '../../src/model/model.js';
import { createTool } from '../support/create-tool.js';
import { createScriptedModel, type ScriptedAnswer } from '../support/scripted-model.js';
import { aCase, aFolder, aRecord, aStart } from './setup.js';

const TEXT = { type: 'string' };
const TOOLS = [
  createTool(
    'find_station',
    { properties: { name: TEXT }, required: ['name'] },
    { type: 'object', properties: { stcd: TEXT } },
  ),
  createTool('read_level', { properties: { stcd: TEXT }, required: ['stcd'] }),
  createTool('send_mail', { properties: { to: TEXT } }),
  createTool('list_rivers'),
];
const catalog = createCatalog(TOOLS);
const PLAN = { kind: 'plan', steps: [{ id: 's1', tool: 'find_station', arguments: { name: 'Lake' } }] };
const SELECTED = { selected_tools: ['find_station'], reason: 'r' };
const isSelection = (system: string) => system.includes('selected_tools');
const EXPECTED = { tools: ['find_station'], steps: [{ tool: 'find_station', arguments: { name: 'Lake' } }], edges: [] };

/** Answers each stage in the same way. */
function aModel(selection: ScriptedAnswer = JSON.stringify(SELECTED), plan: ScriptedAnswer = JSON.stringify(PLAN)) {
  return createScriptedModel({ answers: ({ stage }) => (stage === 'selection' ? selection : plan) });
}

function aRunner(model: Model, more: Partial<CaseRunnerOptions> & { cached?: boolean; maxTools?: number } = {}) {
  const { cached = false, ...options } = more;
  const prompts = new Map<string, string>();
  const planners = createSuitePlanners(
    { name: 'set', catalog, caseFile: '' },
    {
      model,
      cache: cached ? createAnswerCache(model, { folder: aFolder() }) : undefined,
      options: {
        passthroughTools: options.only === 'plan' ? 128 : 0,
        passthroughTokens: 0,
        fill: false,
        maxTools: options.maxTools ?? 8,
      },
      onStablePart: (hash, text) => prompts.set(hash, text),
    },
  );
  const run = createCaseRunner({
    suites: new Map([['set', planners]]),
    only: undefined,
    maxTools: 8,
    candidates: 'all',
    distractors: 0,
    seed: 1,
    today: '2026-11-22',
    ignoreCase: false,
    ...options,
  });
  return { run, prompts };
}

describe('one case', () => {
  it('becomes a record with what the model saw and said, how it was judged and what it cost', async () => {
    const { run, prompts } = aRunner(aModel(), {
      prices: { currency: 'USD', costOf: ({ selection, planning }) => selection.calls + planning.calls },
    });
    const record = await run({ case: aCase({ expected: EXPECTED, tags: ['t'], lang: 'en' }), repeat: 0 });
    expect(record).toMatchObject({
      id: 'c1',
      suite: 'set',
      repeat: 0,
      lang: 'en',
      tags: ['t'],
      outcome: 'answered',
      rung: 'whole',
      selection: { mode: 'selected', tools: [{ name: 'find_station', via: 'model' }] },
      result: { kind: 'plan', steps: [{ tool: 'find_station' }], levels: [['s1']] },
      scores: { right: 1, recall: 1, planExact: 1 },
      usage: { selection: { calls: 1 }, planning: { calls: 1 } },
      cost: 2,
    });
    expect(record).not.toHaveProperty('cause');
    expect(record.usage.schemaTokens.loaded).toBeGreaterThan(0);
    expect(record.usage.schemaTokens.all).toBeGreaterThan(record.usage.schemaTokens.loaded);
    expect(record.calls.map(({ stage, fromCache }) => [stage, fromCache])).toEqual([
      ['selection', false],
      ['planning', false],
    ]);
    expect(record.calls[0]?.user).toContain('the level of the lake');
    expect(prompts.get(record.calls[0]?.system ?? '')).toContain('find_station');
    expect(record.calls[1]?.user).toContain('2026-11-22');
  });

  it('is asked for selection alone, or for the plan alone with the expected tools and others', async () => {
    const model = aModel();
    const one = { case: aCase({ expected: EXPECTED }), repeat: 0 };
    const selected = await aRunner(model, { only: 'select' }).run(one);
    expect(model.calls.map(({ stage }) => stage)).toEqual(['selection']);
    expect(selected).not.toHaveProperty('result');
    const planned = await aRunner(model, { only: 'plan', maxTools: 3 }).run(one);
    expect(model.calls.map(({ stage }) => stage)).toEqual(['selection', 'planning']);
    expect(planned.selection?.tools).toHaveLength(3);
    expect(planned.selection?.tools.map(({ name }) => name)).toContain('find_station');
    expect(planned.scores).toMatchObject({ right: 1, planExact: 1 });
    expect(planned.scores).not.toHaveProperty('recall');
  });

  it('sees only its candidates and so many others, the same in every run', async () => {
    const model = aModel();
    const { run } = aRunner(model, { only: 'select', candidates: 'only', distractors: 1 });
    const one = aCase({ expected: EXPECTED, candidates: ['find_station', 'read_level'] });
    await run({ case: one, repeat: 0 });
    await run({ case: one, repeat: 1 });
    const shown = model.calls.map(({ prompt }) =>
      TOOLS.filter(({ name }) => prompt.system.includes(`- ${name}`)).map(({ name }) => name),
    );
    expect(shown[0]).toHaveLength(3);
    expect(shown[0]).toEqual(expect.arrayContaining(['find_station', 'read_level']));
    expect(shown[1]).toEqual(shown[0]);
  });

  it('that ends without a valid plan is a wrong answer, with its selection', async () => {
    const { run } = aRunner(aModel(undefined, '{"kind":"poem"}'));
    const record = await run({ case: aCase({ expected: EXPECTED }), repeat: 0 });
    expect(record).toMatchObject({
      outcome: 'answered',
      result: { kind: 'plan_invalid', repaired: true, text: expect.stringContaining('kind') },
      scores: { right: 0, recall: 1, valid: 0 },
      cause: 'plan-invalid',
      usage: { planning: { calls: 2 } },
    });
  });

  it.each<[string, Model]>([
    ['in planning', aModel(undefined, new WinnowError('model_failed', 'HTTP 500'))],
    ['in selection, which the fallback hides', aModel(new WinnowError('model_failed', 'HTTP 500'))],
  ])('whose server fails %s is an error, and no wrong answer', async (_, model) => {
    const record = await aRunner(model).run({ case: aCase({ expected: EXPECTED }), repeat: 0 });
    expect(record).toMatchObject({ outcome: 'error', error: { code: 'model_failed' }, scores: {}, cause: 'error' });
    expect(record.calls.some(({ error }) => error?.includes('HTTP 500'))).toBe(true);
  });

  it('whose selection is not usable falls back, and that counts', async () => {
    const record = await aRunner(aModel('I would rather not.')).run({ case: aCase({ expected: EXPECTED }), repeat: 0 });
    expect(record).toMatchObject({ outcome: 'answered', scores: { fallback: 1, selectionRepaired: 1 } });
  });

  it('is tried anew with every repeat, whatever the cache holds', async () => {
    const model = aModel();
    const { run } = aRunner(model, { only: 'select', cached: true });
    const one = aCase({ expected: EXPECTED });
    const fromCache = [];
    for (const repeat of [0, 0, 1, 1]) fromCache.push((await run({ case: one, repeat })).calls[0]?.fromCache);
    expect(fromCache).toEqual([false, true, false, false]);
    expect(model.calls).toHaveLength(3);
  });

  it('of a rank answer tells each name with its probability', async () => {
    const reader = {
      probabilities: new Map([
        ['find_station', 0.9],
        ['send_mail', 0.1],
      ]),
    };
    const model = createScriptedModel({ readers: () => reader });
    const { run } = aRunner(model, { only: 'select' });
    const { calls } = await run({ case: aCase({ expected: EXPECTED }), repeat: 0 });
    expect(calls).toHaveLength(1);
    expect(calls[0]?.answer).toMatch(/^find_station 0\.9/u);
  });

  it('is given up when it is cancelled', async () => {
    const { run } = aRunner(aModel());
    await expect(run({ case: aCase(), repeat: 0 }, AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
  });
});

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
      { model: aModel(), options: { passthroughTools: 0, passthroughTokens: 0 }, onStablePart: folder.keepPrompt },
    );
    const run = createCaseRunner({
      suites: new Map([['set', planners]]),
      only: undefined,
      maxTools: 8,
      candidates: 'all',
      distractors: 0,
      seed: 1,
      today: '2026-11-22',
      ignoreCase: false,
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
