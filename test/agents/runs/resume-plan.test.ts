import { describe, expect, it, vi } from 'vitest';
import type { CallResult } from '../../../src/agents/contracts.js';
import { resumePlan, runPlan } from '../../../src/agents/runs/run-plan.js';
import type { RunStep } from '../../../src/agents/runs/run-step.js';
import { createToolRunner } from '../../../src/agents/runs/tool-runner.js';
import { createFunctionExecutor } from '../../../src/agents/sandbox/executors/functions.js';
import { fail } from '../../../src/agents/sandbox/failure.js';
import { createSandbox } from '../../../src/agents/sandbox/sandbox.js';
import { openStore } from '../../../src/agents/store/open-store.js';
import type { PlanRuns } from '../../../src/agents/store/sql/plan-runs.js';
import { createTool } from '../../support/create-tool.js';
import { createScript, done, planOf, statuses } from './setup.js';

describe('a step that needs an approval', () => {
  const waiting: CallResult = {
    ok: false,
    code: 'needs_approval',
    reason: 'high risk',
    next: 'Ask for it.',
    approval: 'a1',
  };
  const plan = planOf(['s1', 'write'], ['s2', 'read', {}, ['s1']], ['s3', 'read']);

  it('pauses what depends on it, and goes on after the grant with the same arguments', async () => {
    const script = createScript({ write: [waiting, done('written')], read: [done('read')] });
    const paused = await runPlan(plan, { run: script.run });
    expect(paused.state).toBe('paused');
    expect(statuses(paused)).toEqual({ s1: 'needs_approval', s2: 'pending', s3: 'done' });
    expect(paused.steps.s1).toMatchObject({ approval: 'a1', failure: { code: 'needs_approval' } });
    const resumed = await resumePlan(paused, { run: script.run });
    expect(resumed.state).toBe('done');
    expect(script.made()).toEqual(['s1', 's3', 's1', 's2']);
    expect(script.calls.map(({ approval }) => approval)).toEqual([undefined, undefined, 'a1', undefined]);
  });

  it('stays paused while nobody has decided, and fails when it was refused', async () => {
    const refused: CallResult = { ok: false, code: 'approval_refused', reason: 'no', next: 'x' };
    const script = createScript({
      write: [waiting, { ...waiting, code: 'approval_pending' }, refused],
      read: [done(1)],
    });
    const paused = await runPlan(plan, { run: script.run });
    const still = await resumePlan(paused, { run: script.run });
    expect(still.state).toBe('paused');
    const failed = await resumePlan(still, { run: script.run });
    expect(failed.state).toBe('failed');
    expect(statuses(failed)).toEqual({ s1: 'failed', s2: 'blocked', s3: 'done' });
  });
});

