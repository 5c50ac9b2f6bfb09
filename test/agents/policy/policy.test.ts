import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkPolicy } from '../../../src/agents/policy/check-policy.js';
import { createPolicy, type PolicyInput } from '../../../src/agents/policy/policy.js';
import { openPolicyFile } from '../../../src/agents/policy/policy-file.js';
import { isWithin, parseRequirement } from '../../../src/agents/policy/requirement.js';
import { createTool } from '../../support/create-tool.js';
import { setUp, TOOLS } from '../setup.js';

describe('a policy', () => {
  it('has a version that is the same for the same settings and another for others', () => {
    const { version } = createPolicy({ pinned: ['a'] });
    expect(version).toMatch(/^[0-9a-f]{32}$/u);
    expect(createPolicy({ pinned: ['a'], strict: true }).version).toBe(version);
    expect(createPolicy({ pinned: ['b'] }).version).not.toBe(version);
    expect(createPolicy({ pinned: ['a'], strict: false }).version).not.toBe(version);
  });

  it.each([
    ['an unknown field', { rule: [] }, 'rule'],
    ['a rule without a decision', { rules: [{ name: 'a' }] }, 'rules.0.decision'],
    ['an unknown risk', { riskCeiling: 'huge' }, 'riskCeiling'],
    [
      'a match with an unknown field',
      { rules: [{ name: 'a', match: { tools: 'x' }, decision: 'deny' }] },
      'rules.0.match',
    ],
    [
      'a pattern that is none',
      { rules: [{ name: 'a', match: { arguments: { a: { pattern: '(' } } }, decision: 'deny' }] },
      'arguments',
    ],
    ['prose as a precondition', { preconditions: [{ requires: ['be nice'] }] }, 'preconditions.0.requires.0'],
    [
      'a time that is none',
      { preconditions: [{ requires: [{ hours: { from: '25:00', to: '26:00' } }] }] },
      'preconditions.0.requires.0',
    ],
    ['an empty list', { rules: [{ name: 'a', match: { tool: [] }, decision: 'deny' }] }, 'rules.0.match.tool'],
  ])('is refused with %s, naming the field', (_, input, field) => {
    expect(() => createPolicy(JSON.parse(JSON.stringify(input)))).toThrow(
      expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(field) }),
    );
  });

  it('is checked against a catalogue: what is without effect is said', () => {
    const policy = createPolicy({
      rules: [{ name: 'slip', match: { tool: 'file_raed' }, decision: 'deny' }],
      pinned: ['file_*', 'fil'],
      preconditions: [{ match: { tool: 'deploy' }, requires: ['tests_run called in this session'] }],
    });
    const low = { risk: 'low' as const };
    const tools = [
      ...TOOLS,
      createTool('x', {}, undefined, { ...low, preconditions: ['the moon is full'] }),
      createTool('y', {}, undefined, { ...low, preconditions: ['lsp_opn called in this session'] }),
    ];
    const problem = (message: string) => ({ level: 'problem', message });
    expect(checkPolicy(policy, tools)).toEqual([
      problem('rules "slip": matches no tool'),
      problem('pinned: "fil" matches no tool'),
      problem('preconditions[0]: there is no tool "tests_run" that could be called'),
      problem('tool y: "lsp_opn called in this session" is never met: there is no tool "lsp_opn"'),
      { level: 'unchecked', message: expect.stringContaining('tool x: "the moon is full"') },
    ]);
    const unchecked = (settings: PolicyInput) => checkPolicy(createPolicy(settings), tools).map(({ level }) => level);
    expect(unchecked({ toolPreconditions: 'ignore' })).toEqual(['unchecked']);
    const covering = { match: { tool: 'x' }, requires: [{ argument: 'phase' }] };
    expect(unchecked({ toolPreconditions: 'ignore', preconditions: [covering] })).toEqual([]);
    expect(checkPolicy(createPolicy(), TOOLS)).toEqual([]);
    const line = '\nproblem rules "slip"\u2028x\u202e';
    const hostile = [
      `the moon${line}`,
      `lsp_opn${line} called in this session`,
      `lsp_opn called${line} in this session`,
    ];
    const notes = checkPolicy(policy, [createTool('x', {}, undefined, { ...low, preconditions: hostile })]);
    expect(notes.filter(({ message }) => message.startsWith('tool x'))).toHaveLength(3);
    for (const { message } of notes) expect(message).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
  });
});

