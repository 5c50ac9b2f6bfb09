/** Loops and conditions of a plan: which calls there are is read from results; which tool, never. */
import { describe, expect, it } from 'vitest';
import type { RunnablePlan } from '../../../src/agents/runs/plan-run.js';
import { resumePlan, runPlan } from '../../../src/agents/runs/run-plan.js';
import { fail } from '../../../src/agents/sandbox/failure.js';
import { openStore } from '../../../src/agents/store/open-store.js';
import type { PlanRuns } from '../../../src/agents/store/sql/plan-runs.js';
import { createScript, done, statuses } from './setup.js';

type Step = RunnablePlan['steps'][number];
const step = (id: string, tool: string, more: Partial<Step> = {}): Step => ({ id, tool, arguments: {}, ...more });
const plan = (...steps: Step[]): RunnablePlan => ({ goal: 'test', steps });

const ROOMS = [
  { id: 7, level: 3 },
  { id: 8, level: 9 },
  { id: 9, level: 5 },
];
const LIST = step('s1', 'list');
const CLOSE = step('s2', 'close', {
  each: '${s1.rooms}',
  arguments: { room: '${item.id}', why: 'level ${item.level}' },
});
const REPORT = step('s3', 'report', { arguments: { all: '${s2}', second: '${s2[1].closed}' } });
const closing = () =>
  createScript({
    list: [done({ rooms: ROOMS, count: 3, name: 'north', none: [] })],
    close: [async (call) => done({ closed: call.arguments.room })],
    report: [done('sent')],
  });

