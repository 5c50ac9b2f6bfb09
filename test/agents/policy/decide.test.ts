import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, type Facts, refusalOf } from '../../../src/agents/policy/decide.js';
import { createPolicy, type PolicyInput } from '../../../src/agents/policy/policy.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { createTool } from '../../support/create-tool.js';

const make = (name: string, more: Parameters<typeof createTool>[3] = {}) => createTool(name, {}, undefined, more);
const READ = make('file_read', { risk: 'low', category: 'files', origin: 'disk' });
const RUN = make('code_run', { risk: 'medium', toolType: 'mcp' });
const DEPLOY = make('deploy', { risk: 'high' });
const ofServer = (server: string, tool: string, more: Parameters<typeof createTool>[3] = {}) =>
  make(`${server}__${tool}`, { toolType: 'mcp', origin: server, metadata: { mcp: { server, tool } }, ...more });
const ISSUES = ofServer('github', 'list_issues', { risk: 'high' });
const SPOOFED = ofServer('weather', 'github__list_issues', { risk: 'medium' });

const facts = (more: Partial<Facts> = {}): Facts => ({
  purpose: 'call',
  tool: READ,
  caller: { user: 'ann', roles: ['dev'] },
  session: { turn: 5, isEnded: false },
  now: new Date('2026-01-05T10:30:00Z'),
  isEnabled: true,
  arguments: {},
  calls: [],
  ...more,
});
const judge = (policy: PolicyInput, more: Partial<Facts> = {}) => decide(createPolicy(policy), facts(more)).code;
const deny = (match: object) => ({ rules: [{ name: 'no', match, decision: 'deny' as const }] });

describe('the decision', () => {
  it.each<[string, PolicyInput, Partial<Facts>, string]>([
    ['nothing is said', {}, {}, 'allowed'],
    ['the tool does not exist', {}, { tool: undefined }, 'unknown_tool'],
    ['the session has ended', {}, { session: { turn: 1, isEnded: true } }, 'session_ended'],
    ['the tool is not enabled', {}, { isEnabled: false }, 'not_enabled'],
    ['the tool is pinned', { pinned: ['file_*'] }, { isEnabled: false }, 'allowed'],
    ['the mode is legacy', { mode: 'legacy' }, { isEnabled: false }, 'allowed'],
    ['the tool is out of service', {}, { tool: { ...READ, available: false } }, 'unavailable'],
    ['high risk', {}, { tool: DEPLOY }, 'needs_approval'],
    [
      'high risk although a rule allows it',
      { rules: [{ name: 'yes', decision: 'allow' }] },
      { tool: DEPLOY },
      'needs_approval',
    ],
    ['denied by name', deny({ tool: 'file_read' }), {}, 'denied'],
    ['denied by risk', deny({ risk: ['low', 'high'] }), {}, 'denied'],
    ['denied to the user', deny({ user: 'ann' }), {}, 'denied'],
    ['denied to another user', deny({ user: 'bob' }), {}, 'allowed'],
    ['denied to a user, and nobody asks', deny({ user: 'bob' }), { caller: { roles: [] } }, 'allowed'],
    ['denied to a role', deny({ role: ['guest', 'dev'] }), {}, 'denied'],
    ['one of two conditions holds', deny({ tool: 'file_read', user: 'bob' }), {}, 'allowed'],
    [
      'deny and allow',
      { rules: [{ name: 'y', decision: 'allow' }, ...deny({}).rules, { name: 'z', decision: 'needs_approval' }] },
      {},
      'denied',
    ],
    [
      'approval by rule',
      { rules: [{ name: 'a', match: { user: 'ann' }, decision: 'needs_approval' }] },
      {},
      'needs_approval',
    ],
    ['default deny', { default: 'deny' }, {}, 'denied'],
    [
      'default deny with a rule',
      { default: 'deny', rules: [{ name: 'y', match: { risk: 'low' }, decision: 'allow' }] },
      {},
      'allowed',
    ],
    ['above the ceiling of the policy', { riskCeiling: 'low' }, { tool: RUN }, 'too_risky'],
    [
      'above the ceiling of the session',
      {},
      { tool: RUN, session: { turn: 1, isEnded: false, riskCeiling: 'low' } },
      'too_risky',
    ],
    [
      'a ceiling of the session that is above that of the policy',
      { riskCeiling: 'low' },
      { tool: RUN, session: { turn: 1, isEnded: false, riskCeiling: 'high' } },
      'too_risky',
    ],
  ])('where %s', (_, policy, more, code) => {
    expect(judge(policy, more)).toBe(code);
  });

  it('asks the same before a call, but for what only a call has', () => {
    for (const purpose of ['find', 'enable'] as const) {
      expect(judge({}, { purpose, isEnabled: false })).toBe('allowed');
      expect(judge(deny({ tool: 'file_read' }), { purpose })).toBe('denied');
      expect(judge({ riskCeiling: 'low' }, { purpose, tool: RUN })).toBe('too_risky');
      expect(judge({ preconditions: [{ requires: [{ argument: 'path' }] }] }, { purpose })).toBe('allowed');
    }
  });

  it('is hidden where it is denied, and told where something can be done', () => {
    const policy = createPolicy(deny({ tool: 'file_read' }));
    const denied = refusalOf(decide(policy, facts()), 'x');
    expect(denied).toEqual(refusalOf(decide(policy, facts({ tool: undefined })), 'x'));
    expect(denied.code).toBe('unknown_tool');
    expect(refusalOf(decide(createPolicy(), facts({ isEnabled: false })), 'file_read')).toMatchObject({
      code: 'not_enabled',
      next: expect.stringContaining('tool_enable'),
    });
  });
});