describe('a policy that is checked against a catalogue', () => {
  const text = { type: 'string' };
  const properties = {
    ...{ to: { type: 'array', items: text }, text, count: { type: 'integer' }, any: {}, same: { $ref: '#/$defs/t' } },
    options: { type: 'object', properties: { force: { type: 'boolean' } } },
  };
  const schema = { properties, $defs: { t: text }, additionalProperties: false };
  const tools = [createTool('mail', schema), createTool('open', {}), createTool('other', { properties: { x: text } })];
  const notesOf = (settings: PolicyInput) => checkPolicy(createPolicy(settings), tools).map(({ message }) => message);
  const THERE = 'rules "r": no tool that it matches has an argument';
  const SUCH = 'rules "r": no tool that it matches can have such a value in';

  type Conditions = Record<string, string | number | boolean | { pattern: string } | { present: boolean }>;
  it.each<[string, Conditions, string[]]>([
    ['a misspelt argument', { recipient: 'x' }, [`${THERE} "recipient"`]],
    ['one that has to be missing', { recipient: { present: false } }, [`${THERE} "recipient"`]],
    ['a path', { 'options.force': true }, [`${THERE} "options.force"`]],
    ['an object that is no text', { options: { pattern: 'x' } }, [`${SUCH} "options"`]],
    ['a number as a text', { count: '5', text: 5, same: 5 }, [`${SUCH} "count"`, `${SUCH} "text"`, `${SUCH} "same"`]],
    [
      'nothing where it can match',
      { count: 5, text: 'x', same: 'x', any: { pattern: 'x' }, to: { present: true } },
      [],
    ],
    ['nothing of the items of a list that it restricts', { to: { pattern: 'x' } }, []],
    ['items of another type', { to: 5 }, [`${SUCH} "to"`]],
  ])('has a note of %s', (_, conditions, notes) => {
    expect(
      notesOf({ rules: [{ name: 'r', match: { tool: 'mail', arguments: conditions }, decision: 'deny' }] }),
    ).toEqual(notes);
  });

  it('has a note of what would allow an item, and none where another tool has the argument', () => {
    const rule = (match: object) => ({ rules: [{ name: 'r', match, decision: 'allow' as const }] });
    expect(notesOf(rule({ tool: 'mail', arguments: { to: 'x' } }))).toEqual([`${SUCH} "to"`]);
    expect(notesOf(rule({ tool: ['mail', 'other'], arguments: { x: 'x' } }))).toEqual([]);
    expect(notesOf(rule({ tool: 'open', arguments: { anything: 'x' } }))).toEqual([]);
    const low = { match: { tool: 'mail', arguments: { too: 'x' } }, risk: 'low' as const };
    expect(notesOf({ argumentRisks: [low] })).toEqual([
      'argumentRisks[0]: no tool that it matches has an argument "too"',
    ]);
  });
});

describe('a precondition in words', () => {
  it.each([
    ['lsp_open_file called for the same uri in this session', { called: 'lsp_open_file', same: 'uri' }],
    ['terminal_open called in this session', { called: 'terminal_open' }],
    ['test_run was called.', { called: 'test_run' }],
    ['file_read called for the same path in this session, or the text quoted by the user', undefined],
    ['debug_start called and the session is paused', undefined],
    ['the head branch has been pushed', undefined],
  ])('is read or left to people: %s', (text, requirement) => {
    expect(parseRequirement(text)).toEqual(requirement);
  });
});

