/** Runs of plans over HTTP as their user, another user and operators find them; and what stops one. */
import { describe, expect, it } from 'vitest';
import { createFunctionExecutor } from '../../../../src/agents/sandbox/executors/functions.js';
import { openStore } from '../../../../src/agents/store/open-store.js';
import { createCatalog } from '../../../../src/core/catalog/catalog.js';
import { createTool } from '../../../support/create-tool.js';
import { watchWork } from '../../../support/watch-work.js';
import { type AgentServerOptions, startAgentServer } from './setup.js';

const ANN = { user: 'ann' };
const BOB = { user: 'bob' };
const OLGA = { user: 'olga', roles: 'operator' };
const step = (id: string, tool: string, path?: string) => ({ id, tool, arguments: path === undefined ? {} : { path } });
const READ = { goal: 'read', steps: [step('s1', 'file_read', 'a')] };
const TIDY = { goal: 'tidy up', steps: [step('s1', 'file_list'), step('s2', 'file_delete', '${s1.path}')] };

async function start(options: AgentServerOptions = {}) {
  const server = await startAgentServer(options);
  const run = async (plan: object, who: Parameters<typeof server.ask>[2] = ANN) => {
    const { body: session } = await server.ask('POST /v1/sessions', {}, who);
    const names = ['file_list', 'file_read', 'file_delete', 'wait'];
    await server.ask(`POST /v1/sessions/${session.id}/enable`, { names }, who);
    return (await server.ask('POST /v1/plans/run', { session: session.id, plan }, who)).body;
  };
  const list = async (query = '', who?: Parameters<typeof server.ask>[2]) => {
    const { status, body } = await server.ask(`GET /v1/runs${query}`, undefined, who);
    return [status, body.runs?.map(({ id }: { id: string }) => id)];
  };
  const show = (id: string, who?: Parameters<typeof server.ask>[2]) => server.ask(`GET /v1/runs/${id}`, undefined, who);
  return { ...server, run, list, show };
}

