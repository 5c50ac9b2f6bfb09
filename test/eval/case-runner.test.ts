/** A run of cases: its settings, the offered tools, and how cases are done and summed up. */

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createCatalog } from '../../src/core/catalog/catalog.js';
import { createScope } from '../../src/core/catalog/scope.js';
import { WinnowError } from '../../src/core/errors.js';
import type { Model } from '../../src/core/model/model.js';
import { type CaseRunner, createCaseRunner, offeredTools } from '../../src/eval/case-runner.js';
import { openCases } from '../../src/eval/case-source.js';
import { createLocalDispatcher, type EvaluationOptions, evaluate } from '../../src/eval/evaluate.js';
import type { CaseRecord } from '../../src/eval/record.js';
import { readSummary } from '../../src/eval/run-store.js';
import { dayOf, differencesOf, refuseOtherSettings } from '../../src/eval/run-summary.js';
import { createSuitePlanners } from '../../src/eval/suite.js';
import { createTool } from '../support/create-tool.js';
import { createScriptedModel } from '../support/scripted-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { aModel, aRunner, catalog, EXPECTED, JUDGING, PLAN, SELECTED, TOOLS } from './runner-setup.js';
import { aCase, aRecord, aStart, inRun, keysIn } from './setup.js';

describe('one case', () => {
  it('becomes a record with what the model saw and said, and how it was judged', async () => {
    const { run, prompts } = aRunner(aModel());
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
      scores: { right: 1, recall: 1, nodeF1: 1 },
      comparison: { steps: [{ expected: 0, got: 0, arguments: { name: 'same' } }] },
      usage: { selection: { calls: 1 }, planning: { calls: 1 } },
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
    expect(planned.scores).toMatchObject({ right: 1, nodeF1: 1 });
    expect(planned.scores).not.toHaveProperty('recall');
  });

  it('sees only its candidates and so many others, the same in every run', async () => {
    const model = aModel();
    const { run } = aRunner(model, { only: 'select', distractors: 1 });
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

  it('that has a valid plan only after a repair says so, and is right all the same', async () => {
    const model = createScriptedModel({ answers: [JSON.stringify(SELECTED), '{"kind":"poem"}', JSON.stringify(PLAN)] });
    const record = await aRunner(model).run({ case: aCase({ expected: EXPECTED }), repeat: 0 });
    expect(record).toMatchObject({
      result: { kind: 'plan', repaired: true },
      scores: { right: 1, valid: 1 },
      usage: { planning: { calls: 2 } },
    });
  });

  it.each([
    ['', false, 0],
    [', unless the case says that it does not', true, 1],
  ])('counts upper and lower case%s', async (_, ofCase, right) => {
    const loud = { ...PLAN, steps: [{ id: 's1', tool: 'find_station', arguments: { name: 'LAKE' } }] };
    const { run } = aRunner(aModel(undefined, JSON.stringify(loud)));
    const record = await run({ case: aCase({ expected: EXPECTED, ignoreCase: ofCase }), repeat: 0 });
    expect(record.scores).toMatchObject({ right, argumentValueF1: right });
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
    expect(record).toMatchObject({ outcome: 'answered', scores: { fallback: 1 } });
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

  it('of a plan by deciding tells each reading, and counts it to planning', async () => {
    const next = (written: string) => new Map([[written.endsWith('"tool": "') ? 'find_station"}' : '1', 1]]);
    const name = (written: string) => new Map([['"name": "lake"}'.slice(written.length), 1]]);
    const model = createScriptedModel({
      readers: ({ about }, index) => ({
        probabilities:
          index === 0 ? new Map([['find_station', 1]]) : about?.promptName === 'fill-arguments' ? name : next,
      }),
    });
    const { calls, usage } = await aRunner(model).run({ case: aCase({ expected: EXPECTED }), repeat: 0 });
    // Five readings of the request, and three of an empty one.
    expect(calls.map(({ stage }) => stage)).toEqual(['selection', ...Array.from({ length: 8 }, () => 'planning')]);
    expect(usage).toMatchObject({ planning: { calls: expect.any(Number) } });
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

const NAMES = Array.from({ length: 60 }, (_, place) => `t${place}`);
const own = createTool('own', {}, undefined, { scope: { user: 'ann' } });
const viewOf = createScope(createCatalog([...NAMES.map((name) => createTool(name)), own]));
const view = viewOf({});
const one = aCase({ candidates: ['t1', 't2'], expected: { tools: ['t1', 't1', 't3'] } });
const offer = (distractors: number, seed = 1, id = 'c1') =>
  offeredTools({ ...one, id }, view, { ...JUDGING, distractors, seed }) ?? [];

describe('the tools that a case may use', () => {
  it('are all, unless only the candidates are asked for', () => {
    expect(offeredTools(one, view, JUDGING)).toBeUndefined();
    expect(offer(0)).toEqual(['t1', 't2']);
  });

  it('are the candidates and so many others, the same for the same seed and case', () => {
    const offered = offer(20);
    expect(new Set(offered).size).toBe(22);
    expect(offered).toEqual(expect.arrayContaining(['t1', 't2']));
    expect(offer(20)).toEqual(offered);
    expect(offer(20, 2)).not.toEqual(offered);
    expect(offer(20, 1, 'c2')).not.toEqual(offered);
  });

  it('are never those of another user', () => {
    expect(offer(1_000)).toHaveLength(NAMES.length);
    expect(offer(1_000)).not.toContain('own');
  });

  it('for planning alone are the expected ones and others up to the most that are handed on', () => {
    const given = (maxTools: number, given = one) => offeredTools(given, view, { ...JUDGING, only: 'plan', maxTools });
    expect(new Set(given(8)).size).toBe(8);
    expect(given(8)).toEqual(expect.arrayContaining(['t1', 't3']));
    expect(given(1)).toEqual(['t1', 't3']);
    expect(given(8, aCase({ expected: { tools: [] } }))).toHaveLength(8);
  });
});

const LOADER = new URL('../support/typescript-loader.mjs', import.meta.url).href;
const SETTINGS = new URL('../../src/eval/run-summary.ts', import.meta.url).href;

function daysWhere(zones: readonly string[]): string[] {
  const script = `const { dayOf } = await import('${SETTINGS}');
    for (const zone of ${JSON.stringify(zones)}) console.log(((process.env.TZ = zone), dayOf(undefined, {})));`;
  const args = ['--import', LOADER, '--input-type=module', '--eval', script];
  return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim().split('\n');
}

describe('the day of the cases that name none', () => {
  it('is the one that is given, else that of the run which goes on', () => {
    expect(dayOf('2025-01-02', { today: '2024-02-29' })).toBe('2025-01-02');
    expect(dayOf(undefined, { today: '2024-02-29' })).toBe('2024-02-29');
  });

  it('is today where the machine stands, as winnow plan has it', () => {
    // At any moment it is another day in one of the two than in Greenwich.
    const zones = ['Pacific/Kiritimati', 'Pacific/Pago_Pago'];
    const days = () =>
      zones.map((timeZone) => new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(new Date()));
    const before = days();
    const found = daysWhere(zones);
    expect([before, days()]).toContainEqual(found);
  });
});

describe('settings of a run that goes on', () => {
  const kept = { model: 'm', filter: { limit: 1 } };

  it('are the same, or each that differs is named with its path', () => {
    refuseOtherSettings(kept, { filter: { limit: 1 }, model: 'm' });
    expect(differencesOf(kept, { model: 'm', filter: { limit: 2, seed: 1 } })).toEqual([
      'filter.limit: 1 there, 2 here',
      'filter.seed: nothing there, 1 here',
    ]);
    const long = 'x'.repeat(100);
    expect(differencesOf({ sets: [long, { tags: ['a', 'b'] }] }, { sets: [long, { tags: ['a', 'c'] }] })).toEqual([
      'sets.1.tags.1: "b" there, "c" here',
    ]);
    expect(() => refuseOtherSettings(kept, { ...kept, model: 'n' })).toThrow(
      `The run can't go on with other settings: model: "m" there, "n" here. Give the same flags, or another --out.`,
    );
  });
});

const isSelection = (system: string) => system.includes('selected_tools');

async function sourceOf(count: number) {
  const caseFile = join(temporaryFolder(), 'cases.jsonl');
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
  path = temporaryFolder(),
  run = answerAll,
  count = 6,
  jobs = 2,
  repeats = 1,
  ...more
}: RunParts = {}) {
  const start = aStart({ planned: count * repeats, cases: count });
  const source = await sourceOf(count);
  const dispatch = createLocalDispatcher(run, jobs);
  const end = await inRun(path, (store) => evaluate({ store, source, repeats, dispatch, start, ...more }));
  return { ...end, path, keys: await keysIn(path) };
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
    const { keys, failure } = await evaluated({ run, count: 25, jobs: 1 });
    expect(keys).toHaveLength(20);
    expect(failure?.message).toMatch(
      /20 cases in a row failed, the last with model_unavailable: refused Go on with --resume/u,
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
    const path = temporaryFolder();
    const seen: boolean[] = [];
    const run: CaseRunner = async (job) => {
      seen.push((await readSummary(path)).interrupted);
      return answerAll(job);
    };
    await evaluated({ path, run, count: 2 });
    expect(seen).toEqual([true, true]);
    expect((await readSummary(path)).interrupted).toBe(false);
  });

  it('of real planners keeps the prompts that its records name', async () => {
    await inRun(temporaryFolder(), async (store) => {
      const { keepPrompt: onStablePart } = store;
      const planners = createSuitePlanners(
        { catalog },
        { model: aModel(), options: { passthroughTools: 0 }, onStablePart },
      );
      const dispatch = createLocalDispatcher(createCaseRunner({ suites: new Map([['set', planners]]), ...JUDGING }), 1);
      await evaluate({ store, source: await sourceOf(2), repeats: 1, dispatch, start: aStart({ planned: 2 }) });
      const texts = await store.prompts();
      for await (const { calls } of store.records())
        expect(calls.map(({ system }) => isSelection(texts.get(system) ?? ''))).toEqual([true, false]);
    });
  });
});
