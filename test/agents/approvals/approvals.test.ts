/** Every way to run a risky call without, or with somebody else's, approval. */
import { describe, expect, it } from 'vitest';
import { canonicalHash } from '../../../src/agents/approvals/canonical-json.js';
import type { CallResult } from '../../../src/agents/contracts.js';
import { decide } from '../../../src/agents/policy/decide.js';
import { createPolicy, type PolicyInput } from '../../../src/agents/policy/policy.js';
import { parseQuotas } from '../../../src/agents/quotas.js';
import { fail } from '../../../src/agents/sandbox/failure.js';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import { createTool } from '../../support/create-tool.js';
import { setUp, TOOLS } from '../setup.js';

const DEPLOY = { tool: 'deploy', arguments: { to: 'test', dry: false } };
const BOB = { user: 'bob', roles: ['operator'] };
const MINUTE = 60_000;

type How = 'by the call' | 'ahead of it';

async function ask(options: Parameters<typeof setUp>[0] = {}, how: How = 'by the call', input: object = DEPLOY) {
  const setup = await setUp(options);
  const { id } = await setup.router.createSession({ user: 'ann' });
  await setup.router.enable(id, { names: ['deploy'], ttl_turns: 20 });
  const request = { ...DEPLOY, ...input };
  const ahead = how === 'ahead of it' ? await setup.router.requestApproval(id, request) : undefined;
  const asked = await setup.router.call(id, request);
  const approval = (ahead?.ok && ahead.approval.id) || (!asked.ok && asked.approval) || '';
  const call = async (input: object = {}, session = id) => {
    const result = await setup.router.call(session, { ...DEPLOY, ...input });
    return result.ok ? 'ran' : result.code;
  };
  return { ...setup, id, asked, approval, call };
}

