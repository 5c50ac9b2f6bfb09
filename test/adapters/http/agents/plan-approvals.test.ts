/** A kept plan that is approved as a whole: what the grant covers, what it does not, and what makes each step ask again. */
import { describe, expect, it } from 'vitest';
import { renderReview } from '../../../../src/agents/approvals/render-review.js';
import { createPolicy, type PolicyInput } from '../../../../src/agents/policy/policy.js';
import { createFunctionExecutor } from '../../../../src/agents/sandbox/executors/functions.js';
import { openStore } from '../../../../src/agents/store/open-store.js';
import { createCatalog } from '../../../../src/core/catalog/catalog.js';
import type { Tool } from '../../../../src/core/catalog/tool.js';
import { createTool } from '../../../support/create-tool.js';
import { type AgentServerOptions, startAgentServer, TOOLS } from './setup.js';

const ANN = { user: 'ann' };
const OLGA = { user: 'olga', roles: 'operator' };
const step = (id: string, tool: string, path?: string, ...dependsOn: string[]) => ({
  ...{ id, tool, arguments: path === undefined ? {} : { path }, dependsOn },
  from: path === undefined ? {} : { path: path.startsWith('${s') ? ('step' as const) : ('person' as const) },
});
/** s2 is known whole from its input; what s3 deletes, a tool says; s4 is known whole and comes last. */
const STEPS = [
  step('s1', 'file_list'),
  step('s2', 'file_delete', '${input.file}', 's1'),
  step('s3', 'file_delete', '${s1.path}', 's2'),
  step('s4', 'file_delete', 'last.txt', 's3'),
];
const PLAN = { goal: 'tidy up', inputs: { file: {} }, steps: STEPS };
const INPUTS = { file: 'a.txt' };
const DENIED = [{ name: 'no deleting', match: { tool: 'file_delete' }, decision: 'deny' as const }];

async function start({ policy: given = {}, ...options }: AgentServerOptions = {}) {
  const now = {
    at: 0,
    policy: createPolicy(given),
    tools: TOOLS,
    /** Longer than a grant lasts. */
    wait: () => Object.assign(now, { at: now.at + 16 * 60_000 }),
    /** From now on. */
    setPolicy: (input: PolicyInput) => Object.assign(now, { policy: createPolicy(input) }),
    change: (name: string, more: Partial<Tool>) =>
      Object.assign(now, { tools: now.tools.map((tool) => (tool.name === name ? { ...tool, ...more } : tool)) }),
  };
  let known = { tools: now.tools, catalog: createCatalog(now.tools) };
  const more = {
    clock: () => new Date(now.at),
    policy: { current: () => now.policy, reload: () => Promise.reject(new Error('not asked')) },
    catalog: () => {
      if (known.tools !== now.tools) known = { tools: now.tools, catalog: createCatalog(now.tools) };
      return known.catalog;
    },
  };
  const server = await startAgentServer({ ...options, more: { ...more, ...options.more } });
  const { ask } = server;
  const open = async (who: { user?: string } = ANN) => {
    const { body } = await ask('POST /v1/sessions', {}, who);
    const names = ['file_list', 'file_read', 'file_delete'];
    await ask(`POST /v1/sessions/${body.id}/enable`, { names, ttl_turns: 20 }, who);
    return String(body.id);
  };
  const session = await open();
  const keep = async (plan: object = PLAN, more: object = {}) =>
    (await ask('POST /v1/kept-plans', { name: 'morning', plan, ...more }, ANN)).body;
  const request = async (more: object = {}) =>
    (await ask('POST /v1/kept-plans/morning/approval', { session, inputs: INPUTS, ...more }, ANN)).body;
  const decide = async (id: string, body: object = {}, verb = 'grant') =>
    (await ask(`POST /v1/approvals/${id}/${verb}`, body, OLGA)).body;
  const run = async (more: object = {}) =>
    (await ask('POST /v1/plans/run', { session, kept: { name: 'morning' }, inputs: INPUTS, ...more }, ANN)).body;
  const resume = async (id: string, given: object = {}) =>
    (await ask(`POST /v1/plans/runs/${id}/resume`, { arguments: given }, ANN)).body;
  const granted = async (plan: object = PLAN) => {
    const { hash } = await keep(plan);
    const { approval } = await request();
    await decide(approval.id);
    return { hash: String(hash), approval: String(approval.id) };
  };
  return { ...server, now, session, open, keep, request, decide, run, resume, granted };
}

