import { describe, expect, it } from 'vitest';
import { resumePlan, runPlan } from '../../../src/agents/runs/run-plan.js';
import { createGatedRunner, createToolRunner } from '../../../src/agents/runs/tool-runner.js';
import { createFunctionExecutor } from '../../../src/agents/sandbox/executors/functions.js';
import { createSandbox } from '../../../src/agents/sandbox/sandbox.js';
import { createTool } from '../../support/create-tool.js';
import { setUp } from '../setup.js';

const TOOLS = [
  createTool('read', { properties: { limit: { type: 'integer', default: 3 } } }, undefined, {
    risk: 'low',
    alwaysLoad: true,
  }),
  createTool('deploy', { properties: { to: { type: 'string' } } }, undefined, { risk: 'high', alwaysLoad: true }),
  createTool('hidden', {}, undefined, { risk: 'low' }),
];
const sandbox = createSandbox({
  executors: [
    createFunctionExecutor({
      read: ({ limit }) => ({ place: `web-${limit}` }),
      deploy: ({ to }) => `deployed to ${to}`,
      hidden: () => 1,
    }),
  ],
  limits: { tools: { deploy: { idempotent: true } } },
});
const step = (id: string, tool: string, input = {}) => ({ id, tool, arguments: input });

describe('a plan under the gate of a session', () => {
  describe('whose approver changes the arguments of a step', () => {
    const BOB = { user: 'bob', roles: ['operator'] };
    const token = { type: 'string', 'x-secret': true, pattern: '^s' };
    const tools = [
      ...TOOLS.filter(({ name }) => name !== 'deploy'),
      createTool('deploy', { properties: { to: { type: 'string' }, token } }, undefined, {
        risk: 'high',
        alwaysLoad: true,
      }),
    ];
    const steps = [
      { ...step('s1', 'read'), from: {} },
      {
        ...step('s2', 'deploy', { to: '${s1.place}', token: 's3cret' }),
        from: { to: 'step' as const, token: 'request' as const },
      },
      step('s3', 'deploy', { to: 'after ${s2}' }),
    ];

    async function paused() {
      const setup = await setUp({ tools, prepare: sandbox.prepare, execute: sandbox.run });
      const { id } = await setup.router.createSession({ user: 'ann' });
      const run = createGatedRunner({ router: setup.router, session: id, caller: { user: 'ann' } });
      const first = await runPlan({ steps }, { run });
      return { ...setup, id, run, first, approval: first.steps.s2?.approval ?? '' };
    }

    it('resumes with these, its secrets as they were, and later steps see what came of them', async () => {
      const { router, id, run, first, approval } = await paused();
      expect(await router.approvals.grant(approval, { by: BOB, arguments: { to: 'db-1' } })).toMatchObject({
        ok: true,
      });
      const resumed = await resumePlan(first, { run });
      expect(resumed).toMatchObject({
        state: 'paused',
        plan: { steps },
        steps: {
          s2: {
            status: 'done',
            output: 'deployed to db-1',
            arguments: { to: 'db-1', token: 's3cret' },
            sources: { to: { source: 'person' }, token: { source: 'request' } },
            notes: ['bob approved the call with other arguments, and changed to.'],
          },
          s3: { status: 'needs_approval', arguments: { to: 'after deployed to db-1' } },
        },
      });
      expect(await router.approvals.get(approval)).toMatchObject({ state: 'used' });
      const [granted] = await router.audit({ session: id, event: 'approval_granted' });
      const [ran] = await router.audit({ session: id, event: 'call', outcome: 'allowed', tool: 'deploy' });
      for (const entry of [granted, ran]) expect(entry?.sources).toMatchObject({ to: { source: 'person' } });
    });

    it('runs nothing with the arguments of the plan, also where another call has used the grant', async () => {
      const { router, id, run, first, approval } = await paused();
      await router.approvals.grant(approval, { by: BOB, arguments: { to: 'db-1' } });
      await router.call(id, { tool: 'deploy', arguments: { to: 'db-1', token: 's3cret' } });
      const resumed = await resumePlan(first, { run });
      expect(resumed).toMatchObject({ state: 'failed', steps: { s2: { failure: { code: 'approval_used' } } } });
      expect(await router.audit({ session: id, event: 'call', outcome: 'allowed', tool: 'deploy' })).toHaveLength(1);
    });

    it('resumes from the store, where its secrets are given again and are not kept', async () => {
      const setup = await setUp({ tools, prepare: sandbox.prepare, execute: sandbox.run });
      const { router, store } = setup;
      const { id } = await router.createSession({ user: 'ann' });
      const run = createGatedRunner({ router, session: id });
      const { secretsOf } = createToolRunner(sandbox, new Map(tools.map((tool) => [tool.name, tool])));
      const kept = { run, secretsOf, store: store.planRuns, session: id };
      const first = await runPlan({ steps: steps.slice(0, 2) }, { ...kept, runId: 'r1' });
      await router.approvals.grant(first.steps.s2?.approval ?? '', { by: BOB, arguments: { to: 'db-1' } });
      const again = { ...kept, arguments: { s2: { token: 's3cret' } } };
      expect(await resumePlan('r1', again)).toMatchObject({
        state: 'done',
        steps: { s2: { output: 'deployed to db-1' } },
      });
      const { steps: states } = (await store.planRuns.get('r1')) ?? {};
      expect(states).toMatchObject({ s2: { arguments: { to: 'db-1' } } });
      expect(JSON.stringify(states)).not.toContain('s3cret');
    });
  });

  it('names at most fifty arguments in the audit, and none of a call that did not come to pass', async () => {
    const { router } = await setUp({ tools: TOOLS, prepare: sandbox.prepare, execute: sandbox.run });
    const { id } = await router.createSession({ user: 'ann' });
    const given = Object.fromEntries(Array.from({ length: 200 }, (_, place) => [`name${place}`, 'x']));
    const steps = ['read', 'nothing'].map((tool, place) => ({ ...step(`s${place + 1}`, tool, given), from: {} }));
    await runPlan({ steps }, { run: createGatedRunner({ router, session: id }) });
    const calls = await router.audit({ session: id, event: 'call' });
    const named = calls.map(({ outcome, sources }) => [outcome, sources && Object.keys(sources).length]);
    expect(Object.fromEntries(named)).toStrictEqual({ allowed: 51, unknown: undefined });
  });

  it('shows where its arguments come from to whoever approves, and keeps it in the audit', async () => {
    const { router } = await setUp({ tools: TOOLS, prepare: sandbox.prepare, execute: sandbox.run });
    const { id } = await router.createSession({ user: 'ann' });
    const run = createGatedRunner({ router, session: id });
    const steps = [
      { ...step('s1', 'read'), from: {} },
      {
        ...step('s2', 'deploy', { to: '${s1.place}', by: 'me' }),
        from: { to: 'step' as const, by: 'unknown' as const },
      },
    ];
    const paused = await runPlan({ steps }, { run });
    const sources = { to: { source: 'step', references: ['${s1.place}'] }, by: { source: 'unknown' } };
    expect(paused).toMatchObject({ plan: { steps }, steps: { s2: { arguments: { to: 'web-3', by: 'me' }, sources } } });
    const approval = paused.steps.s2?.approval ?? '';
    expect(await router.approvals.get(approval)).toMatchObject({ arguments: { to: 'web-3', by: 'me' }, sources });
    await router.approvals.grant(approval, { by: { user: 'bob', roles: ['operator'] } });
    expect((await resumePlan(paused, { run })).state).toBe('done');
    const entries = await router.audit({ session: id });
    const told = entries.map(({ event, tool, sources: kept }) => ({ event, tool, kept })).filter(({ tool }) => tool);
    expect(told.reverse()).toEqual([
      { event: 'call', tool: 'read', kept: { limit: { source: 'default' } } },
      { event: 'approval_requested', tool: 'deploy', kept: sources },
      { event: 'call', tool: 'deploy', kept: sources },
      { event: 'approval_granted', tool: 'deploy', kept: sources },
      { event: 'call', tool: 'deploy', kept: sources },
    ]);
  });

  it('is bound to the same call as one without a plan, of which no sources are told', async () => {
    const { router } = await setUp({ tools: TOOLS, prepare: sandbox.prepare, execute: sandbox.run });
    const { id } = await router.createSession({ user: 'ann' });
    const call = { tool: 'deploy', arguments: { to: 'web-3' } };
    expect(await router.call(id, call)).toMatchObject({ code: 'needs_approval' });
    const [asked] = await router.approvals.list();
    expect(asked).not.toHaveProperty('sources');
    for (const entry of await router.audit({ session: id })) expect(entry.sources).toBeUndefined();
    const told = { ...step('s1', 'deploy', call.arguments), from: { to: 'request' as const } };
    const run = await runPlan({ steps: [told] }, { run: createGatedRunner({ router, session: id }) });
    expect(run.steps.s1).toMatchObject({ status: 'needs_approval', approval: asked?.id });
    expect(await router.approvals.list()).toHaveLength(1);
  });

  it('uses up no approval where the run was lost right before the tool, and holds no place', async () => {
    const deploy = () => expect.unreachable();
    const busy = createSandbox({ executors: [createFunctionExecutor({ deploy })], limits: { concurrency: 1 } });
    const { router } = await setUp({ tools: TOOLS, prepare: busy.prepare, execute: busy.run });
    const { id } = await router.createSession({ user: 'ann' });
    const run = createGatedRunner({ router, session: id });
    const first = await runPlan({ steps: [step('s1', 'deploy', { to: 'web-3' })] }, { run });
    const approval = first.steps.s1?.approval ?? '';
    await router.approvals.grant(approval, { by: { user: 'bob', roles: ['operator'] } });
    const beforeTool = () => Promise.reject(new Error('the run is lost'));
    for (const _ of [1, 2]) {
      const again = await resumePlan(first, { run: (call) => run({ ...call, beforeTool }) });
      expect(again.steps.s1?.failure).toMatchObject({
        code: 'not_started',
        reason: expect.stringContaining('the run is lost'),
      });
      expect(await router.approvals.get(approval)).toMatchObject({ state: 'granted' });
    }
  });

  it('can run nothing that the session may not, although the sandbox could', async () => {
    const { router, runs } = await setUp({ tools: TOOLS });
    const { id } = await router.createSession({ user: 'ann' });
    const run = await runPlan({ steps: [step('s1', 'hidden')] }, { run: createGatedRunner({ router, session: id }) });
    expect(run).toMatchObject({ state: 'failed', steps: { s1: { failure: { code: 'not_enabled' } } } });
    expect(runs).toEqual([]);
  });

  it("is the caller's own: in another's session, which looks like none, nothing runs", async () => {
    const { router, runs } = await setUp({ tools: TOOLS });
    const { id: session } = await router.createSession({ user: 'ann' });
    const run = createGatedRunner({ router, session, caller: { user: 'bob' } });
    expect((await runPlan({ steps: [step('s1', 'read')] }, { run })).steps.s1).toMatchObject({
      failure: { code: 'not_found' },
    });
    expect(runs).toEqual([]);
  });

  it('fails with the reason when there is no such session', async () => {
    const { router } = await setUp({ tools: TOOLS });
    const run = await runPlan(
      { steps: [step('s1', 'read')] },
      { run: createGatedRunner({ router, session: 'nobody' }) },
    );
    expect(run.steps.s1).toMatchObject({ status: 'failed', failure: { code: 'not_found' } });
  });
});

describe('a plan with the sandbox alone', () => {
  const runner = createToolRunner(sandbox, new Map(TOOLS.map((tool) => [tool.name, tool])));

  it('knows only the tools that it was given', async () => {
    const run = await runPlan({ steps: [step('s1', 'read'), step('s2', 'rm')] }, runner);
    expect(run.steps).toMatchObject({
      s1: { status: 'done' },
      s2: { status: 'failed', failure: { code: 'unknown_tool' } },
    });
  });

  it.each([
    ['read', true],
    ['deploy', true],
    ['rm', false],
  ])('repeats what is low in risk, or marked: %s is %s', (name, expected) => {
    expect(runner.isRepeatable(name)).toBe(expected);
  });
});