describe('a call that needs approval', () => {
  it('asks once, waits, and runs when somebody else has granted it', async () => {
    const { router, asked, approval, call, runs } = await ask();
    expect(asked).toMatchObject({ ok: false, code: 'needs_approval', approval: expect.any(String) });
    expect(await call()).toBe('approval_pending');
    expect(await router.approvals.list({ state: 'pending' })).toMatchObject([
      { id: approval, user: 'ann', tool: 'deploy', arguments: { to: 'test', dry: false }, state: 'pending' },
    ]);
    expect(runs).toEqual([]);
    expect(await router.approvals.grant(approval, { by: BOB, reason: 'go' })).toMatchObject({
      ok: true,
      approval: { state: 'granted', decidedBy: 'bob', reason: 'go' },
    });
    expect(await call()).toBe('ran');
    expect(await router.approvals.get(approval)).toMatchObject({ state: 'used' });
  });

  it('is not used up by a call that ended before the tool ran, and is by one of which nobody knows', async () => {
    const results: CallResult[] = [
      fail('overloaded', 'full'),
      fail('rate_limited', 'often'),
      { ok: true, output: 1, notes: [], milliseconds: 1 },
      fail('overloaded', 'full'),
    ];
    const execute = async () => results.shift() ?? fail('timeout', 'late');
    const { router, approval, call } = await ask({ execute });
    await router.approvals.grant(approval, { by: BOB });
    expect([await call(), await call(), await call(), await call()]).toEqual([
      'overloaded',
      'rate_limited',
      'ran',
      'needs_approval',
    ]);
    const [{ id = '' } = {}] = await router.approvals.list({ state: 'pending' });
    await router.approvals.grant(id, { by: BOB });
    expect([await call(), await call(), await call()]).toEqual(['overloaded', 'timeout', 'needs_approval']);
  });

  it.each(['ended', 'idle'])('is in the audit as over when its session is %s', async (how) => {
    const { router, id, approval, pass } = await ask();
    if (how === 'ended') await router.endSession(id);
    else pass(48 * 60 * MINUTE);
    await router.sweep();
    expect(await router.audit({ event: 'approval_expired' })).toMatchObject([
      { session: id, approval, tool: 'deploy' },
    ]);
  });

  it('is not asked for when too many of the user wait already, or its arguments are too long', async () => {
    const quotas = parseQuotas({ pendingApprovals: 2, approvalBytes: 100 });
    const { router, id, approval, call } = await ask({ options: { quotas } });
    expect(await call({ arguments: { to: 'x'.repeat(100) } })).toBe('approval_too_large');
    expect(await call({ arguments: { to: 'second' } })).toBe('needs_approval');
    expect(await call({ arguments: { to: 'third' } })).toBe('too_many_approvals');
    expect(await call()).toBe('approval_pending');
    expect(await router.requestApproval(id, { ...DEPLOY, arguments: { to: 'third' } })).toMatchObject({
      code: 'too_many_approvals',
    });
    await router.approvals.refuse(approval, { by: BOB });
    expect(await call({ arguments: { to: 'third' } })).toBe('needs_approval');
    expect(await router.approvals.list()).toHaveLength(3);
  });

  it('needs one also where the tool is always on', async () => {
    const { router } = await setUp({ policy: { pinned: ['deploy'] } });
    const { id } = await router.createSession({ user: 'ann' });
    expect(await router.call(id, DEPLOY)).toMatchObject({ code: 'needs_approval' });
  });

  it.each<How>(['by the call', 'ahead of it'])('asked for %s shows no secret, and stays bound to it', async (how) => {
    const secret = { arguments: { token: 's3cret' } };
    const { router, approval, call } = await ask({}, how, secret);
    expect(JSON.stringify(await router.approvals.list())).not.toContain('s3cret');
    await router.approvals.grant(approval, { by: BOB });
    expect(await call({ arguments: { token: 'other' }, approval })).toBe('approval_mismatch');
    expect(await call({ arguments: { token: 'other' } })).toBe('needs_approval');
    expect(await call(secret)).toBe('ran');
  });

  it('is bound by a digest from which no short secret can be computed, and which differs from store to store', async () => {
    const hashes = await Promise.all(
      [1, 2].map(async () => {
        const { router, id } = await ask();
        await router.call(id, { tool: 'deploy', arguments: { token: '1234' } });
        const [last] = await router.approvals.list({ tool: 'deploy', limit: 1 });
        return last?.argumentsHash;
      }),
    );
    expect(hashes[0]).not.toBe(hashes[1]);
    expect(hashes).not.toContain(canonicalHash({ token: '1234' }));
  });

  it('says where the call goes', async () => {
    const http = { method: 'DELETE', path: '/notes/{id}', server: 'https://a.test', parameters: {} };
    const note = (metadata: object) =>
      createTool('note', {}, undefined, { risk: 'high', origin: 'notes', metadata: { ...metadata } });
    let catalog = createCatalog([note({ http })]);
    const { router } = await setUp({ catalog: () => catalog });
    const { id } = await router.createSession({ user: 'ann' });
    await router.enable(id, { names: ['note'] });
    await router.call(id, { tool: 'note', arguments: {} });
    expect((await router.approvals.list())[0]?.runs).toEqual({
      where: 'DELETE https://a.test/notes/{id}',
      risk: 'high',
    });
    catalog = createCatalog([note({ mcp: { server: 'notes', tool: 'remove' } })]);
    await router.call(id, { tool: 'note', arguments: {} });
    const all = await router.approvals.list();
    expect(all.map(({ runs }) => runs?.where)).toContain('the tool "remove" of the MCP server "notes" (notes)');
  });

  it('says how it differs from the last one of the tool that was approved for the asker', async () => {
    const { router, id, approval } = await ask();
    expect(await router.approvals.get(approval)).not.toHaveProperty('last');
    await router.approvals.grant(approval, { by: BOB });
    await router.call(id, { tool: 'deploy', arguments: { to: 'production', token: 'x' } });
    const [next] = await router.approvals.list({ state: 'pending' });
    expect(next?.last).toMatchObject({
      approval,
      decidedBy: 'bob',
      differences: [
        { argument: 'dry', before: false, now: undefined },
        { argument: 'to', before: 'test', now: 'production' },
        { argument: 'token', now: expect.stringMatching(/^\[secret: 1 characters/u) },
      ],
    });
  });

  it('is compared with the one that was decided last, not with the one that was asked for last', async () => {
    const { router, pass } = await setUp();
    const { id } = await router.createSession({ user: 'ann' });
    await router.enable(id, { names: ['deploy'], ttl_turns: 20 });
    const asked = async (to: string) => {
      await router.call(id, { tool: 'deploy', arguments: { to, dry: false } });
      pass(1_000);
      const [newest] = await router.approvals.list({ state: 'pending' });
      return newest?.id ?? '';
    };
    const [first, second] = [await asked('first'), await asked('second')];
    for (const approval of [second, first]) {
      await router.approvals.grant(approval, { by: BOB });
      pass(1_000);
    }
    expect((await router.approvals.get(await asked('third')))?.last).toMatchObject({ approval: first });
  });

  it('is not asked for in a session without a user: nobody could be another', async () => {
    const { router } = await setUp();
    const { id } = await router.createSession();
    await router.enable(id, { names: ['deploy'] });
    expect(await router.call(id, DEPLOY)).toMatchObject({ code: 'approval_not_allowed' });
    expect(await router.approvals.list()).toEqual([]);
  });

  it('is not asked for with wrong arguments', async () => {
    const { router, id } = await ask();
    expect(await router.call(id, { tool: 'deploy', arguments: { to: 1 } })).toMatchObject({
      code: 'invalid_arguments',
    });
    expect(await router.approvals.list()).toHaveLength(1);
  });
});

describe.each<How>(['by the call', 'ahead of it'])('a granted approval that was asked for %s does not run', (how) => {
  const granted = async (options: Parameters<typeof setUp>[0] = {}) => {
    const setup = await ask(options, how);
    await setup.router.approvals.grant(setup.approval, { by: BOB });
    return setup;
  };

  it.each([
    ['one byte more', { to: 'test ', dry: false }],
    ['another letter', { to: 'Test', dry: false }],
    ['another type', { to: 'test', dry: true }],
    ['an argument less', { to: 'test' }],
    ['an argument more', { to: 'test', dry: false, token: '' }],
  ])('a call with %s, by itself or with its id', async (_, changed) => {
    const { call, approval, runs } = await granted();
    expect(await call({ arguments: changed })).toBe('needs_approval');
    expect(await call({ arguments: changed, approval })).toBe('approval_mismatch');
    expect(runs).toEqual([]);
    expect(await call({ approval })).toBe('ran');
  });

  it('twice, one after the other', async () => {
    const { call, approval, runs } = await granted();
    expect(await call({ approval })).toBe('ran');
    expect(await call({ approval })).toBe('approval_used');
    expect(await call()).toBe('needs_approval');
    expect(runs).toHaveLength(1);
  });

  it('twice at the same moment, by itself or with its id', async () => {
    const { call, approval, runs } = await granted();
    const codes = await Promise.all([call({ approval }), call(), call({ approval }), call()]);
    expect(codes.filter((code) => code === 'ran')).toHaveLength(1);
    expect(runs).toHaveLength(1);
  });

  it('after the policy has changed', async () => {
    const { call, approval, setPolicy, runs } = await granted();
    setPolicy({ pinned: ['file_*'] });
    expect(await call({ approval })).toBe('approval_mismatch');
    expect(await call()).toBe('needs_approval');
    expect(runs).toEqual([]);
  });

  it('after the tool was defined anew', async () => {
    const tools = [...TOOLS];
    const { router, store, id } = await granted({ tools });
    const other = createTool('deploy', { properties: { to: {}, dry: {} } }, undefined, {
      risk: 'high',
      description: 'new',
    });
    const swapped = await setUp({ store, tools: TOOLS.map((tool) => (tool.name === 'deploy' ? other : tool)) });
    expect(await router.approvals.list({ state: 'granted' })).toHaveLength(1);
    expect(await swapped.router.call(id, DEPLOY)).toMatchObject({ code: 'needs_approval' });
    expect(swapped.runs).toEqual([]);
  });

  it("in another session, also the asker's own, where it looks like none", async () => {
    const { router, call, approval, runs } = await granted();
    for (const user of ['ann', 'eve']) {
      const { id } = await router.createSession({ user });
      await router.enable(id, { names: ['deploy'] });
      expect(await call({ approval }, id)).toBe('approval_unknown');
      expect(await call({}, id)).toBe('needs_approval');
    }
    expect(await call({ approval: 'no-such-id' })).toBe('approval_unknown');
    expect(runs).toEqual([]);
  });

  it('that was seen to be over stays so, also where the clock is set back', async () => {
    const { router, approval, call, pass, runs } = await granted();
    pass(16 * MINUTE);
    expect(await call()).toBe('needs_approval');
    pass(-60 * MINUTE);
    expect(await call({ approval })).toBe('approval_expired');
    expect(runs).toEqual([]);
    expect(await router.audit({ event: 'approval_expired' })).toMatchObject([{ approval }]);
  });

  it('after its time', async () => {
    const { call, approval, pass, runs } = await granted();
    pass(15 * MINUTE);
    expect(await call({ approval })).toBe('approval_expired');
    expect(runs).toEqual([]);
  });

  it('after its session ended', async () => {
    const { router, id, call, approval } = await granted();
    await router.endSession(id);
    expect(await call({ approval })).toBe('session_ended');
    expect(await router.approvals.get(approval)).toMatchObject({ state: 'expired' });
  });

  it('a tool that was denied in the meantime', async () => {
    const { call, approval, setPolicy } = await granted();
    setPolicy({ rules: [{ name: 'no', match: { tool: 'deploy' }, decision: 'deny' }] });
    expect(await call({ approval })).toBe('unknown_tool');
  });

  it('a tool that is not enabled any more, and is not used up by the try', async () => {
    const { router, id, call, approval } = await granted();
    await router.disable(id, { names: ['deploy'] });
    expect(await call({ approval })).toBe('not_enabled');
    await router.enable(id, { names: ['deploy'] });
    expect(await call({ approval })).toBe('ran');
  });
});

describe('a decision', () => {
  it.each(['ann', 'ANN', ' ann ', 'ａnn', 'an\u200bn', 'ann\u00ad', 'ann\ufe0f'])(
    'is not made by the asker, as "%s"',
    async (user) => {
      const { router, approval, call } = await ask();
      expect(await router.approvals.grant(approval, { by: { user } })).toMatchObject({
        ok: false,
        code: 'approval_own',
      });
      expect(await router.approvals.refuse(approval, { by: { user } })).toMatchObject({
        ok: false,
        code: 'approval_own',
      });
      expect(await call()).toBe('approval_pending');
    },
  );

  it.each([
    ['ann', 'a\u034fnn'],
    ['ann', 'a\u3164nn'],
    ['ann', 'ann\u0001'],
    ['ann', 'ann\ue000'],
    ['ann li', 'ann\u00a0 li'],
    ['ivan', 'İVAN'],
    ['ıvan', 'IVAN'],
    ['straße', 'STRAẞE'],
    ['straße', 'strasse'],
    ['νίκος', 'νίκοσ'],
  ])('of "%s" is not made as "%s", and is by another', async (user, other) => {
    const { router } = await setUp();
    const { id } = await router.createSession({ user });
    const asked = await router.requestApproval(id, DEPLOY);
    const approval = asked.ok ? asked.approval.id : '';
    const decide = (name: string) => router.approvals.grant(approval, { by: { user: name, roles: ['operator'] } });
    expect(await decide(other)).toMatchObject({ code: 'approval_own' });
    expect(await decide('olga')).toMatchObject({ ok: true });
  });

  it('is the business of operators where the policy names nobody', async () => {
    const { router, approval, call } = await ask();
    for (const by of [{ user: 'carl' }, { user: 'carl', roles: ['lead'] }])
      for (const verb of ['grant', 'refuse'] as const)
        expect(await router.approvals[verb](approval, { by })).toMatchObject({
          ok: false,
          code: 'approval_not_allowed',
        });
    expect(await call()).toBe('approval_pending');
  });

  it('needs a name', async () => {
    const { router, approval } = await ask();
    for (const by of [{}, { user: '' }])
      await expect(router.approvals.grant(approval, JSON.parse(JSON.stringify({ by })))).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('by.user'),
      });
  });

  it('is made once', async () => {
    const { router, approval, call } = await ask();
    await router.approvals.refuse(approval, { by: BOB, reason: 'not today' });
    expect(await router.approvals.grant(approval, { by: BOB })).toMatchObject({ ok: false, code: 'approval_refused' });
    expect(await call()).toBe('approval_refused');
    expect(await call({ approval })).toBe('approval_refused');
  });

  it('can be for all equal calls of the session, but not of others', async () => {
    const { router, approval, call, runs } = await ask();
    await router.approvals.grant(approval, { by: BOB, grant: 'session' });
    expect([await call(), await call(), await call()]).toEqual(['ran', 'ran', 'ran']);
    expect(await call({ arguments: { to: 'live', dry: false } })).toBe('needs_approval');
    expect(runs).toHaveLength(3);
  });

  it('for the session can be forbidden by the policy', async () => {
    const { router, approval } = await ask({ policy: { approvals: { sessionGrants: false } } });
    expect(await router.approvals.grant(approval, { by: BOB, grant: 'session' })).toMatchObject({
      code: 'approval_not_allowed',
    });
    expect(await router.approvals.grant(approval, { by: BOB })).toMatchObject({ ok: true });
  });

  it('is made by those whom the policy names, where it names any', async () => {
    const { router, approval } = await ask({
      policy: { approvals: { approvers: { users: ['carl'], roles: ['lead'] } } },
    });
    const grant = (by: { user: string; roles?: string[] }) => router.approvals.grant(approval, { by });
    expect(await grant(BOB)).toMatchObject({ code: 'approval_not_allowed' });
    expect(await grant({ user: 'bob', roles: ['dev'] })).toMatchObject({ code: 'approval_not_allowed' });
    expect(await grant({ user: 'bob', roles: ['dev', 'lead'] })).toMatchObject({ ok: true });
  });

  it('is not made on what the policy of now would ask anew', async () => {
    const { router, approval, setPolicy } = await ask();
    setPolicy({ pinned: ['x'] });
    expect(await router.approvals.grant(approval, { by: BOB })).toMatchObject({ code: 'approval_mismatch' });
    expect(await router.approvals.refuse(approval, { by: BOB })).toMatchObject({ ok: true });
  });

  it('comes too late after the time, which counts as refused and is seen', async () => {
    const { router, approval, pass, call, id } = await ask();
    pass(15 * MINUTE);
    expect(await router.approvals.grant(approval, { by: BOB })).toMatchObject({ ok: false, code: 'approval_expired' });
    expect(await call({ approval })).toBe('approval_expired');
    expect(await router.approvals.list({ state: 'expired' })).toMatchObject([{ id: approval }]);
    expect(await router.audit({ session: id, event: 'approval_expired' })).toMatchObject([{ outcome: 'denied' }]);
  });

  it('on nothing is an answer', async () => {
    const { router } = await setUp();
    expect(await router.approvals.grant('none', { by: BOB })).toEqual({
      ok: false,
      code: 'approval_unknown',
      reason: 'There is no such approval.',
      next: 'List the approvals and use an id from there.',
    });
  });

  it('is in the audit with who made it', async () => {
    const { router, approval, id, call } = await ask();
    await router.approvals.grant(approval, { by: BOB });
    await call();
    const entries = await router.audit({ session: id, tool: 'deploy' });
    expect(entries.map(({ event, outcome, user }) => `${event} ${outcome} ${user}`)).toEqual([
      'call allowed ann',
      'approval_granted allowed bob',
      'call needs_approval ann',
      'approval_requested needs_approval ann',
      'enable allowed ann',
    ]);
    expect(entries[0]).toMatchObject({ approval, argumentsHash: expect.stringMatching(/^[0-9a-f]{64}$/u) });
  });
});