describe('the name that a server gives its tool', () => {
  const repo = ofServer('github', 'delete_repo', { risk: 'medium' });
  const rule = (decision: 'allow' | 'deny' | 'needs_approval', tool: string) => [
    { name: 'r', decision, match: { tool } },
  ];
  const risk = (tool: string, one: 'low' | 'medium' | 'high', given?: object) => ({
    argumentRisks: [{ match: { tool, ...(given ? { arguments: { ...given } } : {}) }, risk: one }],
  });
  const needs = (tool: string) => ({ preconditions: [{ match: { tool }, requires: ['deploy called'] }] });
  const closed = { default: 'deny' as const };

  it.each<[string, PolicyInput, Tool, string]>([
    ['is denied', { rules: rule('deny', 'delete_repo') }, repo, 'denied'],
    ['is denied by a pattern', { rules: rule('deny', 'delete_*') }, repo, 'denied'],
    ['is denied as a whole, too', { rules: rule('deny', 'github__delete_repo') }, repo, 'denied'],
    ['needs approval', { rules: rule('needs_approval', 'delete_repo') }, repo, 'needs_approval'],
    ['has a precondition', needs('delete_repo'), repo, 'precondition_unmet'],
    ['raises the risk', risk('delete_repo', 'high'), repo, 'needs_approval'],
    ['raises the risk by arguments', risk('delete_repo', 'high', { all: true }), repo, 'needs_approval'],
    ['does not lower the risk', risk('list_issues', 'low'), ISSUES, 'needs_approval'],
    ['lowers the risk as a whole', risk('github__list_issues', 'low'), ISSUES, 'allowed'],
    ['allows nothing', { ...closed, rules: rule('allow', 'delete_repo') }, repo, 'denied'],
    ['lets nothing be asked for', { ...closed, rules: rule('needs_approval', 'delete_repo') }, repo, 'denied'],
    ['allows nothing in the form of another', { ...closed, rules: rule('allow', 'github__*') }, SPOOFED, 'denied'],
    ['allows as a whole', { ...closed, rules: rule('allow', 'github__*') }, repo, 'allowed'],
  ])('%s', (_, policy, tool, code) => {
    expect(judge(policy, { tool, arguments: { all: true } })).toBe(code);
  });

  it('opens no call beside a rule that is about other arguments', () => {
    const allow = { name: 'a', decision: 'allow' as const, match: { tool: 'github__*', arguments: { all: false } } };
    const rules = [allow, ...rule('needs_approval', 'delete_repo')];
    expect(judge({ ...closed, rules }, { tool: repo, arguments: { all: true } })).toBe('not_allowed');
    expect(judge({ ...closed, rules }, { tool: repo, arguments: { all: false } })).toBe('needs_approval');
  });
});

