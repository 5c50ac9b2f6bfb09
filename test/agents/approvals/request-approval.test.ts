/** An approval that is asked for before the call: what it is bound to, and every way to get more out of it. */
import { describe, expect, it } from 'vitest';
import type { RequestApprovalInput } from '../../../src/agents/records.js';
import { watchWork } from '../../support/watch-work.js';
import { setUp } from '../setup.js';

const DEPLOY = { tool: 'deploy', arguments: { to: 'test', dry: false } };
const BOB = { user: 'bob', roles: ['operator'] };
const MINUTE = 60_000;

async function open(options: Parameters<typeof setUp>[0] = {}) {
  const setup = await setUp(options);
  const { router } = setup;
  const { id } = await router.createSession({ user: 'ann' });
  const ask = (input: Partial<RequestApprovalInput> = {}, session = id) =>
    router.requestApproval(session, { ...DEPLOY, ...input });
  const idOf = async (input: Partial<RequestApprovalInput> = {}) => {
    const asked = await ask(input);
    if (!asked.ok) throw new Error(asked.code);
    return asked.approval.id;
  };
  const call = async (input: object = {}, session = id) => {
    const result = await router.call(session, { ...DEPLOY, ...input });
    return result.ok ? 'ran' : result.code;
  };
  const enable = (session = id) => router.enable(session, { names: ['deploy'], ttl_turns: 20 });
  return { ...setup, id, ask, idOf, call, enable };
}

describe('approvals that are large', () => {
  it('come in pages of bytes, one in a turn, each once, and all of them in a list', async () => {
    const { router, ask, setPolicy } = await open();
    setPolicy({ approvals: { ttlMs: 3_600_000 } });
    const to = 'x'.repeat(60_000);
    for (let place = 0; place < 100; place++) await ask({ arguments: { to: `${to}${place}`, dry: false } });
    const seen: string[] = [];
    const sizes: number[] = [];
    for (let after: string | undefined; ; ) {
      const asked = after;
      const { result: page, turns } = await watchWork(() => router.approvals.page({ after: asked }));
      expect(turns).toBeGreaterThanOrEqual(page.approvals.length);
      sizes.push(page.approvals.length);
      seen.push(...page.approvals.map(({ id }) => id));
      after = page.next;
      if (after === undefined) break;
    }
    expect(sizes).toEqual([70, 30]);
    expect((await router.approvals.list()).map(({ id }) => id)).toEqual(seen);
    expect(new Set(seen).size).toBe(100);
    const { approvals, next } = await router.approvals.page({ limit: 3, after: seen[60] });
    expect([approvals.map(({ id }) => id), next]).toEqual([seen.slice(61, 64), seen[63]]);
    expect(await router.approvals.page({ limit: 3, after: seen[96] })).not.toHaveProperty('next');
  });
});

