/** A grant with other arguments than were asked for: it is for a call with these, once, and for no other. */
import { describe, expect, it } from 'vitest';
import { parseQuotas } from '../../../src/agents/quotas.js';
import { createTool } from '../../support/create-tool.js';
import { setUp, TOOLS } from '../setup.js';

const ASKED = { to: 'live', dry: false };
const EDITED = { to: 'test', dry: true };
const BOB = { user: 'bob', roles: ['operator'] };
const MINUTE = 60_000;

async function ask(options: Parameters<typeof setUp>[0] = {}, asked: Record<string, unknown> = ASKED) {
  const setup = await setUp(options);
  const { router } = setup;
  const { id } = await router.createSession({ user: 'ann' });
  await router.enable(id, { names: ['deploy'], ttl_turns: 20 });
  const first = await router.call(id, { tool: 'deploy', arguments: asked });
  const approval = (!first.ok && first.approval) || '';
  const call = (given: Record<string, unknown>, more: object = {}) =>
    router.call(id, { tool: 'deploy', arguments: given, ...more });
  const codeOf = async (...given: Parameters<typeof call>) => {
    const result = await call(...given);
    return result.ok ? 'ran' : result.code;
  };
  const grant = (given: Record<string, unknown>, more: object = {}) =>
    router.approvals.grant(approval, { by: BOB, arguments: given, ...more });
  return { ...setup, id, approval, call, codeOf, grant };
}