describe('the risk that the operator gives a tool', () => {
  const given = (...risks: ['low' | 'medium' | 'high', object?][]) =>
    createPolicy({
      argumentRisks: risks.map(([risk, one]) => ({
        match: { origin: 'github', ...(one ? { arguments: { ...one } } : {}) },
        risk,
      })),
    });

  it.each<[string, ReturnType<typeof given>, string, string]>([
    ['takes the place of its own', given(['low']), 'low', 'low'],
    ['is the highest of several', given(['low'], ['medium']), 'medium', 'medium'],
    ['rises with arguments', given(['low'], ['high', { all: true }]), 'low', 'high'],
    ['does not fall with arguments', given(['medium'], ['low', { all: true }]), 'medium', 'medium'],
  ])('%s', (_, policy, found, called) => {
    const of = (purpose: Facts['purpose']) =>
      decide(policy, facts({ tool: ISSUES, purpose, arguments: { all: true } })).risk;
    expect([of('find'), of('call')]).toEqual([found, called]);
  });
});

describe('risk by arguments', () => {
  const policy: PolicyInput = {
    riskCeiling: 'medium',
    argumentRisks: [
      { match: { tool: 'code_run', arguments: { mode: 'read' } }, risk: 'low' },
      { match: { tool: 'code_run', arguments: { mode: ['project_cmd', 'shell'] } }, risk: 'high' },
      { match: { tool: 'code_run', arguments: { command: { pattern: '^rm ' } } }, risk: 'high' },
    ],
    rules: [{ name: 'ask', match: { risk: 'medium' }, decision: 'needs_approval' }],
  };
  it.each<[string, object, string]>([
    ['low', { mode: 'read' }, 'allowed'],
    ['as the tool has it', {}, 'needs_approval'],
    ['high', { mode: 'project_cmd' }, 'too_risky'],
    ['high, by the second of several values', { mode: 'shell' }, 'too_risky'],
    ['the highest of several that match', { mode: 'read', command: 'rm -r x' }, 'too_risky'],
    ['not low for another type', { mode: ['read'] }, 'needs_approval'],
    ['not low for another spelling', { mode: 'Read' }, 'needs_approval'],
    ['not low by a prototype', Object.create({ mode: 'read' }), 'needs_approval'],
  ])('is %s', (_, given, code) => {
    expect(judge(policy, { tool: RUN, arguments: { ...given } })).toBe(code);
  });

  it('leaves a tool to be found when some call of it may run', () => {
    expect(judge({ ...policy, riskCeiling: 'low' }, { tool: RUN, purpose: 'find' })).toBe('allowed');
    expect(judge(deny({ risk: 'medium' }), { tool: RUN, purpose: 'find' })).toBe('denied');
    const ruled = { ...policy, rules: deny({ risk: 'medium' }).rules };
    expect(judge(ruled, { tool: RUN, purpose: 'find' })).toBe('allowed');
    expect(judge(ruled, { tool: RUN, arguments: {} })).toBe('not_allowed');
    expect(judge(ruled, { tool: RUN, arguments: { mode: 'read' } })).toBe('allowed');
  });

  it('is for the caller to know: what only some arguments forbid is told', () => {
    const rules = [{ name: 'etc', match: { arguments: { path: { pattern: '^/etc/' } } }, decision: 'deny' as const }];
    expect(judge({ rules }, { arguments: { path: '/etc/passwd' } })).toBe('not_allowed');
    expect(judge({ rules }, { arguments: { path: '/home' } })).toBe('allowed');
    expect(judge({ rules }, { purpose: 'find' })).toBe('allowed');
  });
});