describe('what to do while a call waits', () => {
  const SELF =
    'the user themselves, in person (`winnow approvals` in a terminal, or a question of their MCP client), or';
  it.each<[string, PolicyInput['approvals'], string]>([
    ['to wait for somebody else', {}, 'Wait until somebody else has approved it'],
    ['the same where others are named', { approvers: { roles: ['lead'] } }, 'Wait until somebody else has approved it'],
    ['that the user may decide', { self: 'ask' }, `Wait until ${SELF} somebody else has approved it`],
    [
      'that the user may be among those who decide',
      { self: 'ask', approvers: { users: ['ann'] } },
      'Wait until an approver whom the policy names, who may be the user themselves, has approved it',
    ],
    ['that nobody may decide', { approvers: {} }, 'Nobody may approve it'],
    ['that nobody but the user is named', { approvers: { users: ['Ann'] } }, 'Nobody may approve it'],
    [
      'to wait for others where they alone are named',
      { self: 'ask', approvers: { users: ['bob'] } },
      'Wait until somebody else has approved it',
    ],
    ['that nobody may decide, also not the user', { self: 'ask', approvers: {} }, 'Nobody may approve it'],
  ])('is %s', async (_, approvals, next) => {
    const { asked, router, id } = await ask({ policy: { approvals } });
    expect(asked).toMatchObject({ code: 'needs_approval', next: expect.stringContaining(next) });
    expect(await router.call(id, DEPLOY)).toMatchObject({ code: 'approval_pending', next: Object(asked).next });
    const caller = { user: 'ann', roles: [] };
    const [tool] = TOOLS.filter(({ name }) => name === 'deploy');
    const facts = { purpose: 'find', tool, caller, session: { turn: 1, isEnded: false }, now: new Date() } as const;
    expect(decide(createPolicy({ approvals }), facts).next).toBe(Object(asked).next);
  });
});