describe('a run in the store', () => {
  /** The store after a process has ended in the middle of a step: its lease is over, and it renews it no more. */
  async function crashIn(tool: string): Promise<PlanRuns> {
    const { planRuns } = await openStore();
    const claim: PlanRuns['claim'] = (own, { at }) => planRuns.claim(own, { at, until: at });
    const renew = () => new Promise<boolean>(() => undefined);
    await new Promise<void>((reached) => {
      const run: RunStep = (call) => {
        if (call.tool !== tool) return Promise.resolve(done({ from: call.step }));
        reached();
        return new Promise(() => undefined);
      };
      const plan = planOf(['s1', 'read'], ['s2', tool, { a: '${s1.from}' }], ['s3', 'read', {}, ['s2']]);
      void runPlan(plan, { run, store: { ...planRuns, claim, renew }, runId: 'r1', user: 'anna' });
    });
    return planRuns;
  }

  it('is resumed after a crash: what was done is not done again, what is safe to repeat is', async () => {
    const store = await crashIn('read_more');
    const script = createScript({ read: [done('again')], read_more: [done('more')] });
    const run = await resumePlan('r1', {
      run: script.run,
      store,
      user: 'anna',
      isRepeatable: (tool) => tool === 'read_more',
    });
    expect(run.state).toBe('done');
    expect(script.made()).toEqual(['s2', 's3']);
    expect(run.steps.s1).toMatchObject({ output: { from: 's1' } });
    expect(script.calls[0]?.arguments).toEqual({ a: 's1' });
  });

  it('is not repeated in a step that may have taken effect, until somebody says so', async () => {
    const store = await crashIn('write');
    const script = createScript({ read: [done(1)], write: [done('written')] });
    const unknown = await resumePlan('r1', { run: script.run, store, user: 'anna' });
    expect(script.calls).toEqual([]);
    expect(unknown.state).toBe('failed');
    expect(statuses(unknown)).toEqual({ s1: 'done', s2: 'unknown', s3: 'blocked' });
    expect(unknown.steps.s2?.failure).toMatchObject({
      code: 'outcome_unknown',
      reason: expect.stringContaining('may have taken effect'),
    });
    const repeated = await resumePlan('r1', { run: script.run, store, user: 'anna', repeat: ['s2'] });
    expect(repeated.state).toBe('done');
    expect(script.made()).toEqual(['s2', 's3']);
  });

  it('is not there for another user, nor under another id', async () => {
    const { planRuns } = await openStore();
    const script = createScript({ t: [done(1)] });
    await runPlan(planOf(['s1', 't']), { run: script.run, store: planRuns, runId: 'r1', user: 'anna' });
    for (const [id, user] of [
      ['r1', 'ben'],
      ['r1', undefined],
      ['r2', 'anna'],
    ] as const) {
      await expect(resumePlan(id, { run: script.run, store: planRuns, user })).rejects.toMatchObject({
        code: 'not_found',
        message: `There is no plan run "${id}".`,
      });
    }
  });

  it('is run by one process at a time, and free when it has ended', async () => {
    const { planRuns } = await openStore();
    let go: () => void = () => {};
    const script = createScript({
      t: [
        () =>
          new Promise((resolve) => {
            go = () => resolve(done(1));
          }),
      ],
    });
    const running = runPlan(planOf(['s1', 't']), { run: script.run, store: planRuns, runId: 'r1' });
    await vi.waitFor(() => expect(script.calls).toHaveLength(1));
    await expect(resumePlan('r1', { run: script.run, store: planRuns })).rejects.toMatchObject({ code: 'conflict' });
    go();
    expect((await running).state).toBe('done');
    expect((await resumePlan('r1', { run: script.run, store: planRuns })).state).toBe('done');
    expect(script.calls).toHaveLength(1);
  });

  it('is given up at once when another process has taken it', async () => {
    const { planRuns } = await openStore();
    const script = createScript({
      t: [({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(done(1))))],
    });
    const store = { ...planRuns, renew: async () => script.calls.length === 0 };
    const running = runPlan(planOf(['s1', 't']), { run: script.run, store, runId: 'r1', leaseMs: 9 });
    await expect(running).rejects.toMatchObject({ code: 'conflict' });
    expect((await planRuns.get('r1'))?.steps.s1).toMatchObject({ status: 'running' });
  });

  describe('that another process has taken while this one stood still', () => {
    const plan = planOf(['s1', 'read'], ['s2', 'write', {}, ['s1']]);
    const LOST = /^This process has lost the plan run "r1": .* Read how it goes on\.$/u;

    /** Two processes of one store: the first never renews its lease, which is over at once. */
    async function processes() {
      const { planRuns } = await openStore();
      const claim: PlanRuns['claim'] = (own, { at }) => planRuns.claim(own, { at, until: at });
      const script = createScript({ read: [done('read')], write: [done('written')] });
      const written = () => script.calls.filter(({ tool }) => tool === 'write').map(({ plan }) => plan?.isFirst);
      const resume = (more: object = {}) => resumePlan('r1', { run: script.run, store: planRuns, ...more });
      const begin = (run: RunStep) =>
        runPlan(plan, { run, store: { ...planRuns, claim }, runId: 'r1', approval: 'a' }).catch((error) => error);
      return { planRuns, script, resume, begin, written };
    }

    it('ends here, and nothing is sent or written any more, also once the other has ended', async () => {
      const { planRuns, script, resume, begin, written } = await processes();
      const ended = await begin(async (call) => {
        if (call.tool === 'read') expect((await resume({ repeat: ['s1'] })).state).toBe('done');
        return script.run(call);
      });
      expect(ended).toMatchObject({ code: 'conflict', message: expect.stringMatching(LOST) });
      expect(written()).toEqual([true]);
      expect(await planRuns.get('r1')).toMatchObject({
        state: 'done',
        steps: { s1: { attempts: 2 }, s2: { attempts: 1 } },
      });
    });

    it('sends no call that was about to begin, and the other uses the grant of the plan no second time', async () => {
      const { planRuns, resume, begin, written } = await processes();
      const tool = createTool('write', {}, undefined, { risk: 'high' });
      const write = () => expect.unreachable();
      const sandbox = createSandbox({ executors: [createFunctionExecutor({ write })] });
      const runner = createToolRunner(sandbox, new Map([['write', tool]]));
      const results: CallResult[] = [];
      const ended = await begin(async (call) => {
        if (call.tool === 'read') return done('read');
        expect((await resume()).steps.s2?.status).toBe('unknown');
        expect((await resume({ repeat: ['s2'] })).state).toBe('done');
        results.push(await runner.run(call));
        return done('written');
      });
      expect(ended).toMatchObject({ code: 'conflict', message: expect.stringMatching(LOST) });
      expect(results).toMatchObject([
        { ok: false, code: 'not_started', reason: expect.stringContaining('lost the plan run') },
      ]);
      expect(written()).toEqual([false]);
      expect((await planRuns.get('r1'))?.steps.s2).toMatchObject({ status: 'done', attempts: 2 });
    });

    it('goes on here where nobody has taken it, though its lease is over', async () => {
      const { script, begin } = await processes();
      expect(await begin(script.run)).toMatchObject({ state: 'done' });
    });
  });

  it('is kept step by step: before a tool is called, the store knows of it', async () => {
    const { planRuns } = await openStore();
    const script = createScript({
      t: [
        async () => {
          const kept = await planRuns.get('r1');
          return done(kept?.steps.s1);
        },
      ],
    });
    const run = await runPlan(planOf(['s1', 't', { a: 1 }]), { run: script.run, store: planRuns, runId: 'r1' });
    expect(run.steps.s1?.output).toMatchObject({ status: 'running', attempts: 1, arguments: { a: 1 } });
    expect(await planRuns.get('r1')).toMatchObject({ state: 'done', steps: { s1: { status: 'done' } } });
  });

  it('that can not be written stops the run, and no step goes on unseen', async () => {
    const { planRuns } = await openStore();
    const signals: AbortSignal[] = [];
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const script = createScript({
      quick: [() => begun.then(() => done(1))],
      slow: [
        ({ signal }) =>
          new Promise((resolve) => {
            signals.push(signal);
            begin();
            signal.addEventListener('abort', () => resolve(fail('cancelled', 'x')));
          }),
      ],
    });
    const setStep: PlanRuns['setStep'] = async (own, step) => {
      if (step.id === 's1' && JSON.stringify(step.state).includes('done')) throw new Error('disk full');
      return planRuns.setStep(own, step);
    };
    const store = { ...planRuns, setStep };
    await expect(runPlan(planOf(['s1', 'quick'], ['s2', 'slow']), { run: script.run, store })).rejects.toThrow(
      'disk full',
    );
    expect(signals[0]?.aborted).toBe(true);
  });

  it('refuses to repeat a step that it does not have', async () => {
    const { planRuns } = await openStore();
    const script = createScript({ t: [done(1)] });
    await runPlan(planOf(['s1', 't']), { run: script.run, store: planRuns, runId: 'r1' });
    await expect(resumePlan('r1', { run: script.run, store: planRuns, repeat: ['s9'] })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('s9'),
    });
  });
});