describe('a grant with other arguments', () => {
  it('keeps what was asked and what was granted, each with its hash, for the asker to see', async () => {
    const { router, approval, grant } = await ask();
    const before = await router.approvals.get(approval);
    expect(await grant(EDITED, { reason: 'try it first' })).toMatchObject({ ok: true });
    const after = await router.approvals.get(approval);
    expect(after).toMatchObject({
      state: 'granted',
      decidedBy: 'bob',
      reason: 'try it first',
      arguments: ASKED,
      argumentsHash: before?.argumentsHash,
      granted: { arguments: EDITED, argumentsHash: expect.stringMatching(/^[0-9a-f]{64}$/u) },
    });
    expect(after?.granted?.argumentsHash).not.toBe(before?.argumentsHash);
  });

  it.each([false, true])(
    'runs no call as it was asked for, and says what was granted; with its id: %s',
    async (named) => {
      const { approval, call, runs, grant } = await ask();
      await grant(EDITED);
      const refused = await call(ASKED, named ? { approval } : {});
      expect(refused).toEqual({
        ok: false,
        code: 'approval_edited',
        reason: 'bob approved the call with other arguments, and changed dry, to.',
        next: expect.stringContaining('the arguments in `granted`'),
        approval,
        granted: { arguments: EDITED, changed: ['dry', 'to'] },
      });
      expect(runs).toEqual([]);
    },
  );

  it.each([false, true])('runs one call with these arguments; with its id: %s', async (named) => {
    const { approval, codeOf, runs, grant } = await ask();
    await grant(EDITED);
    const more = named ? { approval } : {};
    expect(await codeOf(EDITED, more)).toBe('ran');
    expect(runs).toMatchObject([{ arguments: EDITED }]);
    expect(await codeOf(EDITED, more)).toBe(named ? 'approval_used' : 'needs_approval');
    expect(await codeOf(ASKED, { approval })).toBe('approval_used');
    expect(await codeOf(ASKED)).toBe('needs_approval');
    expect(runs).toHaveLength(1);
  });

  it('runs one of several calls at the same moment, and none as it was asked for', async () => {
    const { codeOf, runs, grant } = await ask();
    await grant(EDITED);
    const codes = await Promise.all([codeOf(EDITED), codeOf(ASKED), codeOf(EDITED), codeOf(ASKED), codeOf(EDITED)]);
    expect(codes.filter((code) => code === 'ran')).toHaveLength(1);
    expect([codes[1], codes[3]]).not.toContain('ran');
    expect(runs).toMatchObject([{ arguments: EDITED }]);
  });

  it('runs no third call', async () => {
    const { approval, codeOf, runs, grant } = await ask();
    await grant(EDITED);
    expect(await codeOf({ ...EDITED, to: 'live' }, { approval })).toBe('approval_mismatch');
    expect(await codeOf({ ...EDITED, to: 'live' })).toBe('needs_approval');
    expect(runs).toEqual([]);
  });

  it('for the session runs equal calls of these arguments, and never those asked for', async () => {
    const { codeOf, grant, runs } = await ask();
    await grant(EDITED, { grant: 'session' });
    expect([await codeOf(EDITED), await codeOf(ASKED), await codeOf(EDITED)]).toEqual([
      'ran',
      'approval_edited',
      'ran',
    ]);
    expect(runs).toHaveLength(2);
  });

  it('is found before a call with these arguments that waits on its own', async () => {
    const { codeOf, grant, router } = await ask();
    expect(await codeOf(EDITED)).toBe('needs_approval');
    await grant(EDITED);
    expect(await codeOf(EDITED)).toBe('ran');
    expect(await codeOf(EDITED)).toBe('approval_pending');
    expect(await router.approvals.list({ state: 'pending' })).toHaveLength(1);
  });

  it('with the arguments asked for is a plain one', async () => {
    const { router, approval, codeOf, grant } = await ask();
    await grant({ dry: false, to: 'live' });
    expect(await router.approvals.get(approval)).not.toHaveProperty('granted');
    expect(await codeOf(ASKED)).toBe('ran');
  });

  it('is over with its time', async () => {
    const { approval, codeOf, pass, grant, runs } = await ask();
    await grant(EDITED);
    pass(15 * MINUTE);
    for (const given of [EDITED, ASKED]) expect(await codeOf(given, { approval })).toBe('approval_expired');
    expect(await codeOf(EDITED)).toBe('needs_approval');
    expect(runs).toEqual([]);
  });

  it('is over with another policy', async () => {
    const { approval, codeOf, setPolicy, grant } = await ask();
    await grant(EDITED);
    setPolicy({ pinned: ['x'] });
    expect(await codeOf(EDITED, { approval })).toBe('approval_mismatch');
  });

  it('stands in the audit with both hashes and the names that were changed, and without values', async () => {
    const { router, id, approval, call, grant } = await ask();
    await grant(EDITED, { reason: 'try it first' });
    await call(EDITED);
    const { argumentsHash, granted } = (await router.approvals.get(approval)) ?? {};
    const [decided] = await router.audit({ session: id, event: 'approval_granted' });
    expect(decided).toMatchObject({ user: 'bob', approval, argumentsHash: granted?.argumentsHash });
    expect(decided?.reason).toBe(
      `Granted with other arguments (dry, to) than asked for (${argumentsHash}). try it first`,
    );
    const [ran] = await router.audit({ session: id, event: 'call', outcome: 'allowed' });
    expect(ran).toMatchObject({ approval, argumentsHash: granted?.argumentsHash });
    expect(JSON.stringify(await router.audit({ session: id }))).not.toMatch(/"(?:live|test)"/u);
  });

  it('is what the next call of the tool is compared with', async () => {
    const { router, call, grant } = await ask();
    await grant(EDITED);
    await call({ ...EDITED, to: 'other' });
    const [next] = await router.approvals.list({ state: 'pending' });
    expect(next?.last?.differences).toEqual([{ argument: 'to', before: 'test', now: 'other' }]);
  });

  it('is the answer where the call is asked for ahead again', async () => {
    const { router, id, approval, grant } = await ask();
    await grant(EDITED);
    expect(await router.requestApproval(id, { tool: 'deploy', arguments: ASKED })).toMatchObject({
      ok: true,
      approval: { id: approval, granted: { arguments: EDITED } },
    });
  });
});