describe('a policy that lets the own person of the asker decide', () => {
  const ANN = { user: 'ann' };
  const self = { approvals: { self: 'ask' as const } };

  it('takes their decision by a channel that reaches a person, and says so in the audit', async () => {
    const { router, approval, call, id } = await ask({ policy: self });
    expect(router.approvals.isSelfAllowed()).toBe(true);
    expect(await router.approvals.grant(approval, { by: ANN })).toMatchObject({ code: 'approval_own' });
    expect(await router.approvals.grant(approval, { by: ANN }, 'terminal')).toMatchObject({ ok: true });
    expect(await call()).toBe('ran');
    expect(await router.audit({ session: id, event: 'approval_granted' })).toMatchObject([
      { user: 'ann', reason: expect.stringMatching(/^Decided by the asker themselves, by terminal/u) },
    ]);
  });

  it('takes a refusal, too', async () => {
    const { router, approval, call } = await ask({ policy: self });
    expect(await router.approvals.refuse(approval, { by: ANN }, 'elicitation')).toMatchObject({ ok: true });
    expect(await call()).toBe('approval_refused');
  });

  it('still asks for one of the named approvers, and says nothing of the sort about others', async () => {
    const approvals = { ...self.approvals, approvers: { users: ['bob'] } };
    const { router, approval, id } = await ask({ policy: { approvals } });
    expect(await router.approvals.grant(approval, { by: ANN }, 'terminal')).toMatchObject({
      code: 'approval_not_allowed',
    });
    expect(await router.approvals.grant(approval, { by: BOB }, 'terminal')).toMatchObject({ ok: true });
    const [entry] = await router.audit({ session: id, event: 'approval_granted' });
    expect(entry?.reason).not.toContain('themselves');
  });

  it('is not there by default, whatever the channel', async () => {
    const { router, approval } = await ask();
    expect(router.approvals.isSelfAllowed()).toBe(false);
    for (const channel of ['terminal', 'elicitation'] as const)
      expect(await router.approvals.grant(approval, { by: ANN }, channel)).toMatchObject({ code: 'approval_own' });
  });
});
