/** A session over HTTP from its first search to the audit: calls, approvals ahead of them, and the policy as it is shown. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Planner } from '../../../../src/core/planner.js';
import { readingPlanner, startAgentServer } from './setup.js';

/** The life of an agent's session over real HTTP, with a real store, sandbox and index. */
describe('the life of a session', () => {
  const ANN = { user: 'ann' };
  const BOB = { user: 'bob' };
  const OPERATOR = { user: 'olga', roles: 'staff, operator' };
  const BEN = { user: 'ben', roles: 'operator' };
  const DELETE = { tool: 'file_delete', arguments: { path: 'old.txt' } };

  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'winnow-agents-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("is in the list of its user and of operators, and in nobody else's", async () => {
    const { ask } = await startAgentServer();
    const { body } = await ask('POST /v1/sessions', {}, ANN);
    await ask('POST /v1/sessions', {}, BOB);
    const listed = async (query: string, who?: { user: string; roles?: string }) => {
      const { status, body: answer } = await ask(`GET /v1/sessions${query}`, undefined, who);
      return [status, answer.sessions?.map(({ user }: { user: string }) => user)];
    };
    expect((await ask('GET /v1/sessions', undefined, ANN)).body.sessions).toEqual([body]);
    expect(await listed('?user=bob', ANN)).toEqual([200, []]);
    expect(await listed('?limit=1', OPERATOR)).toEqual([200, ['bob']]);
    expect(await listed('?user=ann')).toEqual([200, ['ann']]);
    expect((await listed('?limit=0', ANN))[0]).toBe(400);
  });

  it('shows operators the policy in force, with what of it is in vain, and nobody else', async () => {
    const { ask } = await startAgentServer({ policy: { pinned: ['file_reed'], approvals: { ttlMs: 5_000 } } });
    const { body } = await ask('GET /v1/policy', undefined, OPERATOR);
    expect(body).toMatchObject({ settings: { pinned: ['file_reed'], approvals: { ttlMs: 5_000 }, default: 'allow' } });
    expect(body.notes).toEqual([{ level: 'problem', message: 'pinned: "file_reed" matches no tool' }]);
    expect((await ask('GET /v1/policy', undefined, ANN)).status).toBe(404);
  });

  it('goes from a search to an approved call, once, and all of it is in the audit', async () => {
    const { ask, runs } = await startAgentServer({ place: { file: join(folder, 'life.db') } });
    const opened = await ask('POST /v1/sessions', { user: 'mallory', roles: ['operator'] }, ANN);
    expect([opened.status, opened.body]).toMatchObject([201, { user: 'ann', roles: [], turn: 1, enabled: [] }]);
    const session = `/v1/sessions/${opened.body.id}`;

    const found = await ask(`POST ${session}/search`, { query: 'delete a file' }, ANN);
    expect(found.body.matches[0]).toMatchObject({ name: 'file_delete', risk: 'high', enabled: false });
    expect((await ask(`POST ${session}/call`, DELETE, ANN)).body).toMatchObject({ ok: false, code: 'not_enabled' });
    const enabled = await ask(`POST ${session}/enable`, { names: ['file_delete', 'file_read', 'diary'] }, ANN);
    expect(enabled.body).toMatchObject({
      enabled: [{ name: 'file_delete', expires_after_turns: 3 }, { name: 'file_read' }],
      rejected: [{ name: 'diary', code: 'unknown_tool' }],
    });
    const read = await ask(`POST ${session}/call`, { tool: 'file_read', arguments: { path: 'a' } }, ANN);
    expect(read.body).toMatchObject({ ok: true, output: { text: 'hello' } });

    const refused = await ask(`POST ${session}/call`, DELETE, ANN);
    expect([refused.status, refused.body]).toMatchObject([
      200,
      { ok: false, code: 'needs_approval', reason: expect.any(String), next: expect.any(String) },
    ]);
    const approval = `/v1/approvals/${refused.body.approval}`;
    expect((await ask(`POST ${approval}/grant`, {}, ANN)).body).toMatchObject({ ok: false, code: 'approval_own' });
    expect((await ask(`POST ${session}/call`, DELETE, ANN)).body).toMatchObject({ code: 'approval_pending' });
    const granted = await ask(`POST ${approval}/grant`, { by: { user: 'ann' }, reason: 'it is old' }, BEN);
    expect(granted.body).toMatchObject({ ok: true, approval: { state: 'granted', decidedBy: 'ben' } });

    const other = { ...DELETE, arguments: { path: 'new.txt' }, approval: refused.body.approval };
    expect((await ask(`POST ${session}/call`, other, ANN)).body).toMatchObject({ code: 'approval_mismatch' });
    expect((await ask(`POST ${session}/call`, DELETE, ANN)).body).toMatchObject({ ok: true, output: { gone: true } });
    const again = { ...DELETE, approval: refused.body.approval };
    expect((await ask(`POST ${session}/call`, again, ANN)).body).toMatchObject({ ok: false, code: 'approval_used' });
    expect(runs).toEqual(['file_read a', 'file_delete old.txt']);

    const { body: trail } = await ask(`GET /v1/audit?session=${opened.body.id}&tool=file_delete`, undefined, OPERATOR);
    expect(trail.entries.map((one: Record<string, unknown>) => `${one.event} ${one.outcome}`).reverse()).toEqual([
      'call refused',
      'enable allowed',
      'approval_requested needs_approval',
      'call needs_approval',
      'call needs_approval',
      'approval_granted allowed',
      'call refused',
      'call allowed',
      'call refused',
    ]);
  });

  it('lets an approver change the arguments of a call, which the asker sees and makes with these', async () => {
    const { ask } = await startAgentServer();
    const { body: opened } = await ask('POST /v1/sessions', {}, ANN);
    const session = `/v1/sessions/${opened.id}`;
    await ask(`POST ${session}/enable`, { names: ['file_delete'] }, ANN);
    const { body: refused } = await ask(`POST ${session}/call`, DELETE, ANN);
    const approval = `/v1/approvals/${refused.approval}`;
    const grant = (given: unknown, who: Parameters<typeof ask>[2] = BEN) =>
      ask(`POST ${approval}/grant`, { arguments: given }, who);
    expect((await grant({ path: 1 })).body).toMatchObject({ ok: false, code: 'invalid_arguments' });
    expect((await grant('x')).status).toBe(400);
    expect((await grant({ path: 'b' }, ANN)).body).toMatchObject({ ok: false, code: 'approval_own' });
    expect((await grant({ path: 'trash.txt' })).body).toMatchObject({ ok: true });
    const granted = { arguments: { path: 'trash.txt' } };
    expect((await ask(`GET ${approval}`, undefined, ANN)).body).toMatchObject({
      ...DELETE,
      tool: 'file_delete',
      granted,
    });
    const again = await ask(`POST ${session}/call`, { ...DELETE, approval: refused.approval }, ANN);
    expect(again.body).toMatchObject({ ok: false, code: 'approval_edited', granted });
    const { arguments: given } = again.body.granted;
    expect((await ask(`POST ${session}/call`, { ...DELETE, arguments: given }, ANN)).body).toMatchObject({ ok: true });
  });

  it('keeps session, enablements and open approvals over a restart of the server', async () => {
    const place = { file: join(folder, 'restart.db') };
    const first = await startAgentServer({ place });
    const { body: opened } = await first.ask('POST /v1/sessions', {}, ANN);
    const session = `/v1/sessions/${opened.id}`;
    await first.ask(`POST ${session}/enable`, { names: ['file_delete'], ttl_turns: 2 }, ANN);
    const { body: refused } = await first.ask(`POST ${session}/call`, DELETE, ANN);
    await first.app.close();

    const { ask, runs } = await startAgentServer({ place });
    expect((await ask(`GET ${session}`, undefined, ANN)).body).toMatchObject({
      turn: 1,
      enabled: [{ name: 'file_delete', via: 'asked', remainingTurns: 2 }],
    });
    await ask(`POST /v1/approvals/${refused.approval}/grant`, {}, BEN);
    expect((await ask(`POST ${session}/call`, DELETE, ANN)).body).toMatchObject({ ok: true });
    expect(runs).toEqual(['file_delete old.txt']);
    expect((await ask(`POST ${session}/turns`, undefined, ANN)).body).toMatchObject({ turn: 2 });
    expect((await ask(`POST ${session}/turns`, undefined, ANN)).body).toMatchObject({ turn: 3, enabled: [] });
    expect((await ask(`DELETE ${session}`, undefined, ANN)).body).toMatchObject({ endedAt: expect.any(String) });
    expect((await ask(`POST ${session}/turns`, undefined, ANN)).status).toBe(404);
    expect((await ask(`POST ${session}/call`, DELETE, ANN)).body).toMatchObject({ code: 'session_ended' });
  });

  it('of another user looks like none, whatever is asked of it', async () => {
    const { ask, runs } = await startAgentServer();
    const { body: opened } = await ask('POST /v1/sessions', {}, ANN);
    const questions: [string, string, unknown?][] = [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/turns'],
      ['POST', '/search', { query: 'x' }],
      ['POST', '/enable', { names: ['file_read'] }],
      ['POST', '/disable', { names: ['file_read'] }],
      ['GET', '/tools'],
      ['POST', '/call', DELETE],
    ];
    for (const [method, end, body] of questions) {
      for (const who of [BOB, OPERATOR]) {
        const real = await ask(`${method} /v1/sessions/${opened.id}${end}`, body, who);
        const none = await ask(`${method} /v1/sessions/nothing${end}`, body, who);
        expect([method, end, real.status, real.body.code]).toEqual([method, end, 404, 'not_found']);
        expect(real.body.detail).toBe(none.body.detail.replace('nothing', opened.id));
      }
    }
    expect((await ask(`GET /v1/sessions/${opened.id}`, undefined, ANN)).body).toMatchObject({ turn: 1, enabled: [] });
    expect(runs).toEqual([]);
  });

  describe('what is about all users', () => {
    it('is for operators: the audit and the index', async () => {
      const { ask } = await startAgentServer();
      for (const line of ['GET /v1/audit', 'GET /v1/index', 'POST /v1/index/rebuild']) {
        expect([line, (await ask(line, undefined, ANN)).status]).toEqual([line, 404]);
        for (const who of [OPERATOR, {}]) expect([line, (await ask(line, undefined, who)).status]).toEqual([line, 200]);
      }
      expect((await ask('GET /v1/audit?limit=none', undefined, ANN)).status).toBe(404);
      expect((await ask('GET /v1/index')).body).toMatchObject({ state: 'ready', tools: 4 });
    });

    it('telemetry gives a user their own figures alone', async () => {
      const { ask } = await startAgentServer();
      for (const who of [ANN, BOB]) {
        const { body } = await ask('POST /v1/sessions', {}, who);
        await ask(`POST /v1/sessions/${body.id}/search`, { query: 'read' }, who);
      }
      const searches = async (query: string, who: object) =>
        (await ask(`GET /v1/telemetry${query}`, undefined, who)).body.total?.searches;
      expect(await searches('', OPERATOR)).toBe(2);
      expect(await searches('', ANN)).toBe(1);
      expect(await searches('?user=ann', ANN)).toBe(1);
      expect((await ask('GET /v1/telemetry?user=bob', undefined, ANN)).status).toBe(404);
      const { body } = await ask('GET /v1/telemetry?by=user');
      expect(body.rows.map((row: { key: string }) => row.key)).toEqual(['ann', 'bob']);
    });

    it('approvals are seen by those who may decide, and by the asker', async () => {
      const { ask } = await startAgentServer({ policy: { approvals: { approvers: { roles: ['lead'] } } } });
      const { body: opened } = await ask('POST /v1/sessions', {}, ANN);
      await ask(`POST /v1/sessions/${opened.id}/enable`, { names: ['file_delete'] }, ANN);
      const { body: refused } = await ask(`POST /v1/sessions/${opened.id}/call`, DELETE, ANN);
      const seen = async (who: object, query = '') =>
        (await ask(`GET /v1/approvals${query}`, undefined, who)).body.approvals.length;
      const lead = { user: 'lea', roles: 'lead' };
      expect([await seen(ANN), await seen(lead), await seen(OPERATOR), await seen({})]).toEqual([1, 1, 1, 1]);
      expect([await seen(BOB), await seen(BOB, '?user=ann')]).toEqual([0, 0]);
      expect([await seen(lead, '?state=pending'), await seen(lead, '?state=granted')]).toEqual([1, 0]);
      const one = `GET /v1/approvals/${refused.approval}`;
      expect((await ask(one, undefined, BOB)).status).toBe(404);
      expect((await ask(one, undefined, ANN)).body).toMatchObject({
        tool: 'file_delete',
        arguments: { path: 'old.txt' },
      });
      const by = { by: { user: 'lea', roles: ['lead'] } };
      expect((await ask(`POST /v1/approvals/${refused.approval}/grant`, by, BOB)).body.code).toBe('approval_unknown');
      expect((await ask(`POST /v1/approvals/${refused.approval}/refuse`, {}, lead)).body).toMatchObject({ ok: true });
      expect((await ask(`POST /v1/sessions/${opened.id}/call`, DELETE, ANN)).body.code).toBe('approval_refused');
    });
  });
});