describe('an edit that changes nothing', () => {
  /** Still waits, and a plain grant still runs the call as it was asked for. */
  async function expectUntouched({ router, approval, codeOf }: Awaited<ReturnType<typeof ask>>) {
    expect(await router.approvals.get(approval)).toMatchObject({ state: 'pending' });
    await router.approvals.grant(approval, { by: BOB });
    expect(await codeOf(ASKED)).toBe('ran');
  }

  it('is one to arguments that the tool does not take', async () => {
    const setup = await ask();
    expect(await setup.grant({ to: 1 })).toMatchObject({
      ok: false,
      code: 'invalid_arguments',
      issues: [expect.stringContaining('to')],
    });
    await expectUntouched(setup);
  });

  it.each<[string, object, RegExp]>([
    ['a rule', { decision: 'deny', reason: 'Not to the moon.' }, /Not to the moon/u],
    ['a rule without a reason', { decision: 'deny' }, /The rule "no"/u],
  ])('is one that %s denies, with the reason of the policy', async (_, rule, reason) => {
    const match = { tool: 'deploy', arguments: { to: 'moon' } };
    const setup = await ask({ policy: JSON.parse(JSON.stringify({ rules: [{ name: 'no', match, ...rule }] })) });
    expect(await setup.grant({ to: 'moon' })).toMatchObject({
      ok: false,
      code: 'not_allowed',
      reason: expect.stringMatching(reason),
    });
    await expectUntouched(setup);
  });

  it('is one to arguments that are too long to be looked at', async () => {
    const setup = await ask({ options: { quotas: parseQuotas({ approvalBytes: 100 }) } });
    expect(await setup.grant({ to: 'x'.repeat(100) })).toMatchObject({ ok: false, code: 'approval_too_large' });
    await expectUntouched(setup);
  });

  it('is one by the asker, or by somebody who may not approve', async () => {
    const setup = await ask();
    const { router, approval } = setup;
    // Nor is anything of the tool's schema told.
    for (const [by, code] of [
      [{ user: 'ann', roles: ['operator'] }, 'approval_own'],
      [{ user: ' ANN', roles: ['operator'] }, 'approval_own'],
      [{ user: 'carl' }, 'approval_not_allowed'],
    ] as const)
      expect(
        await router.approvals.grant(approval, {
          by: { ...by, roles: [...('roles' in by ? by.roles : [])] },
          arguments: { to: 1 },
        }),
      ).toMatchObject({ code });
    await expectUntouched(setup);
  });

  it('is one of a refusal', async () => {
    const setup = await ask();
    const refusal = JSON.parse(JSON.stringify({ by: BOB, arguments: EDITED }));
    await expect(setup.router.approvals.refuse(setup.approval, refusal)).rejects.toMatchObject({
      code: 'invalid_request',
    });
    await expectUntouched(setup);
  });

  it('is one of a tool that has another definition by now', async () => {
    const { store, approval } = await ask();
    const other = createTool('deploy', { properties: { to: {}, dry: {} } }, undefined, { risk: 'high' });
    const later = await setUp({ store, tools: TOOLS.map((tool) => (tool.name === 'deploy' ? other : tool)) });
    expect(await later.router.approvals.grant(approval, { by: BOB, arguments: EDITED })).toMatchObject({
      ok: false,
      code: 'approval_mismatch',
    });
    expect(await later.router.approvals.get(approval)).toMatchObject({ state: 'pending' });
  });

  it('is one after the decision: after a plain grant, a refusal, another edit or its time', async () => {
    const plain = await ask();
    await plain.router.approvals.grant(plain.approval, { by: BOB });
    expect(await plain.grant(EDITED)).toMatchObject({ code: 'approval_used' });
    expect(await plain.codeOf(EDITED)).toBe('needs_approval');
    expect(await plain.codeOf(ASKED)).toBe('ran');

    const refused = await ask();
    await refused.router.approvals.refuse(refused.approval, { by: BOB });
    expect(await refused.grant(EDITED)).toMatchObject({ code: 'approval_refused' });
    expect(await refused.codeOf(EDITED)).toBe('needs_approval');

    const edited = await ask();
    await edited.grant(EDITED);
    expect(await edited.grant({ to: 'other' })).toMatchObject({ code: 'approval_used' });
    expect(await edited.codeOf({ to: 'other' })).toBe('needs_approval');
    expect(await edited.codeOf(EDITED)).toBe('ran');

    const late = await ask();
    late.pass(15 * MINUTE);
    expect(await late.grant(EDITED)).toMatchObject({ code: 'approval_expired' });
    expect(await late.codeOf(EDITED)).toBe('needs_approval');
  });
});

it('of several decisions at the same moment one holds, whole', async () => {
  const { router, approval, codeOf, grant, runs } = await ask();
  const other = { to: 'other' };
  const decisions = await Promise.all([grant(EDITED), grant(other), router.approvals.grant(approval, { by: BOB })]);
  expect(decisions.filter(({ ok }) => ok)).toHaveLength(1);
  const { granted } = (await router.approvals.get(approval)) ?? {};
  for (const given of [ASKED, EDITED, other]) await codeOf(given);
  expect(runs.map((run) => run.arguments)).toEqual([granted?.arguments ?? ASKED]);
});

it('lets the own person of the asker change arguments where the policy lets them decide, as the audit says', async () => {
  const { router, id, approval, codeOf } = await ask({ policy: { approvals: { self: 'ask' } } });
  const edit = { by: { user: 'ann' }, arguments: EDITED };
  expect(await router.approvals.grant(approval, edit)).toMatchObject({ code: 'approval_own' });
  expect(await router.approvals.grant(approval, edit, 'terminal')).toMatchObject({ ok: true });
  expect(await codeOf(EDITED)).toBe('ran');
  const [entry] = await router.audit({ session: id, event: 'approval_granted' });
  expect(entry?.reason).toMatch(
    /^Decided by the asker themselves, by terminal.*Granted with other arguments \(dry, to\)/u,
  );
});