describe('a step with `each`', () => {
  it('is run once an item, and its result is the list of what they gave', async () => {
    const script = closing();
    const run = await runPlan(plan(LIST, CLOSE, REPORT), { run: script.run });
    expect(statuses(run)).toEqual({
      s1: 'done',
      s2: 'done',
      's2[0]': 'done',
      's2[1]': 'done',
      's2[2]': 'done',
      s3: 'done',
    });
    expect(script.calls.slice(1, 4).map(({ step: id, arguments: given }) => [id, given])).toEqual([
      ['s2[0]', { room: 7, why: 'level 3' }],
      ['s2[1]', { room: 8, why: 'level 9' }],
      ['s2[2]', { room: 9, why: 'level 5' }],
    ]);
    expect(run.steps.s3?.arguments).toEqual({ all: [{ closed: 7 }, { closed: 8 }, { closed: 9 }], second: 8 });
    expect(run.state).toBe('done');
  });

  it('is run for none of an empty list, with an empty list as its result', async () => {
    const run = await runPlan(plan(LIST, { ...CLOSE, each: '${s1.none}' }), { run: closing().run });
    expect(run.steps.s2).toMatchObject({ status: 'done', output: [] });
  });

  it.each([
    ['${s1.count}', 's2: "${s1.count}" is no list, but integer'],
    ['${s1.gone}', 's2: "${s1.gone}" is not in the result of s1; it holds rooms, count, name, none'],
  ])('fails, and calls nothing, where %s is no list', async (each, reason) => {
    const script = closing();
    const run = await runPlan(plan(LIST, { ...CLOSE, each }, REPORT), { run: script.run });
    expect(run.steps.s2).toMatchObject({ status: 'failed', failure: { code: 'unresolved_reference', reason } });
    expect(run.steps.s3?.status).toBe('blocked');
    expect(script.made()).toEqual(['s1']);
  });

  it('runs at most a hundred', async () => {
    const script = createScript({
      list: [done({ rooms: Array.from({ length: 101 }, (_, id) => ({ id, level: 1 })) })],
    });
    const run = await runPlan(plan(LIST, CLOSE), { run: script.run });
    expect(run.steps.s2?.failure?.reason).toBe('s2: "${s1.rooms}" has 101 items, and at most 100 are run');
    expect(script.made()).toEqual(['s1']);
  });

  it('goes on with the items that are not done, and repeats none', async () => {
    const store = await openStore();
    const script = createScript({
      list: [done({ rooms: ROOMS })],
      close: [done('a'), fail('tool_unavailable', 'away'), done('c'), done('b')],
    });
    const options = { run: script.run, store: store.planRuns, concurrency: 1 };
    const first = await runPlan(plan(LIST, CLOSE), options);
    expect(first.state).toBe('failed');
    expect(first.steps.s2?.failure).toMatchObject({
      code: 'items_failed',
      reason: '1 of 3 items are not done, first s2[1]: away',
    });
    const second = await resumePlan(first.id, options);
    expect(second.steps.s2).toMatchObject({ status: 'done', output: ['a', 'b', 'c'] });
    expect(script.made()).toEqual(['s1', 's2[0]', 's2[1]', 's2[2]', 's2[1]']);
    await store.close();
  });

  it('leaves an item of unknown outcome alone until somebody names it', async () => {
    const store = await openStore();
    const script = createScript({
      list: [done({ rooms: ROOMS.slice(0, 1) })],
      close: [fail('timeout', 'slow'), done(1)],
    });
    const options = { run: script.run, store: store.planRuns };
    const { id } = await runPlan(plan(LIST, CLOSE), options);
    const again = await resumePlan(id, options);
    expect(statuses(again)).toEqual({ s1: 'done', s2: 'failed', 's2[0]': 'unknown' });
    expect(script.made()).toEqual(['s1', 's2[0]']);
    const named = await resumePlan(id, { ...options, repeat: ['s2[0]'] });
    expect(named.state).toBe('done');
    await store.close();
  });

  it('waits for the approval of each item', async () => {
    const script = createScript({
      list: [done({ rooms: ROOMS.slice(0, 2) })],
      close: [{ ...fail('cancelled', 'ask'), code: 'needs_approval', approval: 'a1' }, done(2), done(1)],
    });
    const first = await runPlan(plan(LIST, CLOSE), { run: script.run, concurrency: 1 });
    expect(first.state).toBe('paused');
    expect(statuses(first)).toEqual({ s1: 'done', s2: 'needs_approval', 's2[0]': 'needs_approval', 's2[1]': 'done' });
    const second = await resumePlan(first, { run: script.run });
    expect(second.steps.s2).toMatchObject({ status: 'done', output: [1, 2] });
    expect(script.calls.at(-1)).toMatchObject({ step: 's2[0]', approval: 'a1' });
  });

  it('ends a run that would have thousands of them', async () => {
    const inputs = { all: { value: Array.from({ length: 100 }, (_, id) => id) } };
    const steps = Array.from({ length: 30 }, (_, at) => step(`s${at + 1}`, 'close', { each: '${input.all}' }));
    const run = await runPlan({ steps, inputs }, { run: createScript({ close: [done(1)] }).run });
    expect(run.state).toBe('failed');
    expect(Object.keys(run.steps)).toHaveLength(30 + 1_000);
    expect(run.steps.s30?.failure?.reason).toBe('s30: one run has at most 1000 items of loops');
  });

  it('waits for the items that run when the store fails, and writes nothing after that', async () => {
    const { planRuns } = await openStore();
    const events: string[] = [];
    const setStep: PlanRuns['setStep'] = async (own, given) => {
      if (given.id === 's2[0]' && Object(given.state).status === 'done') throw new Error('the disk is full');
      return planRuns.setStep(own, given);
    };
    const renew: PlanRuns['renew'] = async (own, until) => {
      if (until <= new Date().toISOString()) events.push('given back');
      return planRuns.renew(own, until);
    };
    const store = { ...planRuns, setStep, renew };
    const late = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      events.push('late item');
      return done(2);
    };
    const script = createScript({ list: [done({ rooms: ROOMS.slice(0, 2) })], close: [done(1), late] });
    await expect(runPlan(plan(LIST, CLOSE), { run: script.run, store })).rejects.toThrow('the disk is full');
    expect(events).toEqual(['late item', 'given back']);
  });

  it('reads nothing of an item as a reference, and leaves `${item}` alone elsewhere', async () => {
    const script = createScript({
      list: [done({ secret: 'x', rooms: ['${s1.secret}'] })],
      close: [done(1)],
      say: [done(1)],
    });
    await runPlan(
      plan(
        LIST,
        step('s2', 'close', { each: '${s1.rooms}', arguments: { room: '${item}', text: 'of ${item}' } }),
        step('s3', 'say', { arguments: { text: 'echo ${item}' } }),
      ),
      { run: script.run },
    );
    const given = script.calls.map(({ arguments: values }) => values);
    expect(given).toContainEqual({ room: '${s1.secret}', text: 'of ${s1.secret}' });
    expect(given).toContainEqual({ text: 'echo ${item}' });
  });
});

describe('a step with `when`', () => {
  const LEVEL = step('s1', 'level');
  const whenOf = (is: string, to?: unknown, value = '${s1.v}') =>
    ({ value, is, ...(to === undefined ? {} : { to }) }) as Step['when'];

  it.each([
    [9, 'above', 5, true],
    [5, 'above', 5, false],
    [4, 'below', 5, true],
    ['2026-03-01', 'above', '2026-02-28', true],
    ['open', 'equal', 'open', true],
    [5, 'equal', '5', false],
    [true, 'different', false, true],
    [null, 'empty', undefined, true],
    [[], 'empty', undefined, true],
    [{}, 'filled', undefined, false],
    [0, 'filled', undefined, true],
  ])('%j %s %j: %s', async (v, is, to, isRun) => {
    const script = createScript({ level: [done({ v })], warn: [done('told')] });
    const run = await runPlan(plan(LEVEL, step('s2', 'warn', { when: whenOf(is, to) })), { run: script.run });
    expect(script.made()).toEqual(isRun ? ['s1', 's2'] : ['s1']);
    expect(run.state).toBe('done');
  });

  it('takes along what refers to it, and nothing that only waits for it', async () => {
    const script = createScript({ level: [done({ v: 1 })], warn: [done(1)], note: [done(1)] });
    const run = await runPlan(
      plan(
        LEVEL,
        step('s2', 'warn', { when: whenOf('above', 5) }),
        step('s3', 'note', { arguments: { text: '${s2.id}' } }),
        step('s4', 'note', { dependsOn: ['s2'] }),
      ),
      { run: script.run },
    );
    expect(statuses(run)).toEqual({ s1: 'done', s2: 'skipped', s3: 'skipped', s4: 'done' });
    expect(run.steps.s3?.notes).toEqual(['it refers to s2, which was skipped']);
    expect(run.state).toBe('done');
  });

  it('is asked for each item, and leaves out those for which it does not hold', async () => {
    const script = closing();
    const when = whenOf('above', 4, '${item.level}');
    const run = await runPlan(plan(LIST, { ...CLOSE, when }), { run: script.run });
    expect(statuses(run)).toMatchObject({ s2: 'done', 's2[0]': 'skipped', 's2[1]': 'done', 's2[2]': 'done' });
    expect(run.steps.s2?.output).toEqual([{ closed: 8 }, { closed: 9 }]);
  });

  it('fails where two values have no order, and calls nothing', async () => {
    const script = createScript({ level: [done({ v: 'high' })], warn: [done(1)] });
    const run = await runPlan(plan(LEVEL, step('s2', 'warn', { when: whenOf('above', 5) })), { run: script.run });
    expect(run.steps.s2?.failure?.reason).toBe('s2: "${s1.v}" is string and can\'t be above 5');
    expect(script.made()).toEqual(['s1']);
  });
});