it('an approval is asked for ahead of the call, which then runs once, and is of no other user', async () => {
  const { ask, runs } = await startAgentServer();
  const [ann, bob] = [{ user: 'ann' }, { user: 'bob' }];
  const remove = { tool: 'file_delete', arguments: { path: 'old.txt' } };
  const { body: opened } = await ask('POST /v1/sessions', {}, ann);
  const request = (more: object = {}, who: object = ann) =>
    ask('POST /v1/approvals', { session: opened.id, ...remove, ...more }, who);
  for (const more of [{}, { session: 'nothing' }])
    expect(await request(more, bob)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect((await ask('GET /v1/approvals')).body.approvals).toEqual([]);
  const asked = await request({ reason: 'tidy up' });
  expect(asked).toMatchObject({
    status: 201,
    body: { ok: true, approval: { state: 'pending', user: 'ann', ...remove } },
  });
  expect(asked.body.approval.reason).toContain('"tidy up"');
  const { id: approval } = asked.body.approval;
  expect((await ask(`POST /v1/approvals/${approval}/grant`, {}, ann)).body.code).toBe('approval_own');
  await ask(`POST /v1/approvals/${approval}/grant`, {}, { user: 'ben', roles: 'operator' });
  expect(await request()).toMatchObject({ status: 201, body: { approval: { id: approval, state: 'granted' } } });
  await ask(`POST /v1/sessions/${opened.id}/enable`, { names: ['file_delete'] }, ann);
  const call = async (more: object = {}) =>
    (await ask(`POST /v1/sessions/${opened.id}/call`, { ...remove, ...more }, ann)).body;
  expect(await call({ arguments: { path: 'old.txt ' }, approval })).toMatchObject({ code: 'approval_mismatch' });
  expect(await call()).toMatchObject({ ok: true });
  expect(await call({ approval })).toMatchObject({ code: 'approval_used' });
  expect(runs).toEqual(['file_delete old.txt']);
  const { status, body } = await request({ arguments: { path: 1 } });
  const told = { code: 'invalid_arguments', reason: expect.any(String), next: expect.any(String) };
  expect([status, body]).toEqual([200, expect.objectContaining({ ok: false, ...told })]);
});

/** What the policy hides is hidden also where no session asks: in the list of tools, and from the planner. */
describe('what is told of the policy', () => {
  const ANN = { user: 'ann' };
  const POLICY = {
    rules: [
      { name: 'nobody deletes', match: { tool: 'file_delete' }, decision: 'deny' as const },
      { name: 'interns do not list', match: { tool: 'file_list', role: 'intern' }, decision: 'deny' as const },
    ],
  };
  /** A planner that writes down what it was asked. */
  function recordingPlanner(): { planner: Planner; asked: Parameters<Planner['plan']>[0][] } {
    const planner = readingPlanner();
    const asked: Parameters<Planner['plan']>[0][] = [];
    const plan: Planner['plan'] = (request, call) => {
      asked.push(request);
      return planner.plan(request, call);
    };
    return { planner: { ...planner, plan }, asked };
  }

  describe('a tool that the policy denies', () => {
    const start = () => startAgentServer({ policy: POLICY, planner: readingPlanner() });
    const namesOf = (tools: { name: string }[]) => tools.map(({ name }) => name);

    it('is in no list, as the roles of the caller are', async () => {
      const { ask } = await start();
      const list = async (who: object) => namesOf((await ask('GET /v1/tools', undefined, who)).body.tools);
      expect(await list(ANN)).toEqual(['file_read', 'file_list']);
      expect(await list({ user: 'bob' })).toEqual(['file_read', 'file_list', 'diary']);
      expect(await list({ ...ANN, roles: 'dev,intern' })).toEqual(['file_read']);
      expect(await list({})).toEqual(['file_read', 'file_list']);
    });

    it.each(['/v1/plan', '/v1/select'])('is not chosen by %s, also where the caller demands it', async (path) => {
      const { ask } = await start();
      const asked = { message: 'Read the file a.txt', require: ['file_delete'], deny: ['file_list'] };
      const { status, body } = await ask(`POST ${path}`, asked, ANN);
      const { tools } = body.selection ?? body;
      expect([status, namesOf(tools)]).toEqual([200, ['file_read']]);
    });

    it('is not planned with anew when a run has failed, nor is what the session may not find', async () => {
      const { planner, asked } = recordingPlanner();
      const { ask } = await startAgentServer({ policy: POLICY, planner });
      const intern = { ...ANN, roles: 'intern' };
      const { body: session } = await ask('POST /v1/sessions', {}, intern);
      const plan = { steps: [{ id: 's1', tool: 'nothing', arguments: {} }] };
      const request = { message: 'Read the file a.txt' };
      await ask('POST /v1/plans/run', { session: session.id, plan, request }, intern);
      await ask('POST /v1/plans/run', { session: session.id, plan, request: { ...request, allow: ['diary'] } }, intern);
      expect(asked.map(({ allow }) => allow)).toEqual([['file_read'], []]);
    });
  });
});
