import { describe, expect, it } from '@jest/globals';
import { WinnowError } from '../../src/core/errors.js';
import type { Model } from '../../src/core/model/model.js';
import { createScriptedModel } from '../support/scripted-model.js';
import { aModel, aRunner, EXPECTED, PLAN, SELECTED, TOOLS } from './runner-setup.js';
import { aCase } from './setup.js';

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
      comparison: { steps: [{ expected: 0, got: 0, arguments: { name: 'same' } }] },
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

  it('that has a valid plan only after a repair says so, and is right all the same', async () => {
    const model = createScriptedModel({ answers: [JSON.stringify(SELECTED), '{"kind":"poem"}', JSON.stringify(PLAN)] });
    const record = await aRunner(model).run({ case: aCase({ expected: EXPECTED }), repeat: 0 });
    expect(record).toMatchObject({
      result: { kind: 'plan', repaired: true },
      scores: { right: 1, valid: 1, validFirst: 0, planRepaired: 1 },
      usage: { planning: { calls: 2 } },
    });
  });

  it.each([
    ['', false, false, 0],
    [', unless the case says that it does not', true, false, 1],
    [', unless the run says that it does not', false, true, 1],
  ])('counts upper and lower case%s', async (_, ofCase, ofRun, right) => {
    const loud = { ...PLAN, steps: [{ id: 's1', tool: 'find_station', arguments: { name: 'LAKE' } }] };
    const { run } = aRunner(aModel(undefined, JSON.stringify(loud)), { ignoreCase: ofRun });
    const record = await run({ case: aCase({ expected: EXPECTED, ignoreCase: ofCase }), repeat: 0 });
    expect(record.scores).toMatchObject({ right, argumentNameF1: 1, argumentValueF1: right });
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

  it.each<[string, string[], number]>([
    ['beside a tool', ['nope', 'find_station'], 1],
    ['alone, also after a repair', ['nope'], 1],
  ])('has the names counted that its model made up %s', async (_, names, unknownNames) => {
    const answer = JSON.stringify({ selected_tools: names, reason: 'r' });
    const { scores } = await aRunner(aModel(answer), { only: 'select' }).run({ case: aCase(), repeat: 0 });
    expect(scores).toMatchObject({ unknownNames });
  });

  it('has the names counted that its model made up before a repair, and those after it', async () => {
    const naming = (...names: string[]) => JSON.stringify({ selected_tools: names, reason: 'r' });
    const answers = [naming('nope', 'never'), naming('nothing', 'find_station')];
    const { run } = aRunner(createScriptedModel({ answers }), { only: 'select' });
    expect((await run({ case: aCase(), repeat: 0 })).scores).toMatchObject({ unknownNames: 3, fallback: 0 });
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
    const model = createScriptedModel({
      readers: (_, index) => ({ probabilities: index === 0 ? new Map([['find_station', 1]]) : next }),
    });
    const { calls, usage } = await aRunner(model).run({ case: aCase({ expected: EXPECTED }), repeat: 0 });
    expect(calls.map(({ stage }) => stage)).toEqual(['selection', 'planning', 'planning', 'planning', 'planning']);
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