describe('a rule about an argument that is a list', () => {
  const at = (domain: string) => ({ arguments: { to: { pattern: `@${domain}\\.example$` } } });
  const calls = (to: unknown, tool = RUN): Partial<Facts> => ({ tool, arguments: { to } });
  const rule = (decision: 'allow' | 'needs_approval', match: object) => ({ name: 'r', match, decision });
  const MIXED = ['a@corp.example', 'x@evil.example'];

  it.each<[string, PolicyInput, Partial<Facts>, string]>([
    ['denies by a pattern', deny(at('evil')), calls(MIXED), 'not_allowed'],
    ['denies by a value', deny({ arguments: { to: 'x@evil.example' } }), calls(MIXED), 'not_allowed'],
    ['denies by one of several values', deny({ arguments: { to: [7, 'b'] } }), calls(['a', 7]), 'not_allowed'],
    ['denies by an item of an item', deny(at('evil')), calls([MIXED]), 'not_allowed'],
    ['denies nothing else', deny(at('evil')), calls(['a@corp.example']), 'allowed'],
    ['asks', { rules: [rule('needs_approval', at('evil'))] }, calls(MIXED), 'needs_approval'],
    ['raises a risk', { argumentRisks: [{ match: at('evil'), risk: 'high' }] }, calls(MIXED), 'needs_approval'],
    ['lowers none', { argumentRisks: [{ match: at('corp'), risk: 'low' }] }, calls(MIXED, DEPLOY), 'needs_approval'],
    ['allows nothing', { default: 'deny', rules: [rule('allow', at('corp'))] }, calls(MIXED), 'not_allowed'],
    [
      'opens nothing by asking',
      { default: 'deny', rules: [rule('needs_approval', at('corp'))] },
      calls(MIXED),
      'not_allowed',
    ],
    [
      'allows a list that is there',
      { default: 'deny', rules: [rule('allow', { arguments: { to: { present: true } } })] },
      calls(MIXED),
      'allowed',
    ],
    [
      'requires what it names',
      { preconditions: [{ match: at('evil'), requires: [{ argument: 'why' }] }] },
      calls(MIXED),
      'missing_argument',
    ],
    [
      'refuses where it can not look at all items',
      deny({ arguments: { to: { pattern: '(x+x+)+y' } } }),
      calls(Array.from({ length: 40 }, () => 'x'.repeat(100_000))),
      'not_allowed',
    ],
  ])('%s', (_, policy, more, code) => {
    expect(judge(policy, more)).toBe(code);
  });

  it('names no rule that allows an item alone', () => {
    const policy = createPolicy({ rules: [rule('allow', at('corp'))] });
    expect(decide(policy, facts(calls(MIXED)))).toMatchObject({ decision: 'allow', rule: undefined });
    expect(decide(policy, facts(calls('a@corp.example')))).toMatchObject({ decision: 'allow', rule: 'r' });
  });
});

describe('a pattern that takes too long on a text', () => {
  const SLOW = { arguments: { path: { pattern: '^(a+)+$' } } };
  const LONG = { path: `${'a'.repeat(6_000_000)}1` };
  const allow = { name: 'may', match: SLOW, decision: 'allow' as const };
  const ask = { name: 'ask', match: SLOW, decision: 'needs_approval' as const };

  it('is not tried', () => {
    expect(judge(deny(SLOW), { arguments: LONG })).toBe('not_allowed');
  });

  it.each<[string, PolicyInput, string]>([
    ['a rule that denies', deny(SLOW), 'rules "no"'],
    ['a rule that asks', { rules: [ask] }, 'rules "ask"'],
    ['the one rule that allows', { default: 'deny', rules: [allow] }, 'rules "may"'],
    ['a lower risk', { argumentRisks: [{ match: SLOW, risk: 'low' }] }, 'argumentRisks[0]'],
    [
      'a risk above the ceiling',
      { riskCeiling: 'low', argumentRisks: [{ match: SLOW, risk: 'high' }] },
      'argumentRisks[0]',
    ],
    ['a precondition', { preconditions: [{ match: SLOW, requires: [{ called: 'open' }] }] }, 'preconditions[0]'],
  ])('refuses the call, and says which it is: %s', (_, policy, path) => {
    const decision = decide(createPolicy(policy), facts({ arguments: LONG }));
    expect(decision).toMatchObject({
      decision: 'deny',
      code: 'not_allowed',
      reason: `The pattern for "path" in ${path} of the policy takes too long on this text.`,
      next: 'Call file_read with another or a shorter "path".',
    });
  });

  it('has the steps of a decision, however many parts have one', () => {
    const given = { path: `${'a'.repeat(400_000)}1` };
    const rules = Array.from({ length: 50 }, (_, index) => ({ ...ask, name: `ask ${index}` }));
    expect(judge({ rules: rules.slice(0, 1) }, { arguments: given })).toBe('allowed');
    expect(judge({ rules }, { arguments: given })).toBe('not_allowed');
  });

  it.each<[string, PolicyInput, Partial<Facts>, string]>([
    ['a text that it matches', deny(SLOW), { arguments: { path: 'aaa' } }, 'not_allowed'],
    ['a text that it does not match', deny(SLOW), { arguments: { path: 'b' } }, 'allowed'],
    ['another condition that does not hold', deny({ arguments: { ...SLOW.arguments, mode: 'x' } }), {}, 'allowed'],
    ['another caller', deny({ ...SLOW, user: 'bob' }), {}, 'allowed'],
    ['another denial that holds', { rules: [...deny({ user: 'ann' }).rules, ask] }, {}, 'denied'],
    ['a tool that is not enabled', deny(SLOW), { isEnabled: false }, 'not_enabled'],
    ['finding', deny(SLOW), { purpose: 'find' }, 'allowed'],
  ])("is in nobody's way: %s", (_, policy, more, code) => {
    expect(judge(policy, { arguments: LONG, ...more })).toBe(code);
  });

  it('is none where it only looks for a word, however long the text is', () => {
    const word = deny({ arguments: { path: { pattern: 'private key' } } });
    const text = 'x'.repeat(400_000);
    expect(judge(word, { arguments: { path: text } })).toBe('allowed');
    expect(judge(word, { arguments: { path: `${text} private key` } })).toBe('not_allowed');
  });
});

