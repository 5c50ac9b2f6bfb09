import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PlanRunEvent, planRunEventSchema, planRunSchema } from '../../../src/agents/runs/plan-run.js';
import { runPlan } from '../../../src/agents/runs/run-plan.js';
import type { RunStep } from '../../../src/agents/runs/run-step.js';
import { createToolRunner } from '../../../src/agents/runs/tool-runner.js';
import { createFunctionExecutor, type ToolFunction } from '../../../src/agents/sandbox/executors/functions.js';
import { fail } from '../../../src/agents/sandbox/failure.js';
import { createSandbox } from '../../../src/agents/sandbox/sandbox.js';
import { createTool } from '../../support/create-tool.js';
import { createScript, done, planOf, type StepSpec, statuses } from './setup.js';

const WATER = planOf(
  ['s1', 'lookup', { name: '盘石头水库' }],
  ['s2', 'level', { stcd: '${s1.stcd}' }],
  ['s3', 'report', { text: '${s2.value} m at ${s1.stcd}', raw: '${s2}' }],
);

describe('a plan', () => {
  it('runs with a real sandbox, each step with the values of those before', async () => {
    const functions: Record<string, ToolFunction> = {
      lookup: () => ({ stcd: '31005650' }),
      level: ({ stcd }) => ({ value: stcd === '31005650' ? 251.3 : 0 }),
      report: (input) => input,
    };
    const tools = new Map(Object.keys(functions).map((name) => [name, createTool(name)]));
    const sandbox = createSandbox({ executors: [createFunctionExecutor(functions)] });
    const run = await runPlan(WATER, createToolRunner(sandbox, tools));
    expect(run.state).toBe('done');
    expect(run.steps.s3).toMatchObject({
      status: 'done',
      attempts: 1,
      arguments: { text: '251.3 m at 31005650', raw: { value: 251.3 } },
      output: { text: '251.3 m at 31005650', raw: { value: 251.3 } },
    });
    expect(planRunSchema.parse(JSON.parse(JSON.stringify(run)))).toEqual(JSON.parse(JSON.stringify(run)));
  });

  it('starts a step as soon as what it needs is done, whatever else still runs', async () => {
    const started: string[] = [];
    const ends = new Map<string, () => void>();
    const run: RunStep = ({ step }) => {
      started.push(step);
      return new Promise((resolve) => ends.set(step, () => resolve(done(step))));
    };
    const plan = planOf(['a', 't'], ['b', 't'], ['c', 't', {}, ['a']], ['d', 't', {}, ['b', 'c']]);
    const running = runPlan(plan, { run });
    const end = async (id: string) => {
      await nextTurn();
      ends.get(id)?.();
      await nextTurn();
    };
    await nextTurn();
    expect(started).toEqual(['a', 'b']);
    await end('a');
    expect(started).toEqual(['a', 'b', 'c']);
    await end('c');
    expect(started).toEqual(['a', 'b', 'c']);
    await end('b');
    expect(started).toEqual(['a', 'b', 'c', 'd']);
    await end('d');
    expect((await running).state).toBe('done');
  });

  it('runs no more steps at once than it may', async () => {
    let [now, most] = [0, 0];
    const run: RunStep = async () => {
      most = Math.max(most, ++now);
      await nextTurn();
      now -= 1;
      return done(1);
    };
    const steps = Array.from({ length: 20 }, (_, id): StepSpec => [`s${id}`, 't']);
    await runPlan(planOf(...steps), { run, concurrency: 3 });
    expect(most).toBe(3);
  });

  it('loses by a failed step what depends on it, and nothing else', async () => {
    const script = createScript({ bad: [fail('tool_failed', 'no such station')], good: [done(1)] });
    const plan = planOf(
      ['s1', 'bad'],
      ['s2', 'good', { a: '${s1.x}' }],
      ['s3', 'good', { a: '${s2.x}' }],
      ['s4', 'good'],
      ['s5', 'good', {}, ['s4']],
    );
    const run = await runPlan(plan, { run: script.run });
    expect(run.state).toBe('failed');
    expect(statuses(run)).toEqual({ s1: 'failed', s2: 'blocked', s3: 'blocked', s4: 'done', s5: 'done' });
    expect(run.steps.s1?.failure).toMatchObject({ code: 'tool_failed', reason: 'no such station' });
    expect(run.steps.s3?.failure).toMatchObject({ code: 'blocked', reason: 'It needs s2, which is not done.' });
  });

  it('does not call a tool with a reference to what is not there', async () => {
    const script = createScript({ lookup: [done({ code: 1 })], level: [done(1)], report: [done(1)] });
    const run = await runPlan(WATER, { run: script.run });
    expect(script.made()).toEqual(['s1']);
    expect(run.steps.s2?.failure).toMatchObject({
      code: 'unresolved_reference',
      issues: ['s2.arguments.stcd: "${s1.stcd}" is not in the result of s1; it holds code'],
    });
  });

  it('survives a run function that throws, and takes the outcome as open', async () => {
    const run = await runPlan(planOf(['s1', 't']), { run: () => Promise.reject(new Error('the wire is cut')) });
    expect(run.steps.s1).toMatchObject({
      status: 'failed',
      failure: { code: 'connection_lost', reason: expect.stringContaining('the wire is cut') },
    });
  });

  it('hands on who asks, and which step of which run it is', async () => {
    const script = createScript({ t: [done(1)] });
    const run = await runPlan(planOf(['s1', 't']), { run: script.run, user: 'anna', session: 'x', runId: 'r1' });
    expect(script.calls[0]).toMatchObject({ run: 'r1', step: 's1', tool: 't', user: 'anna', session: 'x' });
    expect(run.id).toBe('r1');
  });

  it.each([
    ['no steps', { goal: '', steps: [] }, 'plan.steps'],
    ['two steps of one id', planOf(['s1', 't'], ['s1', 't']), 's1: two steps have this id'],
    ['a step that nobody knows', planOf(['s1', 't', {}, ['s9']]), 's1: needs "s9", which is no step of the plan'],
    ['a reference to nothing', planOf(['s1', 't', { a: '${s7.x}' }]), 's1: needs "s7"'],
    ['a step that needs itself', planOf(['s1', 't', { a: '${s1.x}' }]), 's1: need each other in a circle'],
    ['a circle', planOf(['s1', 't', {}, ['s2']], ['s2', 't', {}, ['s1']], ['s3', 't']), 's1, s2: need each other'],
    ['an id that is no name', planOf(['__proto__', 't']), 'not allowed'],
  ])('is refused before anything runs when it has %s', async (_, plan, words) => {
    const script = createScript({});
    await expect(runPlan(plan, { run: script.run })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(words),
    });
    expect(script.calls).toEqual([]);
  });

  it('of any form ends, with each step done, failed or blocked as those before it say', async () => {
    const plans = fc.array(fc.record({ needs: fc.array(fc.nat(30), { maxLength: 4 }), works: fc.boolean() }), {
      minLength: 1,
      maxLength: 25,
    });
    await fc.assert(
      fc.asyncProperty(plans, async (specs) => {
        const needsOf = (index: number) => [
          ...new Set((specs[index]?.needs ?? []).map((need) => need % (index + 1)).filter((need) => need < index)),
        ];
        const steps = specs.map(
          ({ works }, index): StepSpec => [
            `s${index}`,
            works ? 'good' : 'bad',
            {},
            needsOf(index).map((need) => `s${need}`),
          ],
        );
        const script = createScript({ good: [done(1)], bad: [fail('tool_failed', 'x')] });
        const run = await runPlan(planOf(...steps), { run: script.run });
        const expected: string[] = [];
        for (const [index, { works }] of specs.entries()) {
          const isBlocked = needsOf(index).some((need) => expected[need] !== 'done');
          expected.push(isBlocked ? 'blocked' : works ? 'done' : 'failed');
        }
        expect(specs.map((_, index) => run.steps[`s${index}`]?.status)).toEqual(expected);
        expect(script.calls).toHaveLength(expected.filter((status) => status !== 'blocked').length);
      }),
      { seed: 7, numRuns: 60 },
    );
  });
});