describe('hours', () => {
  const MONDAY = '2026-01-05';
  it.each([
    ['within', { from: '09:00', to: '17:00' }, `${MONDAY}T09:00:00Z`, true],
    ['at the end, which is not included', { from: '09:00', to: '17:00' }, `${MONDAY}T17:00:00Z`, false],
    ['on a day that is named', { from: '09:00', to: '17:00', days: ['mon' as const] }, `${MONDAY}T12:00:00Z`, true],
    ['on another day', { from: '09:00', to: '17:00', days: ['tue' as const] }, `${MONDAY}T12:00:00Z`, false],
    ['over midnight, before it', { from: '22:00', to: '06:00' }, `${MONDAY}T23:00:00Z`, true],
    ['over midnight, after it', { from: '22:00', to: '06:00' }, `${MONDAY}T05:59:00Z`, true],
    ['over midnight, neither', { from: '22:00', to: '06:00' }, `${MONDAY}T12:00:00Z`, false],
    [
      'after the midnight of a named day',
      { from: '22:00', to: '06:00', days: ['sun' as const] },
      `${MONDAY}T05:00:00Z`,
      true,
    ],
    [
      'after the midnight of another day',
      { from: '22:00', to: '06:00', days: ['mon' as const] },
      `${MONDAY}T05:00:00Z`,
      false,
    ],
    [
      'by the clock of another zone',
      { from: '09:00', to: '10:00', timeZone: 'Asia/Shanghai' },
      `${MONDAY}T01:30:00Z`,
      true,
    ],
    ['by the clock of UTC', { from: '09:00', to: '10:00' }, `${MONDAY}T01:30:00Z`, false],
  ])('hold %s', (_, hours, instant, isNow) => {
    expect(isWithin({ timeZone: 'UTC', ...hours }, new Date(instant))).toBe(isNow);
  });
});

describe('a policy file', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'winnow-policy-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const write = (text: string, name = 'policy.yaml') => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  it.each([
    ['policy.yaml', 'riskCeiling: low\nrules:\n  - {name: a, match: {tool: "x_*"}, decision: deny}\n'],
    ['policy.json', '{"riskCeiling": "low", "rules": [{"name": "a", "match": {"tool": "x_*"}, "decision": "deny"}]}'],
  ])('may be %s', async (name, text) => {
    const source = await openPolicyFile(write(text, name));
    expect(source.current().settings).toMatchObject({ riskCeiling: 'low', rules: [{ match: { tool: ['x_*'] } }] });
  });

  it('is loaded anew when it changed, and stays the same object when it did not', async () => {
    const path = write('riskCeiling: low\n');
    const source = await openPolicyFile(path);
    const first = source.current();
    write('# only a comment\nriskCeiling: low\n');
    expect(await source.reload()).toEqual({ ok: true, isChanged: false, version: first.version });
    expect(source.current()).toBe(first);
    write('riskCeiling: medium\n');
    expect(await source.reload()).toMatchObject({ ok: true, isChanged: true });
    expect(source.current().settings.riskCeiling).toBe('medium');
  });

  it.each([
    ['is no YAML', 'rules: [\n', 'read'],
    ['has a wrong field', 'riskCeiling: huge\n', 'riskCeiling'],
    ['was cut off', '', 'empty'],
    ['is a text', 'allow everything\n', 'policy'],
  ])('that %s keeps the old policy and says so, to the caller and in the audit', async (_, text, word) => {
    const source = await openPolicyFile(write('riskCeiling: low\n'));
    const { router } = await setUp({ policy: source });
    const kept = source.current();
    write(text);
    expect(await router.reloadPolicy()).toMatchObject({
      ok: false,
      version: kept.version,
      reason: expect.stringContaining(word),
    });
    expect(source.current()).toBe(kept);
    expect(await router.audit()).toMatchObject([
      { event: 'policy_kept', outcome: 'failed', policyVersion: kept.version },
    ]);
    write('riskCeiling: high\n');
    expect(await router.reloadPolicy()).toMatchObject({ ok: true, isChanged: true });
    expect(await router.audit({ event: 'policy_loaded' })).toHaveLength(1);
  });

  it('that is gone keeps the old policy, and at the start is an error that names it', async () => {
    const path = write('riskCeiling: low\n', 'gone.yaml');
    const source = await openPolicyFile(path);
    rmSync(path);
    expect(await source.reload()).toMatchObject({ ok: false, reason: expect.stringContaining('gone.yaml') });
    await expect(openPolicyFile(path)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('gone.yaml'),
    });
  });
});