describe('preconditions', () => {
  const call = (tool: string, turn: number) => ({ session: 's', tool, turn, at: '', values: {} });
  const requires = (...all: (string | object)[]): PolicyInput =>
    JSON.parse(JSON.stringify({ preconditions: [{ requires: all }] }));

  it.each<[string, PolicyInput, Partial<Facts>, string]>([
    ['a call that was not made', requires('open called in this session'), {}, 'precondition_unmet'],
    ['a call that was made', requires('open called in this session'), { calls: [call('open', 1)] }, 'allowed'],
    ['a call of another tool', requires({ called: 'open' }), { calls: [call('close', 1)] }, 'precondition_unmet'],
    ['a call of this turn', requires({ called: 'open', withinTurns: 1 }), { calls: [call('open', 5)] }, 'allowed'],
    [
      'a call too long ago',
      requires({ called: 'open', withinTurns: 2 }),
      { calls: [call('open', 3)] },
      'precondition_unmet',
    ],
    [
      'the same value where there is none',
      requires({ called: 'open', same: 'uri' }),
      { calls: [call('open', 3)] },
      'precondition_unmet',
    ],
    ['an argument that is there', requires({ argument: 'path' }), { arguments: { path: 0 } }, 'allowed'],
    ['an argument that is missing', requires({ argument: 'path' }), {}, 'missing_argument'],
    ['an argument that is empty', requires({ argument: 'path' }), { arguments: { path: '' } }, 'missing_argument'],
    ['an argument that every object has', requires({ argument: 'toString' }), {}, 'missing_argument'],
    ['hours that are now', requires({ hours: { from: '09:00', to: '17:00' } }), {}, 'allowed'],
    ['hours that are not now', requires({ hours: { from: '11:00', to: '17:00' } }), {}, 'outside_hours'],
    ['one of two', requires({ anyOf: [{ argument: 'path' }, 'open called'] }), { calls: [call('open', 1)] }, 'allowed'],
    ['neither of two', requires({ anyOf: [{ argument: 'path' }, 'open called'] }), {}, 'missing_argument'],
    ['all of two', requires({ argument: 'path' }, 'open called'), { arguments: { path: 'a' } }, 'precondition_unmet'],
  ])('hold for %s', (_, policy, more, code) => {
    expect(judge(policy, more)).toBe(code);
  });

  it.each([
    [{ called: 'open' }, 'in this session'],
    [{ called: 'open', withinTurns: 1 }, 'in this turn'],
    [{ called: 'open', withinTurns: 2 }, 'within 2 turns'],
  ])('say for %j how long ago it may have been', (requirement, when) => {
    const { reason } = decide(createPolicy(requires(requirement)), facts());
    expect(reason).toBe(`file_read needs that open was called with success ${when}.`);
  });

  it('of the tool itself hold where they can be checked, unless the policy leaves them', () => {
    const tool = make('hover', { risk: 'low', preconditions: ['open called in this session', 'the user is nice'] });
    expect(judge({}, { tool })).toBe('precondition_unmet');
    expect(judge({}, { tool, calls: [call('open', 1)] })).toBe('allowed');
    expect(judge({ toolPreconditions: 'ignore' }, { tool })).toBe('allowed');
  });
});