describe('a secret argument of a call that is edited', () => {
  const TOKEN = { ...ASKED, token: 's3cret' };
  const SHOWN = /^\[secret: 6 characters, [0-9a-f]{16}\]$/u;

  it('stays as it was asked for where it is left out, and is shown to nobody', async () => {
    const { router, approval, call, codeOf, grant, runs } = await ask({}, TOKEN);
    const { granted } = Object(Object(await grant(EDITED)).approval);
    expect(granted.arguments).toEqual({ ...EDITED, token: expect.stringMatching(SHOWN) });
    expect(await call(TOKEN)).toMatchObject({ code: 'approval_edited', granted: { changed: ['dry', 'to'] } });
    expect(await codeOf(EDITED, { approval })).toBe('approval_mismatch');
    expect(await codeOf({ ...EDITED, token: 'other' }, { approval })).toBe('approval_mismatch');
    expect(await codeOf({ ...EDITED, token: granted.arguments.token }, { approval })).toBe('approval_mismatch');
    expect(await codeOf({ ...EDITED, token: 's3cret' }, { approval })).toBe('ran');
    expect(runs).toMatchObject([{ arguments: { ...EDITED, token: 's3cret' } }]);
    const told = [await router.approvals.list(), await router.audit(), await call(TOKEN)];
    expect(JSON.stringify(told)).not.toContain('s3cret');
  });

  it('stays as it was asked for where it is written as it was shown', async () => {
    const { router, approval, codeOf, grant } = await ask({}, TOKEN);
    const { token } = Object((await router.approvals.get(approval))?.arguments);
    expect(await grant({ ...EDITED, token })).toMatchObject({ ok: true });
    expect(await codeOf({ ...EDITED, token: 's3cret' })).toBe('ran');
  });

  it.each(['new', '', '[secret: 6 characters, 0123456789abcdef]'])('takes no other value: "%s"', async (token) => {
    const { grant, router, approval } = await ask({}, TOKEN);
    const refused = await grant({ ...EDITED, token });
    expect(refused).toMatchObject({ code: 'invalid_arguments', issues: [expect.stringMatching(/^token: is secret/u)] });
    expect(await router.approvals.get(approval)).toMatchObject({ state: 'pending' });
  });

  it('is not put in where none was asked for', async () => {
    const { grant } = await ask();
    expect(await grant({ ...EDITED, token: 'new' })).toMatchObject({ code: 'invalid_arguments' });
  });

  const pin = { type: 'string', 'x-secret': true, pattern: '^[0-9]{4}$' };
  const entry = { type: 'object', properties: { name: { type: 'string' }, pin }, required: ['name', 'pin'] };
  const properties = { login: entry, list: { type: 'array', items: entry } };
  const tools = [createTool('deploy', { properties, required: ['login'] }, undefined, { risk: 'high' })];
  const NESTED = {
    login: { name: 'ann', pin: '1234' },
    list: [
      { name: 'a', pin: '1111' },
      { name: 'b', pin: '2222' },
    ],
  };

  it('stays deep in an object, where the schema would not take what is shown of it', async () => {
    const { codeOf, grant } = await ask({ tools }, NESTED);
    expect(await grant({ login: { name: 'eve' } })).toMatchObject({ ok: true });
    expect(await codeOf({ login: { name: 'eve', pin: '4321' } })).toBe('needs_approval');
    expect(await codeOf({ login: { name: 'eve', pin: '1234' } })).toBe('ran');
  });

  it('moves to no other place of a list', async () => {
    const { codeOf, grant, router, approval } = await ask({ tools }, NESTED);
    const { login, list } = Object((await router.approvals.get(approval))?.arguments);
    expect(await grant({ login, list: [list[1]] })).toMatchObject({ issues: [expect.stringContaining('list[0].pin')] });
    expect(await grant({ login, list: [{ name: 'b' }] })).toMatchObject({ issues: [expect.stringContaining('pin')] });
    expect(await grant({ login, list: [list[0]] })).toMatchObject({ ok: true });
    expect(await codeOf({ login: NESTED.login, list: NESTED.list.slice(0, 1) })).toBe('ran');
  });
});