describe('runs of plans', () => {
  it('are listed newest first: their own to a user, all to operators, by user, state and session', async () => {
    let now = 0;
    const clock = () => {
      now += 1_000;
      return new Date(now);
    };
    const { run, list } = await start({ more: { clock } });
    const [first, second, other] = [await run(READ), await run(TIDY), await run(READ, BOB)];
    expect(await list('', ANN)).toEqual([200, [second.id, first.id]]);
    expect(await list('?limit=1', ANN)).toEqual([200, [second.id]]);
    expect(await list('?state=paused', ANN)).toEqual([200, [second.id]]);
    expect(await list('?user=bob', ANN)).toEqual([200, []]);
    expect(await list('', OLGA)).toEqual([200, [other.id, second.id, first.id]]);
    expect(await list('?user=ann&state=done')).toEqual([200, [first.id]]);
    for (const query of ['?limit=201', '?state=planned', '?nonsense=1']) expect((await list(query, ANN))[0]).toBe(400);
  });

  it('tell what they are about in a list, without results', async () => {
    const { run, ask } = await start();
    const { id } = await run(TIDY);
    const { body } = await ask('GET /v1/runs', undefined, ANN);
    expect(body.runs).toEqual([
      {
        ...{ id, user: 'ann', state: 'paused', goal: 'tidy up', tools: ['file_list', 'file_delete'] },
        ...{ session: expect.any(String), isInterrupted: false },
        ...{ createdAt: expect.any(String), updatedAt: expect.any(String) },
      },
    ]);
  });

  it('are listed by what is kept beside the plan, which no list reads, also after a new plan', async () => {
    const { run, agents } = await start();
    const value = 'x'.repeat(100_000);
    const plan = { ...READ, goal: 'g'.repeat(50_000), inputs: { a: { value } } };
    for (let place = 0; place < 5; place++) await run(plan);
    const { result, parsed } = await watchWork(() => agents.plans.list({ user: 'ann', limit: 50 }));
    expect(result.map(({ goal, tools }) => [goal, tools])).toEqual(
      Array(5).fill([`${'g'.repeat(500)}…`, ['file_read']]),
    );
    expect(parsed).toBeLessThan(10_000);
  });

  it('of an earlier version of Winnow are listed by their plan', async () => {
    const store = await openStore();
    const { list, ask } = await start({ more: { store } });
    const plan = { plan: { ...READ, steps: READ.steps.map((one) => ({ ...one, dependsOn: [] })) }, generation: 0 };
    const at = '2026-01-01T00:00:00.000Z';
    await store.planRuns.create({
      id: 'old',
      user: 'ann',
      plan,
      state: 'done',
      steps: {},
      createdAt: at,
      updatedAt: at,
    });
    expect(await list('', ANN)).toEqual([200, ['old']]);
    const { body } = await ask('GET /v1/runs', undefined, ANN);
    expect(body.runs).toMatchObject([{ goal: 'read', tools: ['file_read'] }]);
    expect(await store.planRuns.list({ limit: 1 })).toMatchObject([{ summary: { goal: 'read' } }]);
  });

  it('have a total for each user: beyond it none begins or goes on, and older ones that are gone make room', async () => {
    const store = await openStore();
    const quotas = { allRunBytes: 4_000 };
    const { run, ask } = await start({ more: { store, options: { quotas } } });
    const paused = await run(TIDY);
    expect(await run({ ...READ, goal: 'x'.repeat(5_000) })).toMatchObject({
      ...{ status: 429, code: 'quota_exceeded' },
      detail: expect.stringMatching(
        /4000 \(quotas\.allRunBytes\)\. Wait until older runs are gone \(retention\.runs\), or ask/u,
      ),
    });
    const own = { id: String(paused.id), owner: 'test' };
    const until = new Date(Date.now() + 60_000).toISOString();
    await store.planRuns.claim(own, { at: new Date().toISOString(), until });
    const text = { id: 's1', status: 'done', attempts: 1, output: 'x'.repeat(4_000), generation: 0 };
    await store.planRuns.setStep(own, { id: 's1', state: text, at: until });
    expect((await ask(`POST /v1/plans/runs/${paused.id}/resume`, {}, ANN)).body.code).toBe('quota_exceeded');
    expect([(await run(READ)).code, (await run(READ, BOB)).state]).toEqual(['quota_exceeded', 'done']);
    await store.prune('runs', '9999-01-01T00:00:00.000Z');
    expect((await run(READ)).state).toBe('done');
  });

  it('show the plan, each step with its time, and which approval is waited for', async () => {
    const { run, show } = await start();
    const { id, steps } = await run(TIDY);
    const { body } = await show(id, ANN);
    expect(body).toMatchObject({
      ...{ id, state: 'paused', user: 'ann', isInterrupted: false, added: [] },
      plan: { goal: 'tidy up', steps: [{ id: 's1' }, { id: 's2', arguments: { path: '${s1.path}' } }] },
      steps: {
        s1: { status: 'done', output: { path: 'a.txt' }, updatedAt: expect.any(String) },
        s2: { status: 'needs_approval', arguments: { path: 'a.txt' }, failure: { code: 'needs_approval' } },
      },
      waitsFor: [{ step: 's2', approval: steps.s2.approval }],
    });
  });

  it("look to others like none: another user's, nobody's, and one that there never was", async () => {
    const { run, show, ask } = await start();
    const { id } = await run(TIDY);
    const { body: unowned } = await ask('POST /v1/sessions', {});
    const { body: own } = await ask('POST /v1/plans/run', { session: unowned.id, plan: READ });
    const none = await show('nothing', BOB);
    for (const [one, who] of [
      [id, BOB],
      [id, { user: 'bob', roles: 'Operator, admin' }],
      [own.id, ANN],
    ] as const) {
      const { status, body } = await show(one, who);
      const { requestId } = body;
      const detail = none.body.detail.replace('nothing', one);
      expect([status, body]).toEqual([404, { ...none.body, requestId, detail }]);
      expect((await ask(`POST /v1/plans/runs/${one}/cancel`, {}, who)).status).toBe(404);
    }
    for (const who of [ANN, OLGA, undefined]) expect((await show(id, who)).status).toBe(200);
  });

  it('show secrets of arguments and results to nobody, also not to operators', async () => {
    const secret = { type: 'string', format: 'password' };
    const login = createTool('file_read', { properties: { pin: secret } }, undefined, { risk: 'low' });
    const executors = [createFunctionExecutor({ file_read: ({ pin }) => ({ echo: `<b>${pin}</b>` }) })];
    const { run, show } = await start({ more: { catalog: () => createCatalog([login]), executors } });
    const { id } = await run({ steps: [{ id: 's1', tool: 'file_read', arguments: { pin: 'hunter-22' } }] });
    for (const who of [ANN, OLGA, undefined]) {
      const { body } = await show(id, who);
      expect(body.steps.s1).toMatchObject({ status: 'done', isMasked: true, output: { echo: '<b>[masked]</b>' } });
      expect(JSON.stringify(body)).not.toContain('hunter-22');
    }
  });

  describe('with a step that policy may stop', () => {
    const pin = { type: 'string', format: 'password' };
    const inputSchema = { properties: { pin, count: { type: 'integer', default: 3 } } };
    const login = createTool('file_read', inputSchema, undefined, { risk: 'medium' });
    const rules = [
      { name: 'not for interns', match: { tool: 'file_read', role: 'intern' }, decision: 'deny' as const },
    ];
    const startWith = (policy: object) => start({ policy, more: { catalog: () => createCatalog([login]) } });
    const planOf = (tool: string) => ({ steps: [{ id: 's1', tool, arguments: { pin: 'hunter-22' } }] });

    it('say of a tool that is denied no more than of one that is not there', async () => {
      const { run, show, ask } = await startWith({ rules });
      const intern = { ...ANN, roles: 'intern' };
      const { body: session } = await ask('POST /v1/sessions', {}, intern);
      const told = async (tool: string) => {
        const { body } = await show((await run(planOf(tool), intern)).id, intern);
        const asked = { session: session.id, plan: planOf(tool), dryRun: true };
        const tried = await ask('POST /v1/plans/run', asked, intern);
        const { updatedAt: _, ...s1 } = body.steps.s1;
        return JSON.parse(JSON.stringify([body.plan, s1, tried.body.steps]).replaceAll(tool, 'it'));
      };
      expect(await told('file_read')).toEqual(await told('missing'));
    });

    it.each([
      ['is denied to others', { rules }, undefined],
      ['is too risky', { riskCeiling: 'low' }, 'too_risky'],
    ])('keep no secret where the tool %s', async (_, policy, code) => {
      const { run, show } = await startWith(policy);
      const { body } = await show((await run(planOf('file_read'))).id, ANN);
      expect([body.steps.s1.arguments.pin, body.steps.s1.failure?.code]).toEqual(['[masked]', code]);
    });
  });

  it('say that a process which ran them is gone', async () => {
    const store = await openStore();
    const { run, show, ask } = await start({ more: { store } });
    const { id } = await run(READ);
    const at = new Date().toISOString();
    const other = { id, owner: 'other' };
    await store.planRuns.claim(other, { at, until: at });
    await store.planRuns.setState(other, { state: 'running', at });
    expect((await show(id, ANN)).body).toMatchObject({ state: 'running', isInterrupted: true });
    await store.planRuns.renew(other, '9999-01-01T00:00:00.000Z');
    expect((await show(id, ANN)).body).toMatchObject({ state: 'running', isInterrupted: false });
    expect((await ask('GET /v1/runs', undefined, ANN)).body.runs).toMatchObject([{ isInterrupted: false }]);
    const cancelled = await ask(`POST /v1/plans/runs/${id}/cancel`, {}, ANN);
    expect([cancelled.status, cancelled.body.code]).toEqual([409, 'conflict']);
  });

  it('tell what a new plan reaches, where one waits for a look', async () => {
    const store = await openStore();
    const { run, show } = await start({ more: { store } });
    const { id } = await run(READ);
    const at = new Date().toISOString();
    const before = { plan: READ, steps: {} };
    const plan = { ...READ, steps: [step('s1', 'file_delete', 'b')] };
    const stored = { plan, generation: 1, earlier: before };
    await store.planRuns.claim({ id, owner: 'other' }, { at, until: at });
    await store.planRuns.setState({ id, owner: 'other' }, { state: 'paused', plan: stored, at });
    expect((await show(id, ANN)).body).toMatchObject({
      added: ['s1 calls file_delete', 's1.path: "b"'],
      earlier: { plan: { steps: [{ tool: 'file_read' }] } },
    });
  });

  it('are stopped by their id, by their user alone, and go on when they are resumed', async () => {
    const calls: (() => void)[] = [];
    let began = () => {};
    const isWaiting = new Promise<void>((resolve) => (began = resolve));
    const tools = [
      createTool('wait', {}, undefined, { risk: 'low' }),
      createTool('file_list', {}, undefined, { risk: 'low' }),
    ];
    const executors = [
      createFunctionExecutor({
        file_list: () => ({ path: 'a.txt' }),
        wait: (_, { signal }) =>
          new Promise((resolve, reject) => {
            calls.push(() => resolve('waited'));
            signal.addEventListener('abort', () => reject(signal.reason));
            began();
          }),
      }),
    ];
    const more = { catalog: () => createCatalog(tools), executors, limits: { timeoutMs: 60_000 } };
    const { run, list, ask } = await start({ more });
    const running = run({ steps: [step('s1', 'wait'), { ...step('s2', 'file_list'), dependsOn: ['s1'] }] });
    await isWaiting;
    const [, [id]] = (await list('?state=running', ANN)) as [number, string[]];
    const cancel = `POST /v1/plans/runs/${id}/cancel`;
    expect((await ask(cancel, {}, BOB)).status).toBe(404);
    const { body: cancelled } = await ask(cancel, {}, ANN);
    expect(cancelled).toMatchObject({ id, state: 'cancelled', isInterrupted: false });
    expect(cancelled.steps).not.toHaveProperty('s2');
    expect(await running).toMatchObject({ id, state: 'cancelled' });
    expect((await ask(cancel, {}, ANN)).status).toBe(409);
    const resumed = ask(`POST /v1/plans/runs/${id}/resume`, { repeat: ['s1'] }, ANN);
    while (calls.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    calls[1]?.();
    expect((await resumed).body).toMatchObject({ state: 'done', steps: { s2: { output: { path: 'a.txt' } } } });
  });
});