const statusOf = ({ steps }: { steps: Record<string, { status: string }> }) =>
  Object.fromEntries(Object.entries(steps).map(([id, { status }]) => [id, status]));

describe('a plan that is approved as a whole', () => {
  it('shows every step with where it goes, and which of them ask by themselves', async () => {
    const { keep, request, session } = await start();
    const { hash } = await keep();
    const { approval } = await request({ reason: 'each morning' });
    const place = { where: 'a function of this server (test)' };
    const whole = { argumentsHash: expect.stringMatching(/^[0-9a-f]{64}$/u) };
    expect(approval).toMatchObject({
      ...{ state: 'pending', tool: 'plan morning', user: 'ann', session, arguments: INPUTS },
      ...{ runs: { risk: 'high' }, reason: expect.stringContaining('"each morning"') },
    });
    expect(approval.plan).toEqual({
      ...{ name: 'morning', hash, goal: 'tidy up' },
      steps: [
        { ...{ id: 's1', tool: 'file_list', risk: 'low', ...place }, arguments: {}, ...whole },
        { id: 's2', tool: 'file_delete', risk: 'high', ...place, arguments: { path: 'a.txt' }, ...whole },
        { id: 's3', tool: 'file_delete', risk: 'high', ...place, arguments: { path: '${s1.path}' } },
        { id: 's4', tool: 'file_delete', risk: 'high', ...place, arguments: { path: 'last.txt' }, ...whole },
      ].map((one, at) => expect.objectContaining({ ...one, purpose: '', dependsOn: STEPS[at]?.dependsOn })),
    });
    expect(approval.plan.steps[2]).not.toHaveProperty('argumentsHash');
    expect(approval.plan.steps[2].sources).toEqual({ path: { source: 'step', references: ['${s1.path}'] } });
    expect((await request({ reason: 'each morning' })).approval.id).toBe(approval.id);
    expect(renderReview(approval)).toEqual([
      ...['s1 file_list {}', '  a function of this server (test), low risk'],
      ...['s2 file_delete {"path":"a.txt"}', '  a function of this server (test), high risk'],
      's3 file_delete {"path":"${s1.path}"}',
      '  a function of this server (test), high risk, asks by itself when its values are known',
      ...['s4 file_delete {"path":"last.txt"}', '  a function of this server (test), high risk'],
      `runs: 4 steps, of the plan with the hash ${hash}, high risk`,
    ]);
  });

  it('shows the steps beyond what one call may have as they are written', async () => {
    const { keep, request } = await start({ more: { options: { quotas: { approvalBytes: 10_000_000 } } } });
    await keep({ ...PLAN, steps: ['s1', 's2', 's3'].map((id) => step(id, 'file_delete', '${input.file}')) });
    const { approval } = await request({ inputs: { file: 'x'.repeat(400_000) } });
    const shown = approval.plan.steps.map((one: { arguments: { path: string } }) => one.arguments.path.length);
    expect(shown).toEqual([400_000, 400_000, '${input.file}'.length]);
    expect(approval.plan.steps[2]).not.toHaveProperty('argumentsHash');
  });

  it('runs what was shown whole without a question, and asks for what a result decides, though it is the same call', async () => {
    // The tool answers `a.txt`, which is what the grant covers as another step.
    const executors = [
      createFunctionExecutor({ file_list: () => INPUTS_AS_PATH, file_delete: () => ({ gone: true }) }),
    ];
    const INPUTS_AS_PATH = { path: 'a.txt' };
    const { granted, run, resume, decide, ask } = await start({ more: { executors } });
    const { approval } = await granted();
    const paused = await run({ approval });
    expect([paused.state, statusOf(paused)]).toEqual([
      'paused',
      { s1: 'done', s2: 'done', s3: 'needs_approval', s4: 'pending' },
    ]);
    expect(paused.steps.s3.arguments).toEqual({ path: 'a.txt' });
    await decide(paused.steps.s3.approval);
    const ended = await resume(paused.id);
    expect([ended.state, statusOf(ended)]).toEqual(['done', { s1: 'done', s2: 'done', s3: 'done', s4: 'done' }]);
    expect((await ask(`GET /v1/runs/${paused.id}`, undefined, ANN)).body.approval).toBe(approval);
    const { body } = await ask('GET /v1/audit?event=call&tool=file_delete&outcome=allowed', undefined, OLGA);
    expect(body.entries.map((one: { approval: string }) => one.approval)).toEqual([
      approval,
      paused.steps.s3.approval,
      approval,
    ]);
  });

  it('is for one run, and lends its calls to no agent', async () => {
    const { granted, run, ask, session, runs } = await start();
    const { approval } = await granted();
    const call = async (more: object) =>
      (
        await ask(
          `POST /v1/sessions/${session}/call`,
          { tool: 'file_delete', arguments: { path: 'a.txt' }, ...more },
          ANN,
        )
      ).body.code;
    const codes = async () => [
      await call({ approval }),
      await call({ plan: { approval, step: 's2' } }),
      await call({}),
    ];
    expect(await codes()).toEqual(['approval_mismatch', 'invalid_request', 'needs_approval']);
    await run({ approval });
    expect(runs).toEqual(['file_list', 'file_delete a.txt']);
    expect(await codes()).toEqual(['approval_mismatch', 'invalid_request', 'approval_pending']);
    expect(await run({ approval })).toMatchObject({ status: 409, detail: expect.stringContaining('approval_used') });
    expect(statusOf(await run())).toMatchObject({ s2: 'needs_approval' });
    expect(runs).toEqual(['file_list', 'file_delete a.txt', 'file_list']);
  });

  it('covers nothing before it is used, in no other session, and no other step, tool or value', async () => {
    const { granted, run, session, open, agents } = await start();
    const { approval } = await granted();
    const code = async (id: string, plan: { approval: string; step: string; isFirst?: boolean }, path = 'a.txt') => {
      const grant = { plan: { isFirst: true, ...plan } };
      const result = await agents.router.call(id, { tool: 'file_delete', arguments: { path } }, grant);
      return result.ok ? 'ran' : result.code;
    };
    const own = { approval, step: 's2' };
    expect(await code(session, own)).toBe('needs_approval');
    await run({ approval });
    const other = await open();
    expect(await code(other, own)).toBe('needs_approval');
    for (const one of ['s1', 's3', 's4', 's2[0]'])
      expect(await code(session, { approval, step: one })).toMatch(/approval/u);
    expect(await code(session, own, 'b.txt')).toBe('needs_approval');
    expect(await code(session, { approval: 'nothing', step: 's2' })).toBe('approval_pending');
    expect(await code(session, { ...own, isFirst: false })).toBe('approval_pending');
    // Only a run says which step it is, and says so once: here the test stands in for it.
    expect(await code(session, own)).toBe('ran');
  });

  type Started = Awaited<ReturnType<typeof start>>;
  const LATER = { ...PLAN, steps: [...STEPS.slice(0, 3), step('s4', 'file_delete', 'other.txt', 's3')] };
  it.each<[string, string, (server: Started, hash: string) => unknown]>([
    ['other inputs', 'approval_mismatch', async () => ({ inputs: { file: 'b.txt' } })],
    ['a changed plan', 'approval_mismatch', async ({ keep }, hash) => void (await keep(LATER, { replaces: hash }))],
    ['another session', 'approval_unknown', async ({ open }) => ({ session: await open() })],
    ['another policy', 'approval_mismatch', async ({ now }) => void now.setPolicy({ pinned: ['file_list'] })],
    ['a changed tool', 'approval_mismatch', async ({ now }) => void now.change('file_delete', { description: 'New.' })],
    [
      'another tool of it',
      'approval_mismatch',
      async ({ now }) => void now.change('file_list', { description: 'New.' }),
    ],
    ['too late', 'approval_expired', async ({ now }) => void now.wait()],
    ['a tool that is denied since', 'unknown_tool', async ({ now }) => void now.setPolicy({ rules: DENIED })],
  ])('asks again for %s, and runs nothing', async (_, code, change) => {
    const server = await start();
    const { hash, approval } = await server.granted();
    const more = await change(server, hash);
    expect(await server.run({ approval, ...Object(more) })).toMatchObject({
      status: 409,
      detail: expect.stringContaining(code),
    });
    expect(server.runs).toEqual([]);
  });
  it.each<[string, (server: Started) => void]>([
    ['the policy has changed', ({ now }) => void now.setPolicy({ pinned: ['file_list'] })],
    ['the tool has changed', ({ now }) => void now.change('file_delete', { description: 'New.' })],
    ['another tool of the plan has changed', ({ now }) => void now.change('file_list', { description: 'New.' })],
    ['its time is over', ({ now }) => void now.wait()],
  ])('covers no further step of a run once %s', async (_, change) => {
    const server = await start();
    const { approval } = await server.granted();
    const paused = await server.run({ approval });
    change(server);
    const asked = await server.resume(paused.id);
    await server.decide(asked.steps.s3.approval);
    // What came back from its time over is asked for anew, with a new id.
    let last = await server.resume(paused.id);
    if (last.steps.s3.status !== 'done') {
      await server.decide(last.steps.s3.approval);
      last = await server.resume(paused.id);
    }
    expect(statusOf(last)).toMatchObject({ s3: 'done', s4: 'needs_approval' });
    expect(server.runs).not.toContain('file_delete last.txt');
  });

  it('is granted as it is shown, once, by somebody else; refused, it runs nothing', async () => {
    const { keep, request, decide, run, ask, runs } = await start();
    await keep();
    const { approval } = await request();
    expect(await run({ approval: approval.id })).toMatchObject({ detail: expect.stringContaining('approval_pending') });
    expect(await decide(approval.id, { grant: 'session' })).toMatchObject({ code: 'approval_not_allowed' });
    expect(await decide(approval.id, { arguments: { file: 'b' } })).toMatchObject({ code: 'approval_not_allowed' });
    const own = await ask(`POST /v1/approvals/${approval.id}/grant`, {}, { user: 'ann', roles: 'operator' });
    expect(own.body).toMatchObject({ ok: false, code: 'approval_own' });
    expect(await decide(approval.id, { reason: 'not today' }, 'refuse')).toMatchObject({ ok: true });
    expect(await run({ approval: approval.id })).toMatchObject({ detail: expect.stringContaining('not today') });
    expect(await run({ approval: 'nothing' })).toMatchObject({ detail: expect.stringContaining('approval_unknown') });
    expect(runs).toEqual([]);
  });

  it('is asked for only where that spares a question, and only as far as the caller may', async () => {
    const { keep, request, now, ask, session } = await start();
    const open = { ...PLAN, inputs: {}, steps: [STEPS[0], { ...STEPS[2], id: 's2', dependsOn: ['s1'] }] };
    const { hash } = await keep(open);
    expect(await request({ inputs: {} })).toMatchObject({ ok: false, code: 'approval_not_needed' });
    await keep(PLAN, { replaces: hash });
    expect(await request({ inputs: {} })).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(await request({ hash })).toMatchObject({ status: 409 });
    const ofBob = await ask('POST /v1/kept-plans/morning/approval', { session, inputs: INPUTS }, { user: 'bob' });
    expect(ofBob.status).toBe(404);
    now.setPolicy({ rules: DENIED });
    expect(await request()).toMatchObject({ ok: false, code: 'unknown_tool' });
    const { body } = await ask('GET /v1/audit?event=approval_requested', undefined, OLGA);
    expect(body.entries[0]).toMatchObject({ outcome: 'denied', tool: 'file_delete', user: 'ann' });
    const plain = await ask('POST /v1/plans/run', { session, plan: { steps: [STEPS[0]] }, approval: 'x' }, ANN);
    expect([plain.status, plain.body.issues.join()]).toEqual([400, expect.stringContaining('approval')]);
  });

  it('covers no item of a loop, whatever it calls', async () => {
    const loop = { ...step('s3', 'file_delete', 'a.txt', 's2'), each: '${s1.paths}' };
    const executors = [
      createFunctionExecutor({ file_list: () => ({ paths: [1, 2] }), file_delete: () => ({ gone: true }) }),
    ];
    const { granted, run, ask } = await start({ more: { executors } });
    const { approval } = await granted({ ...PLAN, steps: [STEPS[0], STEPS[1], loop] });
    const { body } = await ask(`GET /v1/approvals/${approval}`, undefined, ANN);
    expect(body.plan.steps[2]).not.toHaveProperty('argumentsHash');
    expect(statusOf(await run({ approval }))).toMatchObject({ s2: 'done', 's3[0]': 'needs_approval' });
  });

  it('masks what a tool marks secret since the plan was kept, and is too large to be shown where it is', async () => {
    const { keep, request, now } = await start({ more: { options: { quotas: { approvalBytes: 6_000 } } } });
    const schemaWith = (pin: object) => ({
      inputSchema: { type: 'object', properties: { path: { type: 'string' }, pin } },
    });
    now.change('file_delete', schemaWith({ type: 'string' }));
    const open = { ...STEPS[2], arguments: { path: '${s1.path}', pin: 'hunter-22' } };
    const { hash } = await keep({ ...PLAN, steps: [STEPS[0], STEPS[1], open] });
    now.change('file_delete', schemaWith({ type: 'string', format: 'password' }));
    const { approval } = await request();
    expect(approval.plan.steps[2].arguments).toEqual({ path: '${s1.path}', pin: '[masked]' });
    await keep({ ...PLAN, goal: 'x'.repeat(6_000) }, { replaces: hash });
    expect(await request()).toMatchObject({ ok: false, code: 'approval_too_large' });
  });

  it('runs nothing more in a process from which another has taken the run', async () => {
    const store = await openStore();
    const made: string[] = [];
    const take = async () => {
      const [run] = await store.planRuns.list({ limit: 1 });
      const until = '9999-01-01T00:00:00.000Z';
      await store.planRuns.claim({ id: String(run?.id), owner: 'other' }, { at: until, until });
    };
    const functions = { file_list: take, file_delete: () => void made.push('deleted') };
    const { granted, run } = await start({ more: { store, executors: [createFunctionExecutor(functions)] } });
    const { approval } = await granted();
    expect(await run({ approval })).toMatchObject({
      status: 409,
      detail: expect.stringContaining('lost the plan run'),
    });
    expect(made).toEqual([]);
  });

  describe('whose run is resumed', () => {
    /** A run that broke off before its second step: the check failed. `s2` needs no approval, `s3` has that of the plan. */
    async function brokenOff() {
      const pin = { type: 'string', format: 'password' };
      const tools = [
        createTool('file_list', {}, undefined, { risk: 'low' }),
        createTool('file_read', { properties: { disk: { type: 'string' }, pin } }, undefined, { risk: 'medium' }),
        createTool('file_delete', { properties: { disk: { type: 'string' } } }, undefined, { risk: 'high' }),
      ];
      const catalog = createCatalog(tools);
      const made: string[] = [];
      const broken = ['list', 'read'];
      const doing = (name: string) => (input: object) => {
        if (broken[0] === name) throw new Error(`${broken.shift()} is busy`);
        made.push([name, ...Object.values(input)].join(' '));
      };
      const functions = { file_list: doing('list'), file_read: doing('read'), file_delete: doing('delete') };
      const executors = [createFunctionExecutor(functions)];
      const server = await start({ more: { catalog: () => catalog, executors } });
      const { keep, request, decide, run } = server;
      const steps = [
        { id: 's1', tool: 'file_list', arguments: {} },
        { id: 's2', tool: 'file_read', arguments: { disk: '${input.disk}', pin: '${input.pin}' }, dependsOn: ['s1'] },
        { id: 's3', tool: 'file_delete', arguments: { disk: '${input.disk}' }, dependsOn: ['s2'] },
      ];
      await keep({ goal: '', inputs: { disk: {}, pin: {} }, steps });
      const begin = async (inputs: object) => {
        const { approval } = await request({ inputs });
        await decide(approval.id);
        return String((await run({ approval: approval.id, inputs })).id);
      };
      return { ...server, begin, made };
    }

    it('takes no other value in place of one that is known', async () => {
      const { begin, resume, made } = await brokenOff();
      const id = await begin({ disk: 'main', pin: 'hunter-22' });
      expect(await resume(id, { s2: { disk: 'other', pin: 'hunter-22' } })).toMatchObject({
        status: 400,
        issues: ['arguments: s2.disk is no secret that was left out; leave it out here'],
      });
      expect(made).toEqual([]);
    });

    // The disk has the value of the pin, and so is masked with it.
    const given = (disk: string) => ({ s2: { disk, pin: 'main' }, s3: { disk: 'main' } });

    it('asks for a step that was shown with other arguments, whatever its risk, also at its second call', async () => {
      const { begin, resume, decide, made } = await brokenOff();
      const id = await begin({ disk: 'main', pin: 'main' });
      const asked = await resume(id, given('other'));
      expect(asked).toMatchObject({ state: 'paused', steps: { s2: { status: 'needs_approval', attempts: 1 } } });
      await decide(asked.steps.s2.approval, {}, 'refuse');
      const codes = [];
      for (const disk of ['main', 'other', 'third']) codes.push((await resume(id, given(disk))).steps.s2.failure.code);
      expect(codes).toEqual(['tool_failed', 'approval_refused', 'needs_approval']);
      expect(made).toEqual(['list']);
    });

    it('goes on under the grant with the values that were shown', async () => {
      const { begin, resume, made } = await brokenOff();
      const id = await begin({ disk: 'main', pin: 'main' });
      await resume(id, given('main'));
      expect((await resume(id, given('main'))).state).toBe('done');
      expect(made).toEqual(['list', 'read main main', 'delete main']);
    });
  });

  it('comes back where the quota leaves no room for the run', async () => {
    const store = await openStore();
    const { granted, run } = await start({ more: { store, options: { quotas: { allRunBytes: 2_000 } } } });
    const { approval } = await granted();
    const at = '2026-01-01T00:00:00.000Z';
    const old = {
      id: 'old',
      user: 'ann',
      plan: 'x'.repeat(1_400),
      state: 'done',
      steps: {},
      createdAt: at,
      updatedAt: at,
    };
    await store.planRuns.create(old);
    expect(await run({ approval })).toMatchObject({ status: 429, code: 'quota_exceeded' });
    await store.prune('runs', '9999-01-01T00:00:00.000Z');
    expect(statusOf(await run({ approval }))).toMatchObject({ s2: 'done' });
  });

  it('is bound to its secrets, and shows none', async () => {
    const pin = { type: 'string', format: 'password' };
    const tools = [createTool('file_delete', { properties: { pin } }, undefined, { risk: 'high' })];
    const catalog = createCatalog(tools);
    const pins: unknown[] = [];
    const executors = [createFunctionExecutor({ file_delete: (input) => pins.push(input.pin) })];
    const { keep, request, decide, run, ask } = await start({ more: { catalog: () => catalog, executors } });
    const steps = [{ ...step('s1', 'file_delete'), arguments: { pin: '${input.pin}' }, purpose: 'with hunter-22' }];
    await keep({ goal: 'delete with hunter-22', inputs: { pin: {} }, steps });
    const inputs = { pin: 'hunter-22' };
    const { approval } = await request({ inputs });
    expect(approval.plan.steps[0].arguments.pin).toMatch(/^\[secret: 9 characters, /u);
    const { body } = await ask(`GET /v1/approvals/${approval.id}`, undefined, OLGA);
    expect(body.plan).toMatchObject({ goal: 'delete with [masked]', steps: [{ purpose: 'with [masked]' }] });
    expect(JSON.stringify(body)).not.toContain('hunter-22');
    await decide(approval.id);
    expect(await run({ approval: approval.id, inputs: { pin: 'hunter-23' } })).toMatchObject({ status: 409 });
    expect(await run({ approval: approval.id, inputs })).toMatchObject({ state: 'done' });
    expect(pins).toEqual(['hunter-22']);
  });
});