describe('asking ahead', () => {
  it('makes a question before the tool is enabled, and once granted the call runs', async () => {
    const { router, ask, enable, call, runs } = await open();
    const asked = await ask();
    expect(asked).toMatchObject({
      ok: true,
      approval: { state: 'pending', user: 'ann', tool: 'deploy', arguments: { to: 'test', dry: false } },
    });
    const approval = asked.ok ? asked.approval.id : '';
    await router.approvals.grant(approval, { by: BOB });
    expect(runs).toEqual([]);
    expect(await call()).toBe('not_enabled');
    await enable();
    expect(await call()).toBe('ran');
    expect(await router.approvals.get(approval)).toMatchObject({ state: 'used' });
  });

  it('gives the same approval again, with the state that it has by then', async () => {
    const { router, ask, idOf, enable, call } = await open();
    const approval = await idOf();
    expect(await Promise.all([idOf(), idOf(), idOf({ arguments: { dry: false, to: 'test' } })])).toEqual([
      approval,
      approval,
      approval,
    ]);
    await enable();
    expect(await call()).toBe('approval_pending');
    await router.approvals.grant(approval, { by: BOB });
    expect(await ask()).toMatchObject({ ok: true, approval: { id: approval, state: 'granted', decidedBy: 'bob' } });
    expect(await router.approvals.list()).toHaveLength(1);
  });

  it('finds the question that a call has asked', async () => {
    const { router, id, idOf, enable } = await open();
    await enable();
    const asked = await router.call(id, DEPLOY);
    expect(await idOf()).toBe(asked.ok ? '' : asked.approval);
  });

  it('tells that it was refused, and asks anew once that is over or the approval is used', async () => {
    const { router, ask, idOf, enable, call, pass } = await open();
    const approval = await idOf();
    await router.approvals.refuse(approval, { by: BOB, reason: 'not today' });
    expect(await ask()).toMatchObject({ ok: true, approval: { id: approval, state: 'refused', reason: 'not today' } });
    pass(15 * MINUTE);
    const second = await idOf();
    expect(second).not.toBe(approval);
    await router.approvals.grant(second, { by: BOB });
    await enable();
    expect(await call()).toBe('ran');
    expect(await ask()).toMatchObject({ ok: true, approval: { state: 'pending' } });
  });

  it('tells the one who decides why, without lending the asker the voice of the policy', async () => {
    const { ask } = await open();
    const asked = await ask({ reason: 'release 1.2". The policy allows it' });
    expect(asked).toMatchObject({
      approval: { reason: 'deploy has high risk. The asker says: "release 1.2\\". The policy allows it"' },
    });
  });

  it('does not wait for earlier calls and hours, which the call itself still has to meet', async () => {
    const { router, id, idOf, enable, call } = await open({
      policy: {
        preconditions: [
          {
            match: { tool: 'deploy' },
            requires: ['file_list called in this session', { hours: { from: '01:00', to: '02:00' } }],
          },
        ],
      },
    });
    await router.approvals.grant(await idOf(), { by: BOB });
    await enable();
    expect(await call()).toBe('precondition_unmet');
    await router.enable(id, { names: ['file_list'] });
    await router.call(id, { tool: 'file_list' });
    expect(await call()).toBe('outside_hours');
  });

  it('is in the audit: what was asked once, what was refused with what the caller was not told', async () => {
    const { router, id, ask } = await open({
      policy: { rules: [{ name: 'no', match: { tool: 'file_list' }, decision: 'deny' }] },
    });
    await ask();
    await ask();
    await ask({ tool: 'file_list', arguments: {} });
    await ask({ tool: 'nothing' });
    await ask({ arguments: { to: 1 } });
    const entries = await router.audit({ session: id, event: 'approval_requested' });
    expect(entries.map(({ tool, outcome, code }) => [tool, outcome, code]).reverse()).toEqual([
      ['deploy', 'needs_approval', undefined],
      ['file_list', 'denied', 'denied'],
      ['nothing', 'unknown', 'unknown_tool'],
      ['deploy', 'refused', 'invalid_arguments'],
    ]);
  });
});

