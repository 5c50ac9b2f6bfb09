import { describe, expect, it } from 'vitest';
import type { CallResult } from '../../../src/agents/contracts.js';
import type { RunnablePlan } from '../../../src/agents/runs/plan-run.js';
import { resumePlan, runPlan } from '../../../src/agents/runs/run-plan.js';
import { fail } from '../../../src/agents/sandbox/failure.js';
import { openStore } from '../../../src/agents/store/open-store.js';
import { createScript, done, planOf, type StepSpec } from './setup.js';

describe('planning again', () => {
  it('happens once, with what was done and the error; the plan before is kept', async () => {
    const script = createScript({
      lookup: [done({ stcd: 1 })],
      old: [fail('tool_failed', 'gone')],
      next: [done('found')],
    });
    const asked: unknown[] = [];
    const paused = await runPlan(planOf(['s1', 'lookup'], ['s2', 'old', { a: '${s1.stcd}' }]), {
      run: script.run,
      replan: async (soFar, failed) => {
        asked.push([soFar.steps.s1?.output, failed.id, failed.failure?.reason]);
        return planOf(['s1', 'next']);
      },
    });
    expect(paused).toMatchObject({ state: 'paused', notes: [expect.stringMatching(/look at it.*: s1 calls next$/u)] });
    const run = await resumePlan(paused, { run: script.run });
    expect(run.notes).toEqual(paused.notes);
    expect(asked).toEqual([[{ stcd: 1 }, 's2', 'gone']]);
    expect(run).toMatchObject({ state: 'done', steps: { s1: { output: 'found' } } });
    expect(run.earlier).toMatchObject({ steps: { s1: { status: 'done' }, s2: { status: 'failed' } } });
    expect(Object.keys(run.steps)).toEqual(['s1']);
  });

  it('waits for a look where a step lost its condition, and keeps the inputs', async () => {
    const script = createScript({
      check: [done({ safe: false })],
      wipe: [done('wiped')],
      bad: [fail('tool_failed', 'x')],
    });
    const when = { value: '${s1.safe}', is: 'equal' as const, to: true };
    const check = { id: 's1', tool: 'check', arguments: { of: '${input.disk}' } };
    const wipe = { id: 's2', tool: 'wipe', arguments: { path: '/data' } };
    const first = {
      inputs: { disk: { value: 'a' } },
      steps: [check, { ...wipe, when }, { id: 's3', tool: 'bad', arguments: {} }],
    };
    const run = await runPlan(first, { run: script.run, replan: async () => ({ steps: [check, wipe] }) });
    expect(run).toMatchObject({
      state: 'paused',
      notes: [expect.stringContaining(': s2 when: left out')],
    });
    expect(run.plan.inputs).toEqual(first.inputs);
    expect(script.calls.map(({ tool }) => tool)).toEqual(['check', 'bad']);
  });

  it('does not happen twice, nor when nothing failed, nor when there is no other plan', async () => {
    const script = createScript({ bad: [fail('tool_failed', 'x')], good: [done(1)] });
    let asked = 0;
    const replan = async () => {
      asked += 1;
      return planOf(['s1', 'bad']);
    };
    expect((await runPlan(planOf(['s1', 'bad']), { run: script.run, replan })).state).toBe('failed');
    expect(asked).toBe(1);
    await runPlan(planOf(['s1', 'good']), { run: script.run, replan });
    expect(asked).toBe(1);
    const none = await runPlan(planOf(['s1', 'bad']), { run: script.run, replan: async () => undefined });
    expect(none).toMatchObject({ state: 'failed' });
    expect(none).not.toHaveProperty('earlier');
  });

  it.each([
    ['a tool', planOf(['s1', 'read', { of: 'a' }], ['s2', 'mail', { to: 'ann' }]), 's2 calls mail'],
    ['a value', planOf(['s1', 'send', { to: 'eve' }]), 's1.to: "eve"'],
    ['a value in a list', planOf(['s1', 'send', { to: ['ann', 'eve'] }]), 's1.to: ["ann","eve"]'],
    ['a number', planOf(['s1', 'read', { of: 7 }]), 's1.of: 7'],
  ])(
    'runs nothing of a plan with %s that the first one had not, until somebody has looked at it',
    async (_, next, told) => {
      const script = createScript({ read: [fail('tool_failed', 'x'), done(1)], send: [done(1)], mail: [done(1)] });
      const first = planOf(['s1', 'read', { of: 'a' }], ['s2', 'send', { to: 'ann', text: '${s1}' }]);
      const paused = await runPlan(first, { run: script.run, replan: async () => next });
      expect(paused).toMatchObject({ state: 'paused', notes: [expect.stringContaining(told)] });
      expect(script.made()).toHaveLength(1);
      expect(await resumePlan(paused, { run: script.run })).toMatchObject({ state: 'done' });
    },
  );

  describe('compares steps by their tool, their arguments and what they wait for, and', () => {
    const LOOKUPS: StepSpec[] = [
      ['s1', 'lookup', { of: 'ann' }],
      ['s2', 'lookup', { of: 'ben' }],
    ];
    const compare = async (first: RunnablePlan, next: RunnablePlan) => {
      const answer = [done({ id: 7 })];
      const good = ['lookup', 'backup', 'copy', 'deploy', 'pack', 'wipe'].map((tool) => [tool, answer] as const);
      const script = createScript({ ...Object.fromEntries(good), check: [fail('tool_failed', 'x'), done(1)] });
      return runPlan(first, { run: script.run, replan: async () => next });
    };

    const check: StepSpec = ['s1', 'check'];
    const DRY = planOf(check, ['s2', 'deploy', { dry: true }, ['s1']]);
    const WAITING = planOf(check, ['s2', 'wipe', {}, ['s1']]);
    const WIPE = planOf(['s1', 'wipe']);
    it.each<[string, RunnablePlan, RunnablePlan, string]>([
      ['a flag that turned', DRY, planOf(['s1', 'deploy', { dry: false }]), 's1.dry: false'],
      ['an argument left out', DRY, planOf(['s1', 'deploy']), 's1.dry: left out'],
      ['an empty list left out', planOf(check, ['s2', 'wipe', { but: [] }, ['s1']]), WIPE, 's1.but: left out'],
      [
        'values that changed places',
        planOf(check, ['s2', 'copy', { from: 'a', to: 'b' }]),
        planOf(['s1', 'copy', { from: 'b', to: 'a' }]),
        's1.from: "b"; s1.to: "a"',
      ],
      [
        'a value of another tool',
        planOf(check, ['s2', 'pack', { to: '/' }], ['s3', 'wipe', { path: '/tmp' }]),
        planOf(['s1', 'wipe', { path: '/' }]),
        's1.path: "/"',
      ],
      ['a step that no longer waits', WAITING, WIPE, 's1 no longer waits for check'],
      [
        'steps in another order',
        WAITING,
        planOf(['s1', 'wipe'], ['s2', 'check', {}, ['s1']]),
        's1 no longer waits for check',
      ],
      ['a step twice', planOf(check, ['s2', 'wipe']), planOf(['s1', 'wipe'], ['s2', 'wipe']), 's2 calls wipe'],
    ])('pauses for %s', async (_, first, next, told) => {
      expect(await compare(first, next)).toMatchObject({
        state: 'paused',
        notes: [expect.stringContaining(`resume: ${told}`)],
      });
    });

    it('pauses for a reference to another step of the same tool, however far away', async () => {
      const packed = (one: string): StepSpec[] => [
        ...LOOKUPS,
        ['s3', 'pack', { of: one }],
        ['s4', 'copy', { to: '${s3.id}' }],
      ];
      const run = await compare(
        planOf(...packed('${s1.id}'), ['s5', 'check'], ['s6', 'wipe', { path: '${s1.id}' }, ['s5']]),
        planOf(...packed('${s1.id}'), ['s6', 'wipe', { path: '${s2.id}' }]),
      );
      expect(run.notes).toEqual([expect.stringContaining('resume: s6.path: "${s2.id}"; s6 no longer waits for check')]);
      const far = await compare(planOf(...packed('${s1.id}'), ['s5', 'check']), planOf(...packed('${s2.id}')));
      expect(far.notes).toEqual([expect.stringContaining('resume: s3.of: "${s2.id}"; s4.to: "${s3.id}"')]);
    });

    it.each<[string, RunnablePlan, RunnablePlan]>([
      [
        'the same plan, whatever its steps are called',
        planOf(...LOOKUPS, ['s3', 'check'], ['s4', 'wipe', { path: 'a ${s1.id} b ${s2.id}' }, ['s3']]),
        planOf(
          check,
          ['s5', 'lookup', { of: 'ben' }],
          ['s6', 'lookup', { of: 'ann' }],
          ['s7', 'wipe', { path: 'a ${s6.id} b ${s5.id}' }, ['s1']],
        ),
      ],
      [
        'a plan without what failed and what waited for it',
        planOf(check, ['s2', 'wipe', {}, ['s1']], ['s3', 'copy', { to: 'a' }]),
        planOf(['s1', 'copy', { to: 'a' }]),
      ],
      ['a plan without a step that is done', planOf(['s1', 'backup'], ['s2', 'check', {}, ['s1']]), planOf(check)],
      [
        'a step that waits for more, or for the same by way of another',
        planOf(check, ['s2', 'pack', {}, ['s1']], ['s3', 'wipe', {}, ['s1']]),
        planOf(check, ['s2', 'pack', {}, ['s1']], ['s3', 'wipe', {}, ['s2']]),
      ],
    ])('runs at once %s', async (_, first, next) => {
      expect(await compare(first, next)).toMatchObject({ state: 'done', notes: [] });
    });
  });

  it('that fails itself leaves the run as it was, and says so', async () => {
    const script = createScript({ bad: [fail('tool_failed', 'x')] });
    const thrown = await runPlan(planOf(['s1', 'bad']), {
      run: script.run,
      replan: () => Promise.reject(new Error('no model')),
    });
    expect(thrown).toMatchObject({ state: 'failed', notes: ['planning again failed: internal'] });
    const broken = await runPlan(planOf(['s1', 'bad']), {
      run: script.run,
      replan: async () => planOf(['s1', 't', {}, ['s7']]),
    });
    expect(broken).toMatchObject({ state: 'failed', notes: [expect.stringContaining('s7')] });
  });

  it('knows a call again where one of them says what the other leaves to a default', async () => {
    const script = createScript({ send: [done({ id: 7 }), done('sent twice')], bad: [fail('tool_failed', 'x')] });
    const input = { type: 'object', properties: { to: {}, copy: { type: 'boolean', default: true } } };
    const secretsOf = () => ({ names: [], input, output: undefined });
    const paused = await runPlan(planOf(['s1', 'send', { to: 'anna' }], ['s2', 'bad', {}, ['s1']]), {
      run: script.run,
      secretsOf,
      replan: async () => planOf(['s1', 'send', { to: 'anna', copy: true }]),
    });
    const run = await resumePlan(paused, { run: script.run, secretsOf });
    expect(run.steps.s1).toMatchObject({ status: 'done', output: { id: 7 } });
    expect(script.calls.filter(({ tool }) => tool === 'send')).toHaveLength(1);
  });

  it('never makes the same call twice that has taken effect, or may have', async () => {
    const script = createScript({
      send: [done({ id: 7 }), done('sent twice')],
      pay: [fail('timeout', 'x')],
      bad: [fail('tool_failed', 'x')],
    });
    const first = planOf(['s1', 'send', { to: 'anna' }], ['s2', 'pay', { sum: 1 }], ['s3', 'bad', {}, ['s1']]);
    const next = planOf(['s1', 'send', { to: 'anna' }], ['s2', 'pay', { sum: 1 }], ['s3', 'send', { to: 'ben' }]);
    const run = await resumePlan(await runPlan(first, { run: script.run, replan: async () => next }), {
      run: script.run,
    });
    expect(script.calls.map(({ tool, arguments: input }) => [tool, input])).toEqual([
      ['send', { to: 'anna' }],
      ['pay', { sum: 1 }],
      ['bad', {}],
      ['send', { to: 'ben' }],
    ]);
    expect(run.steps).toMatchObject({
      s1: { status: 'done', output: { id: 7 }, notes: ['not run again: step s1 of the plan before made this call'] },
      s2: { status: 'unknown' },
      s3: { status: 'done' },
    });
  });

  it('is kept in the store: a run that was planned again is resumed with its new plan', async () => {
    const { planRuns } = await openStore();
    const waiting: CallResult = { ok: false, code: 'needs_approval', reason: 'r', next: 'n', approval: 'a1' };
    const script = createScript({ bad: [fail('tool_failed', 'x')], write: [waiting, done('written')] });
    const options = { run: script.run, store: planRuns };
    const paused = await runPlan(planOf(['s1', 'bad']), {
      ...options,
      runId: 'r1',
      replan: async () => planOf(['s1', 'write']),
    });
    expect([paused.state, paused.steps.s1?.status]).toEqual(['paused', 'pending']);
    const again = await resumePlan('r1', options);
    expect(again.state).toBe('paused');
    expect(paused.notes).toEqual([expect.stringContaining('s1 calls write')]);
    expect(again.notes).toEqual(paused.notes);
    const run = await resumePlan('r1', options);
    expect(run).toMatchObject({
      state: 'done',
      notes: paused.notes,
      steps: { s1: { output: 'written' } },
      earlier: { steps: { s1: { status: 'failed' } } },
    });
  });

  it('keeps no secret in the notes that it leaves', async () => {
    const { planRuns } = await openStore();
    const script = createScript({ bad: [fail('tool_failed', 'x')] });
    const secretsOf = () => ({ names: ['pin'], input: {}, output: undefined });
    const replan = async () => planOf(['s1', 'bad', { pin: 'hunter-22' }]);
    const options = { run: script.run, store: planRuns, secretsOf };
    const paused = await runPlan(planOf(['s1', 'bad']), { ...options, runId: 'r1', replan });
    expect(paused.notes).toEqual([expect.stringContaining('hunter-22')]);
    const kept = JSON.stringify(await planRuns.get('r1'));
    expect(kept).toContain('look at it and resume');
    expect(kept).not.toContain('hunter-22');
  });

  it('happened before: a run that is resumed is not planned again a second time', async () => {
    const script = createScript({ bad: [fail('tool_failed', 'x')] });
    let asked = 0;
    const replan = async () => {
      asked += 1;
      return planOf(['s1', 'bad']);
    };
    const failed = await runPlan(planOf(['s1', 'bad']), { run: script.run, replan });
    expect(await resumePlan(failed, { run: script.run, replan })).toMatchObject({ state: 'failed' });
    expect([asked, script.made().length]).toEqual([1, 3]);
  });
});