describe('a policy that is not strict', () => {
  it('allows what it would refuse and says what it would have said', () => {
    const policy = createPolicy({ strict: false });
    expect(decide(policy, facts({ tool: DEPLOY }))).toMatchObject({
      decision: 'allow',
      warned: { decision: 'needs_approval' },
    });
    expect(decide(policy, facts({ isEnabled: false }))).toMatchObject({ warned: { code: 'not_enabled' } });
    expect(decide(policy, facts()).warned).toBeUndefined();
  });

  it.each<[string, Partial<Facts>]>([
    ['unknown_tool', { tool: undefined }],
    ['session_ended', { session: { turn: 1, isEnded: true } }],
    ['unavailable', { tool: { ...READ, available: false } }],
  ])('still says %s', (code, more) => {
    expect(judge({ strict: false }, more)).toBe(code);
  });
});

describe('any policy', () => {
  const names = fc.constantFrom('file_read', 'code_run', 'deploy', 'file_*', '*', 'list_issues', 'github__*');
  const some = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
  const match = fc.record({
    tool: some(names),
    user: some(fc.constantFrom('ann', 'bob')),
    role: some(fc.constantFrom('dev', 'guest')),
    risk: some(fc.constantFrom('low', 'medium', 'high')),
    arguments: some(fc.constant({ mode: 'read' })),
  });
  const policies = fc.record({
    default: fc.constantFrom('allow', 'deny'),
    riskCeiling: fc.constantFrom('low', 'medium', 'high'),
    rules: fc.array(
      fc.record({ name: fc.constant('r'), match, decision: fc.constantFrom('allow', 'deny', 'needs_approval') }),
      { maxLength: 4 },
    ),
    argumentRisks: fc.array(
      fc.record({
        match: fc.record({ tool: some(names), arguments: some(fc.constant({ mode: 'read' })) }),
        risk: fc.constantFrom('low', 'medium', 'high'),
      }),
      { maxLength: 3 },
    ),
  });
  const asked = fc.record({
    tool: fc.constantFrom(READ, RUN, DEPLOY, ISSUES, SPOOFED),
    given: fc.constantFrom({}, { mode: 'read' }, { mode: 'x' }),
    user: some(fc.constantFrom('ann', 'bob')),
  });
  const decideAll = (
    input: unknown,
    { tool, given, user }: { tool: Tool; given: object; user: string | undefined },
  ) => {
    const policy = createPolicy(JSON.parse(JSON.stringify(input)));
    const more = { tool, arguments: { ...given }, caller: { user, roles: ['dev'] } };
    const of = (purpose: Facts['purpose']) => decide(policy, facts({ ...more, purpose }));
    return { found: of('find'), enabled: of('enable'), called: of('call'), reachable: policy.of(tool).reachableRisks };
  };

  it('lets nobody run what they can not find', () => {
    fc.assert(
      fc.property(policies, asked, (policy, question) => {
        const { found, enabled, called } = decideAll(policy, question);
        expect(enabled).toEqual(found);
        if (found.decision === 'deny') expect(called.decision).toBe('deny');
        if (called.code === 'denied') expect(found.code).toBe('denied');
      }),
      { numRuns: 300 },
    );
  });

  it('gives a call no risk that was not to be expected', () => {
    fc.assert(
      fc.property(policies, asked, (policy, question) => {
        const { found, called, reachable } = decideAll(policy, question);
        if (called.code === 'session_ended') return;
        expect(reachable).toContain(called.risk);
        expect(found.risk).toBe(reachable[0]);
      }),
      { numRuns: 500 },
    );
  });

  it('never runs high risk without approval, nor above the ceiling', () => {
    fc.assert(
      fc.property(policies, asked, (policy, question) => {
        const { called } = decideAll(policy, question);
        if (called.decision !== 'allow') return;
        expect(called.risk).not.toBe('high');
        expect(policy.riskCeiling === 'low' && called.risk === 'medium').toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it('decides the same each time', () => {
    fc.assert(
      fc.property(policies, asked, (policy, question) => {
        expect(decideAll(policy, question)).toEqual(decideAll(policy, question));
      }),
    );
  });
});