describe('inputs of a plan', () => {
  const INPUTS: RunnablePlan = {
    inputs: { city: { value: 'Paris' } },
    steps: [
      step('s1', 't', { arguments: { city: '${input.city}', text: 'in ${input.city}' }, from: { city: 'step' } }),
    ],
  };

  it('stand in arguments, and are read for no references', async () => {
    const script = createScript({ t: [done(1)] });
    const run = await runPlan({ ...INPUTS, inputs: { city: { value: '${s1.x}' } } }, { run: script.run });
    expect(script.calls[0]).toMatchObject({ arguments: { city: '${s1.x}', text: 'in ${s1.x}' } });
    expect(script.calls[0]?.sources?.city).toEqual({ source: 'step', references: ['${input.city}'] });
    expect(run.state).toBe('done');
  });

  it.each([
    [{ ...INPUTS, inputs: {} }, 's1: "${input.city}" is no input of the plan; it has '],
    [plan(LIST, { ...CLOSE, each: 'all of ${s1.rooms}' }), 's2.each: must be one reference, such as "${s1.items}"'],
    [plan(LIST, { ...CLOSE, each: '${item}' }), 's2.each: must be one reference, such as "${s1.items}"'],
    [
      plan(LIST, step('s2', 't', { when: { value: '5', is: 'above', to: 4 } })),
      's2.when.value: must be one reference, such as "${s1.items}"',
    ],
    [plan(step('s2', 't', { each: '${s1.rooms}' })), 's2: needs "s1", which is no step of the plan'],
  ])('a plan that can not be run is refused: %#', async (wrong, issue) => {
    await expect(runPlan(wrong, { run: createScript({}).run })).rejects.toMatchObject({
      code: 'invalid_request',
      issues: expect.arrayContaining([issue]),
    });
  });

  it('and 10,000 references are what a plan may have', async () => {
    const steps = [step('s1', 't', { arguments: { a: '${input.k}'.repeat(10_001) } })];
    const running = runPlan({ inputs: { k: { value: '' } }, steps }, { run: createScript({}).run });
    await expect(running).rejects.toMatchObject({
      issues: ['steps: 10001 references, more than 10000; make several plans'],
    });
  });

  it('are 200 at most, and of those ten are named', async () => {
    const inputsOf = (length: number) =>
      Object.fromEntries(Array.from({ length }, (_, place) => [`k${place}`, { value: 'x' }]));
    const steps = [step('s1', 't', { arguments: { a: '${input.z}' } })];
    const issuesOf = (length: number) =>
      runPlan({ inputs: inputsOf(length), steps }, { run: createScript({}).run }).catch(({ issues }) => issues);
    expect(await issuesOf(201)).toEqual(['inputs: it has 201, and 200 are read at most']);
    expect(await issuesOf(200)).toEqual([
      's1: "${input.z}" is no input of the plan; it has k0, k1, k2, k3, k4, k5, k6, k7, k8, k9 and 190 more',
    ]);
  });

  it('put no more into texts than fits, and are no text where they are malformed', async () => {
    const script = createScript({ t: [done(1)] });
    const inputs = { x: { value: 'x'.repeat(400_000) } };
    const large = step('s1', 't', { arguments: { a: '${input.x}'.repeat(1_200) } });
    const wrong = step('s2', 't', { arguments: { a: 'in ${inputs.x} now' } });
    const run = await runPlan({ inputs, steps: [large, wrong] }, { run: script.run });
    expect(run.steps.s1?.failure?.reason).toBe(
      's1.arguments: with their references more than the 1048576 bytes that a call may have',
    );
    expect(run.steps.s2?.failure?.reason).toBe('s2.arguments.a: "${inputs.x}" is no reference; write ${s1.field}');
    expect(script.calls).toEqual([]);
  });
});
