import { describe, expect, it } from 'vitest';
import type { CallResult } from '../../../src/agents/contracts.js';
import { type PlanRunEvent, planRunEventSchema } from '../../../src/agents/runs/plan-run.js';
import { type RunPlanOptions, resumePlan, runPlan } from '../../../src/agents/runs/run-plan.js';
import type { StepCall } from '../../../src/agents/runs/run-step.js';
import { fail } from '../../../src/agents/sandbox/failure.js';
import { openStore } from '../../../src/agents/store/open-store.js';
import { createScript, done, planOf, statuses } from './setup.js';

describe('a retry', () => {
  const retry = { retries: 2, delayMs: 0 };
  const attempt = async (code: Parameters<typeof fail>[0], options: Partial<RunPlanOptions>) => {
    const script = createScript({ t: [fail(code, 'x'), fail(code, 'x'), done(1)] });
    const run = await runPlan(planOf(['s1', 't']), { run: script.run, retry, ...options });
    return [run.steps.s1?.status, script.calls.length, run.steps.s1?.attempts];
  };

  it.each<[Parameters<typeof fail>[0], boolean, unknown[]]>([
    ['overloaded', false, ['done', 3, 3]],
    ['rate_limited', false, ['done', 3, 3]],
    ['tool_unavailable', false, ['done', 3, 3]],
    ['timeout', true, ['done', 3, 3]],
    ['connection_lost', true, ['done', 3, 3]],
    ['timeout', false, ['failed', 1, 1]],
    ['connection_lost', false, ['failed', 1, 1]],
    ['invalid_arguments', true, ['failed', 1, 1]],
    ['tool_failed', true, ['failed', 1, 1]],
    ['address_refused', true, ['failed', 1, 1]],
  ])('of %s (may be repeated: %s) is made only where it is safe and may help', async (code, isRepeatable, expected) => {
    expect(await attempt(code, { isRepeatable: () => isRepeatable })).toEqual(expected);
  });

  it('is not made unless it is asked for, and can be asked for a step', async () => {
    expect(await attempt('overloaded', { retry: {} })).toEqual(['failed', 1, 1]);
    expect(await attempt('overloaded', { retry: { steps: { s1: 2 }, delayMs: 0 } })).toEqual(['done', 3, 3]);
    expect(await attempt('overloaded', { retry: { retries: 2, steps: { s1: 0 }, delayMs: 0 } })).toEqual([
      'failed',
      1,
      1,
    ]);
  });

  it('is not made of what policy refused', async () => {
    const refused: CallResult = { ok: false, code: 'too_risky', reason: 'x', next: 'y' };
    const script = createScript({ t: [refused] });
    await runPlan(planOf(['s1', 't']), { run: script.run, retry, isRepeatable: () => true });
    expect(script.calls).toHaveLength(1);
  });
});

describe('a step', () => {
  it('tells its progress as events, and keeps the blocks that its tool answered', async () => {
    const content = [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }];
    const answer = async ({ onProgress }: StepCall): Promise<CallResult> => {
      onProgress({ progress: 1, total: 2, message: 'half' });
      return { ok: true, output: [{ type: 'image', bytes: 3 }], content, notes: [], milliseconds: 1 };
    };
    const events: PlanRunEvent[] = [];
    const { run } = createScript({ t: [answer] });
    const ended = await runPlan(planOf(['s1', 't']), { run, runId: 'r', onEvent: (event) => events.push(event) });
    const progress = { type: 'progress', run: 'r', step: 's1', progress: 1, total: 2, message: 'half' };
    expect(events).toContainEqual(progress);
    expect(planRunEventSchema.parse(progress)).toEqual(progress);
    expect(ended.steps.s1).toMatchObject({ status: 'done', content, output: [{ bytes: 3 }] });
  });
});

describe('a run that is cancelled', () => {
  it('stops what runs, starts nothing more, and keeps what was done', async () => {
    const controller = new AbortController();
    const script = createScript({
      quick: [done('kept')],
      slow: [
        ({ signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve(fail('cancelled', 'stopped')));
            controller.abort();
          }),
      ],
    });
    const plan = planOf(['s1', 'quick'], ['s2', 'slow', {}, ['s1']], ['s3', 'quick', {}, ['s2']]);
    const run = await runPlan(plan, { run: script.run, signal: controller.signal });
    expect(run.state).toBe('cancelled');
    expect(statuses(run)).toEqual({ s1: 'done', s2: 'failed', s3: 'pending' });
    expect(script.made()).toEqual(['s1', 's2']);
  });

  it('keeps the result of a step that was done all the same', async () => {
    const controller = new AbortController();
    const script = createScript({
      t: [
        async () => {
          controller.abort();
          return done('written');
        },
      ],
    });
    const run = await runPlan(planOf(['s1', 't'], ['s2', 't', {}, ['s1']]), {
      run: script.run,
      signal: controller.signal,
    });
    expect(run.steps.s1).toMatchObject({ status: 'done', output: 'written' });
    expect(run).toMatchObject({ state: 'cancelled', steps: { s2: { status: 'pending' } } });
  });
});

describe('the approval of a plan as a whole', () => {
  const grants = ({ calls }: ReturnType<typeof createScript>) =>
    calls.map(({ step, plan }) => [step, plan?.isFirst ? plan.approval : undefined]);
  const open = { approval: 'a', user: 'ann', runId: 'r' };

  it('goes with the first call of each step, also after the run was read from the store, and with no retry', async () => {
    const { planRuns: store } = await openStore();
    const waiting: CallResult = { ok: false, code: 'needs_approval', reason: 'high', next: 'x', approval: 'b' };
    const script = createScript({ act: [fail('overloaded', 'x'), waiting, done(1)], last: [done(2)] });
    const parts = { run: script.run, store, user: 'ann' };
    const retry = { retries: 1, delayMs: 0 };
    await runPlan(planOf(['s1', 'act'], ['s2', 'last', {}, ['s1']]), { ...parts, ...open, retry });
    await resumePlan('r', parts);
    expect(grants(script)).toEqual([
      ['s1', 'a'],
      ['s1', undefined],
      ['s1', undefined],
      ['s2', 'a'],
    ]);
  });

  it('ends with the plan: a new one has none, also after the run was read from the store', async () => {
    const { planRuns: store } = await openStore();
    const answers = [fail('tool_failed', 'gone'), done(1)];
    const script = createScript({ one: answers, two: answers });
    const parts = { run: script.run, store, user: 'ann' };
    const plan = planOf(['s1', 'one'], ['s2', 'two', {}, ['s1']]);
    const run = await runPlan(plan, { ...parts, ...open, replan: async () => plan });
    expect(run.state).toBe('failed');
    await resumePlan('r', parts);
    expect(grants(script)).toEqual([['s1', 'a'], ...['s1', 's2', 's2'].map((step) => [step, undefined])]);
  });
});