describe('a dry run', () => {
  it('shows each call as far as it is known, and calls nothing', async () => {
    const script = createScript({});
    const run = await runPlan(WATER, { run: script.run, dryRun: true });
    expect(script.calls).toEqual([]);
    expect(run).toMatchObject({
      state: 'planned',
      steps: {
        s1: { status: 'planned', arguments: { name: '盘石头水库' } },
        s2: { status: 'planned', arguments: { stcd: '${s1.stcd}' }, unresolved: ['${s1.stcd}'] },
        s3: { unresolved: ['${s2.value}', '${s1.stcd}', '${s2}'] },
      },
    });
    expect(run.steps.s1).not.toHaveProperty('unresolved');
  });
});

describe('the events of a run', () => {
  it('tell every change, in its order, in the documented form', async () => {
    const events: PlanRunEvent[] = [];
    const script = createScript({ lookup: [fail('overloaded', 'busy'), done({ stcd: 1 })] });
    await runPlan(planOf(['s1', 'lookup']), {
      run: script.run,
      retry: { retries: 1, delayMs: 0 },
      onEvent: (event) => events.push(event),
    });
    expect(
      events.map((event) =>
        event.type === 'step' ? `step ${event.step.status}` : event.type === 'run' ? `run ${event.state}` : event.type,
      ),
    ).toEqual(['run running', 'step running', 'retry', 'step done', 'run done']);
    for (const event of events) expect(planRunEventSchema.parse(event)).toEqual(event);
  });

  it('can not stop the run when the listener throws', async () => {
    const script = createScript({ t: [done(1)] });
    const run = await runPlan(planOf(['s1', 't']), {
      run: script.run,
      onEvent: () => {
        throw new Error('deaf');
      },
    });
    expect(run).toMatchObject({ state: 'done', notes: expect.arrayContaining(['onEvent failed: deaf']) });
  });
});