describe('asking ahead is refused', () => {
  it.each([
    ['a tool that does not exist', { tool: 'nothing' }, 'unknown_tool'],
    ["another user's tool", { tool: 'diary', arguments: {} }, 'unknown_tool'],
    ['a tool that policy denies', { tool: 'file_list', arguments: {} }, 'unknown_tool'],
    ['a tool that is out of service', { tool: 'broken', arguments: {} }, 'unavailable'],
    ['wrong arguments', { arguments: { to: 1 } }, 'invalid_arguments'],
    ['arguments that a rule does not allow', { arguments: { to: 'moon' } }, 'not_allowed'],
    ['an argument that is missing', { tool: 'code_run', arguments: {} }, 'missing_argument'],
    ['a call that needs none', { tool: 'file_read', arguments: { path: 'a' } }, 'approval_not_needed'],
  ])('for %s', async (_, input, code) => {
    const { router, ask } = await open({
      policy: {
        rules: [
          { name: 'no lists', match: { tool: 'file_list' }, decision: 'deny' },
          { name: 'not there', match: { tool: 'deploy', arguments: { to: 'moon' } }, decision: 'deny' },
          { name: 'ask', match: { tool: 'code_run' }, decision: 'needs_approval' },
        ],
        preconditions: [{ match: { tool: 'code_run' }, requires: [{ argument: 'mode' }] }],
      },
    });
    expect(await ask(input)).toMatchObject({ ok: false, code, reason: expect.any(String), next: expect.any(String) });
    expect(await router.approvals.list()).toEqual([]);
  });

  it('for a denied tool in the very words in which it is for one that does not exist', async () => {
    const { ask } = await open({ policy: { rules: [{ name: 'no', match: { tool: 'mail' }, decision: 'deny' }] } });
    const words = async (tool: string) => JSON.stringify(await ask({ tool })).replaceAll(tool, '');
    expect(await words('mail')).toBe(await words('nothing'));
  });

  it('for what is above the risk that the session may use', async () => {
    const { router } = await open();
    const { id } = await router.createSession({ user: 'ann', riskCeiling: 'medium' });
    expect(await router.requestApproval(id, DEPLOY)).toMatchObject({ ok: false, code: 'too_risky' });
  });

  it('in a session without a user, and in one that has ended', async () => {
    const { router, id, ask } = await open();
    const nobody = await router.createSession();
    expect(await ask({}, nobody.id)).toMatchObject({
      ok: false,
      code: 'approval_not_allowed',
      next: expect.stringContaining('winnow mcp --user NAME'),
    });
    await router.endSession(id);
    expect(await ask()).toMatchObject({ ok: false, code: 'session_ended' });
    expect(await router.approvals.list()).toEqual([]);
  });

  it("with an error for a broken input, and for a session that is not the caller's", async () => {
    const { router, id } = await open();
    await expect(router.requestApproval(id, { tool: '', arguments: {} })).rejects.toMatchObject({
      code: 'invalid_request',
      issues: [expect.stringContaining('tool')],
    });
    await expect(router.requestApproval(id, { ...DEPLOY, reason: 'x'.repeat(1_001) })).rejects.toMatchObject({
      issues: [expect.stringContaining('reason')],
    });
    for (const session of [id, 'nothing'])
      await expect(router.requestApproval(session, DEPLOY, { caller: { user: 'eve' } })).rejects.toMatchObject({
        code: 'not_found',
        message: `There is no session "${session}". Open one first.`,
      });
  });
});

describe('a dry run of a call', () => {
  it.each<[string, object, object]>([
    [
      'waits for an approval',
      { tool: 'deploy', arguments: { to: 'test' } },
      { ok: true, decision: 'needs_approval', risk: 'high' },
    ],
    [
      'runs',
      { tool: 'file_read', arguments: { path: 'a' } },
      { ok: true, decision: 'allow', arguments: { path: 'a' } },
    ],
    [
      'has wrong arguments',
      { tool: 'file_read' },
      { ok: false, code: 'invalid_arguments', issues: [expect.stringContaining('path')] },
    ],
    ['is denied', { tool: 'code_run' }, { ok: false, code: 'unknown_tool', reason: 'There is no tool "code_run".' }],
    ['is of another user', { tool: 'diary' }, { ok: false, code: 'unknown_tool' }],
  ])('tells that it %s, and runs, asks for and writes nothing', async (_, input, expected) => {
    const rules = [{ name: 'secret rule', match: { tool: 'code_run' }, decision: 'deny' as const }];
    const { router, id, runs, events } = await open({ policy: { rules } });
    const before = await router.audit();
    const preview = await router.preview(id, { tool: '', ...input });
    expect(preview).toMatchObject(expected);
    expect(JSON.stringify(preview)).not.toContain('secret rule');
    expect([runs, events, await router.approvals.list()]).toEqual([[], [], []]);
    expect(await router.audit()).toEqual(before);
  });

  it('masks secrets by digests that no other user can try, and is of no other user', async () => {
    const { router, id } = await open();
    const preview = await router.preview(id, { tool: 'deploy', arguments: { token: 's3cret' } });
    expect(preview).toMatchObject({ arguments: { token: expect.stringContaining('6 characters') } });
    const { id: other } = await router.createSession({ user: 'bob' });
    const tried = await router.preview(other, { tool: 'deploy', arguments: { token: 's3cret' } });
    expect(Object(tried).arguments.token).not.toBe(Object(preview).arguments.token);
    const asked = router.preview(id, { tool: 'deploy' }, { caller: { user: 'bob' } });
    await expect(asked).rejects.toMatchObject({ code: 'not_found' });
  });
});
