/** The commands around agents, on one store: what one command leaves behind, the next one finds. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { openStore } from '../../src/agents/store/open-store.js';
import { adaptationCommand } from '../../src/cli/adaptation-command.js';
import { approvalsCommand } from '../../src/cli/approvals-command.js';
import { indexCommand } from '../../src/cli/index-command.js';
import type { OutputOptions } from '../../src/cli/output.js';
import { policyCommand } from '../../src/cli/policy-command.js';
import { privateToolsCommand } from '../../src/cli/private-tools-command.js';
import { rulesCommand } from '../../src/cli/rules-command.js';
import { runCommand } from '../../src/cli/run-command.js';
import { sessionsCommand } from '../../src/cli/sessions-command.js';
import { telemetryCommand } from '../../src/cli/telemetry-command.js';

const TOOLS = [
  {
    name: 'file_list',
    toolType: 'builtin',
    risk: 'low',
    description: 'Lists files.',
    inputSchema: { type: 'object', properties: {} },
  },
  {
    name: 'file_delete',
    toolType: 'builtin',
    risk: 'high',
    description: 'Deletes a file.',
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string' }, key: { type: 'string', 'x-secret': true }, note: {} },
      required: ['path'],
    },
  },
  {
    name: 'no_function',
    toolType: 'builtin',
    risk: 'low',
    description: 'Nothing runs it.',
    inputSchema: { type: 'object' },
  },
];
const MODULE = `
export const file_list = () => ({ path: 'old.txt' });
export default { file_delete: ({ path }, { user }) => 'deleted ' + path + ' for ' + user };
`;
const PLAN = {
  kind: 'plan',
  goal: 'tidy up',
  steps: [
    { id: 's1', tool: 'file_list', arguments: {} },
    { id: 's2', tool: 'file_delete', arguments: { path: '${s1.path}' }, dependsOn: ['s1'] },
  ],
};
const POLICY = `
rules:
  - { name: no lists at night, match: { tool: file_list, user: nina }, decision: deny }
  - { name: slip, match: { tool: file_lst }, decision: deny }
`;

let folder: string;
const at = (name: string) => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-commands-'));
  await writeFile(at('tools.json'), JSON.stringify(TOOLS));
  await writeFile(at('tools.mjs'), MODULE);
  await writeFile(at('empty.mjs'), 'export const answer = 42;');
  await writeFile(at('plan.json'), JSON.stringify(PLAN));
  await writeFile(at('policy.yaml'), POLICY);
  await writeFile(at('empty.yaml'), '{}');
});
afterAll(() => rm(folder, { recursive: true }));

let exitCode: typeof process.exitCode;
afterEach(() => {
  process.exitCode = undefined;
});

/** What the command wrote; its exit code is in `exitCode`. */
async function run(make: (options: OutputOptions) => Command, ...words: string[]): Promise<string> {
  let text = '';
  const stdout = {
    write(part: string | Uint8Array) {
      text += String(part);
      return true;
    },
  };
  const command = make({ stdout, stderr: stdout });
  for (const one of [command, ...command.commands]) one.exitOverride().configureOutput({ writeErr: () => {} });
  process.exitCode = undefined;
  await command.parseAsync(words, { from: 'user' });
  exitCode = process.exitCode;
  return text;
}

const runJson = async (...given: Parameters<typeof run>) => JSON.parse(await run(...given, '--json'));

describe('a plan that needs an approval', () => {
  it('pauses, is granted by somebody else, goes on, and all of it can be looked at', async () => {
    const store = ['--store', at('life.db')];
    const tools = ['--catalog', at('tools.json')];
    const plan = [...store, ...tools, '--tools-module', at('tools.mjs')];
    const text = await run(runCommand, at('plan.json'), ...plan, '--user', 'ann');
    expect(text).toMatch(/s1 +file_list +done +\{"path":"old.txt"\}/u);
    const [, approval = ''] = /\(approval ([\w-]+)\)/u.exec(text) ?? [];
    const [, id = ''] = /run ([\w-]+): paused/u.exec(text) ?? [];
    expect([approval.length, id.length, exitCode]).toEqual([36, 36, 5]);
    const [grant, goOn] = [
      `grant ${approval} --by NAME ${store.join(' ')}`,
      `--resume ${id} ${plan.join(' ')} --user ann`,
    ];
    expect(text).toContain(`\nNext:\n  winnow approvals ${grant}\n  winnow run ${goOn}\n`);

    expect(await run(approvalsCommand, 'list', ...store, '--state', 'pending')).toContain(
      `${approval}  pending\n  file_delete {"path":"old.txt"}\n  runs: a function of this server (${at('tools.json')}), high risk\n  asked by ann: file_delete has high risk.`,
    );
    const own = await run(approvalsCommand, 'grant', approval, ...store, '--by', 'ann');
    expect([own, exitCode]).toEqual([expect.stringContaining('approval_own'), 2]);
    const granted = await run(approvalsCommand, 'grant', approval, ...store, '--by', 'bob', '--reason', 'it is old');
    expect([granted, exitCode]).toEqual([expect.stringContaining('granted by bob: it is old\n'), undefined]);
    expect(granted).toContain('  asked by ann\n');

    const others = run(runCommand, '--resume', id, ...plan, '--user', 'bob');
    await expect(others).rejects.toMatchObject({ code: 'not_found' });
    const done = await runJson(runCommand, '--resume', id, ...plan, '--user', 'ann');
    expect(done).toMatchObject({ state: 'done', steps: { s2: { output: 'deleted old.txt for ann' } } });
    expect(await run(approvalsCommand, 'list', ...store)).toContain(`${approval}  used, granted by bob: it is old`);
    const [session] = await runJson(sessionsCommand, 'list', ...store, ...tools, '--user', 'ann');
    expect(session).toMatchObject({ user: 'ann', turn: 1 });
    expect(await run(sessionsCommand, 'list', ...store, ...tools)).toMatch(/ann +\S+ +open +1 +2/u);
    expect(await run(sessionsCommand, 'list', ...store)).toMatch(/^Catalogue: the example .*--catalog/u);
    expect(await run(sessionsCommand, 'show', session.id, ...store, ...tools)).toMatch(/file_delete +asked +3/u);
    expect(await run(sessionsCommand, 'end', session.id, ...store)).toBe(`ended ${session.id}\n`);
    const report = await run(telemetryCommand, ...store, '--by', 'tool');
    expect(report).toMatch(/file_delete +0 +0 +- +- +- +1 +0 % +1 +1 +0 %/u);
    expect((await runJson(telemetryCommand, ...store)).total).toMatchObject({ calls: 2, refused: 1 });
  });

  it('shows where its arguments come from, in the run and to whoever approves', async () => {
    const store = ['--store', at('told.db')];
    const tools = ['--catalog', at('tools.json'), '--tools-module', at('tools.mjs')];
    const [list, remove] = PLAN.steps;
    const given = { path: '${s1.path}', key: 's3cret', note: 'left\u202eright' };
    const told = { ...remove, arguments: given, from: { path: 'step', key: 'unknown' } };
    await writeFile(at('told.json'), JSON.stringify({ ...PLAN, steps: [list, told] }));
    const text = await run(runCommand, at('told.json'), ...store, ...tools, '--user', 'ann');
    const [key = ''] = /key: "\[secret: 6 characters, [0-9a-f]{16}\]" {2}! unknown/u.exec(text) ?? [];
    const lines = [key, 'note: "left\\u{202e}right"  person', 'path: "old.txt"  step ${s1.path}'];
    expect(text).toContain(['file_delete waits for an approval with', ...lines].join('\n  '));
    expect(text).not.toContain('s3cret');
    const listed = await run(approvalsCommand, 'list', ...store);
    const runs = `runs: a function of this server (${at('tools.json')}), high risk`;
    expect(listed).toContain(['  file_delete', ...lines.map((line) => `  ${line}`), runs].join('\n  '));
    expect(listed).toContain('\n  asked by ann: file_delete has high risk.');
  });

  it('is granted with other arguments, which whoever looks at it sees, and goes on with these', async () => {
    const store = ['--store', at('edited.db')];
    const tools = ['--catalog', at('tools.json')];
    const plan = [...store, ...tools, '--tools-module', at('tools.mjs')];
    const paused = await runJson(runCommand, at('plan.json'), ...plan, '--user', 'ann');
    const { approval } = paused.steps.s2;
    const grant = ['grant', approval, ...store, '--by', 'bob', '--arguments'];
    const without = await run(approvalsCommand, ...grant, '{"path": "new.txt"}');
    expect([without, exitCode]).toEqual([expect.stringMatching(/yours with --catalog\.\napproval_mismatch: /u), 2]);
    await expect(run(approvalsCommand, ...grant, '[]', ...tools)).rejects.toThrow('--arguments: ');
    const wrong = await run(approvalsCommand, ...grant, '{}', ...tools);
    expect([wrong, exitCode]).toEqual([expect.stringMatching(/^invalid_arguments: .*path/u), 2]);
    const granted = await run(approvalsCommand, ...grant, '{"path": "new.txt"}', ...tools);
    expect(granted).toContain(
      '  file_delete {"path":"old.txt"}\n  bob granted other arguments than asked for\n    path: "old.txt" -> "new.txt"\n',
    );
    expect(await run(approvalsCommand, 'list', ...store)).toBe(granted);
    const done = await runJson(runCommand, '--resume', paused.id, ...plan, '--user', 'ann');
    expect(done).toMatchObject({ state: 'done', steps: { s2: { output: 'deleted new.txt for ann' } } });
  });

  it('is refused', async () => {
    const store = ['--store', at('refused.db')];
    const plan = [...store, '--catalog', at('tools.json'), '--tools-module', at('tools.mjs')];
    const paused = await runJson(runCommand, at('plan.json'), ...plan, '--user', 'ann');
    const { approval } = paused.steps.s2;
    await run(approvalsCommand, 'refuse', approval, ...store, '--by', 'bob', '--reason', 'we need it');
    const text = await run(runCommand, '--resume', paused.id, ...plan);
    expect(text).toContain('It was refused: we need it');
    expect([text, exitCode]).toEqual([expect.stringMatching(/: failed\n$/u), 5]);
  });
});

describe('winnow approvals', () => {
  it('shows the reason of the gate as that of the question where the one who decided gave none', async () => {
    const store = ['--store', at('silent.db')];
    const plan = [...store, '--catalog', at('tools.json'), '--tools-module', at('tools.mjs')];
    const paused = await runJson(runCommand, at('plan.json'), ...plan, '--user', 'ann');
    const { approval } = paused.steps.s2;
    const text = await run(approvalsCommand, 'grant', approval, ...store, '--by', 'bob');
    expect(text).toContain(`${approval}  granted by bob\n`);
    expect(text).toContain('  asked by ann: file_delete has high risk.\n');
    expect(await run(approvalsCommand, 'list', ...store)).toBe(text);
    expect(await run(runCommand, '--resume', paused.id, ...plan)).not.toContain('Next');
  });
});

it('winnow approvals takes the decision of the asker where the policy lets their own person decide', async () => {
  await writeFile(at('self.yaml'), 'approvals: { self: ask }\n');
  const given = ['--store', at('self.db'), '--policy', at('self.yaml')];
  const tools = ['--catalog', at('tools.json'), '--tools-module', at('tools.mjs')];
  const paused = await runJson(runCommand, at('plan.json'), ...given, ...tools, '--user', 'ann');
  const { approval } = paused.steps.s2;
  const text = await run(approvalsCommand, 'grant', approval, ...given, '--by', 'ann');
  expect(text).toContain(`${approval}  granted by ann\n`);
});

it('winnow approvals says which flag is missing where the policy of the server was not named', async () => {
  await writeFile(at('strict.yaml'), 'rules: [{ name: ask, match: { tool: file_list }, decision: needs_approval }]\n');
  const store = ['--store', at('policy.db')];
  const plan = [...store, '--catalog', at('tools.json'), '--tools-module', at('tools.mjs')];
  const policy = ['--policy', at('strict.yaml')];
  const paused = await runJson(runCommand, at('plan.json'), ...plan, '--user', 'ann', ...policy);
  const [{ approval }] = Object.values(paused.steps).filter((step) => (step as { approval?: string }).approval) as [
    { approval: string },
  ];
  const text = await run(approvalsCommand, 'grant', approval, ...store, '--by', 'bob');
  expect(text).toContain('The policy has changed since it was asked for.');
  expect(text).toContain('--policy FILE');
  expect(await run(approvalsCommand, 'grant', approval, ...store, '--by', 'bob', ...policy)).toContain(
    'granted by bob',
  );
});

describe('winnow sessions', () => {
  it('shows what has not been idle for too long, as the configuration says', async () => {
    const store = await openStore({ file: at('idle.db') });
    const activeAt = new Date(Date.now() - 10 * 60_000).toISOString();
    await store.sessions.create({ id: 'old', roles: [], turn: 1, createdAt: activeAt, activeAt });
    await store.close();
    await writeFile(at('short.yaml'), 'sessions: { idleMinutes: 5 }\n');
    const words = ['list', '--store', at('idle.db'), '--catalog', at('tools.json')];
    expect(await runJson(sessionsCommand, ...words)).toMatchObject([{ id: 'old' }]);
    expect(await runJson(sessionsCommand, ...words, '--config', at('short.yaml'))).toEqual([]);
  });
});

describe('winnow approvals request', () => {
  it('asks ahead for a call of a session, which somebody else then decides on', async () => {
    const store = ['--store', at('ahead.db')];
    const tools = ['--catalog', at('tools.json')];
    await run(runCommand, at('plan.json'), ...store, ...tools, '--user', 'ann');
    const [session] = await runJson(sessionsCommand, 'list', ...store, ...tools);
    const request = ['request', ...store, ...tools, '--session', session.id, '--tool', 'file_delete'];
    const given = ['--arguments', '{"path": "b"}'];
    const { approval } = await runJson(approvalsCommand, ...request, ...given, '--reason', 'tidy up');
    expect(approval).toMatchObject({ state: 'pending', user: 'ann', arguments: { path: 'b' } });
    expect((await runJson(approvalsCommand, ...request, ...given)).approval.id).toBe(approval.id);
    expect(await run(approvalsCommand, 'grant', approval.id, ...store, '--by', 'bob')).toContain('granted by bob');
    expect(await run(approvalsCommand, ...request, ...given)).toContain('granted by bob');
    expect(exitCode).toBeUndefined();
    const refused = await run(approvalsCommand, ...request);
    expect([refused, exitCode]).toEqual([expect.stringMatching(/^invalid_arguments: .*path/u), 2]);
  });

  it.each(['{', '[]'])('refuses %s as arguments', async (text) => {
    const words = ['request', '--session', 'x', '--tool', 'file_delete', '--arguments', text];
    await expect(run(approvalsCommand, ...words)).rejects.toThrow('--arguments: ');
  });
});

describe('winnow run', () => {
  it('shows the calls of a plan and runs none of them', async () => {
    const text = await run(runCommand, at('plan.json'), '--catalog', at('tools.json'), '--dry-run');
    expect(text).toMatch(/s2 +file_delete +planned +\{"path":"\$\{s1.path\}"\}/u);
    expect(exitCode).toBeUndefined();
  });

  it('leaves no trace of a dry run in the figures, and none of its calls in the audit', async () => {
    const words = [
      at('plan.json'),
      '--store',
      at('dry.db'),
      '--catalog',
      at('tools.json'),
      '--policy',
      at('policy.yaml'),
    ];
    const text = await run(runCommand, ...words, '--dry-run', '--user', 'nina');
    expect(text).toMatch(/^not enabled: file_list \(unknown_tool\): There is no tool "file_list"/u);
    expect(text).toMatch(/s2 +file_delete +planned/u);
    const report = await runJson(telemetryCommand, '--store', at('dry.db'), '--by', 'tool');
    expect(report).toMatchObject({ total: { calls: 0, refused: 0, enablements: 0, unused: null }, rows: [] });
    const store = await openStore({ file: at('dry.db') });
    const events = (await store.journal.audit({ limit: 100 })).map(({ event }) => event);
    const kept = await store.journal.telemetry({ limit: 100 });
    await store.close();
    expect([events, kept]).toEqual([['session_ended', 'session_created'], []]);
  });

  it('asks for a user where nobody could approve, and for a store where nothing would be kept', async () => {
    const words = [at('plan.json'), '--catalog', at('tools.json'), '--tools-module', at('tools.mjs')];
    expect(await run(runCommand, ...words)).toContain('\nNext: give --user, ');
    expect(await run(runCommand, ...words, '--user', 'ann')).toContain('\nNext: run it with --store, ');
  });

  it('runs functions in threads where they are not trusted', async () => {
    await writeFile(at('loop.json'), JSON.stringify({ steps: [{ id: 's1', tool: 'file_list', arguments: {} }] }));
    await writeFile(at('worker.mjs'), 'export function file_list() { for (;;); }');
    await writeFile(at('quick.yaml'), `sandbox: { timeoutMs: 100 }\ncatalog: [tools.json]\nworkerModule: worker.mjs\n`);
    const text = await run(runCommand, at('loop.json'), '--config', at('quick.yaml'), '--json');
    expect(JSON.parse(text)).toMatchObject({ state: 'failed', steps: { s1: { failure: { code: 'timeout' } } } });
  });

  it('runs the worked example with results that are as their catalogue says', async () => {
    const config = { catalog: [resolve('fixtures/catalogs/coding-agent.json')], sandbox: { outputCheck: 'refuse' } };
    await writeFile(at('refuse.yaml'), JSON.stringify(config));
    const words = ['plan.json', '--tools-module', 'tools.mjs'].map((word) =>
      word.startsWith('-') ? word : `fixtures/agents/first-steps/${word}`,
    );
    const paused = await runJson(runCommand, ...words, '--config', at('refuse.yaml'), '--user', 'ann');
    expect(paused.steps.s1).toMatchObject({ status: 'done', output: { content: 'hello', total_lines: 1 } });
    expect(paused.steps.s1.notes ?? []).toEqual([]);
    expect(paused.steps.s2).toMatchObject({ status: 'needs_approval' });
  });

  it('says that the tools are those of the example where no catalogue is named', async () => {
    const text = await run(runCommand, at('plan.json'), '--dry-run');
    expect(text).toMatch(/^Catalogue: the example "hydrology" that comes with Winnow; yours with --catalog\.\n/u);
    expect(await run(runCommand, at('plan.json'), '--dry-run', '--catalog', at('tools.json'))).not.toContain('example');
  });

  it.each([
    ['neither a plan nor a run', () => [], 'Name a file with a plan'],
    ['a plan that is not there', () => [at('none.json')], "none.json can't be read"],
    ['what is no plan', () => [at('tools.json')], "tools.json can't be run: plan"],
    ['a run of no store', () => ['--resume', 'x', '--catalog', at('tools.json')], 'name the --store'],
    ['a module without functions', () => [at('plan.json'), '--tools-module', at('empty.mjs')], 'exports no function'],
    ['a module that is not there', () => [at('plan.json'), '--tools-module', at('none.mjs')], "can't be loaded"],
  ])('refuses %s', async (_, words, message) => {
    await expect(run(runCommand, ...words())).rejects.toThrow(message);
  });
});

describe('winnow policy check', () => {
  const strange = () => [at('policy.yaml'), '--catalog', at('tools.json')];

  it('tells what has no effect, and what is decided and why', async () => {
    const words = ['check', at('policy.yaml'), '--catalog', at('tools.json')];
    const text = await run(policyCommand, ...words, '--user', 'nina', '--arguments', '{"path": "a"}');
    expect(text).toContain('problem rules "slip": matches no tool');
    expect(text).toMatch(/file_list +deny +low +denied +The rule "no lists at night" denies it/u);
    expect(text).toMatch(/file_delete +needs_approval +high/u);
    expect(text).toMatch(/no_function +allow +low/u);
    expect(exitCode).toBeUndefined();
    const { decisions } = await runJson(policyCommand, ...words, '--tool', 'file_list', '--user', 'ann');
    expect(decisions).toEqual([expect.objectContaining({ tool: 'file_list', decision: 'allow' })]);
    const ceiling = await runJson(policyCommand, ...words, '--tool', 'file_delete', '--risk-ceiling', 'low');
    expect(ceiling.decisions).toMatchObject([{ decision: 'deny', code: 'too_risky' }]);
    await run(policyCommand, ...words, '--strict');
    expect(exitCode).toBe(2);
  });

  it('takes policy and catalogue from the configuration of the server, which its own words win over', async () => {
    await writeFile(at('server.yaml'), 'policy: policy.yaml\ncatalog: [tools.json]\n');
    const config = ['check', '--config', at('server.yaml')];
    const { notes, decisions } = await runJson(policyCommand, ...config);
    expect(notes).toMatchObject([{ message: 'rules "slip": matches no tool' }]);
    expect(decisions).toHaveLength(TOOLS.length);
    expect((await runJson(policyCommand, ...config, at('empty.yaml'))).notes).toEqual([]);
    await expect(run(policyCommand, 'check')).rejects.toThrow('Name the policy: a file, or a --config');
  });

  it('tells limits of the configuration for a tool that is not there, as a problem', async () => {
    const limits = 'sandbox: { tools: { file_delte: { timeoutMs: 10 }, file_list: { timeoutMs: 10 } } }';
    await writeFile(at('limits.yaml'), `policy: empty.yaml\ncatalog: [tools.json]\n${limits}\n`);
    const words = ['check', '--config', at('limits.yaml')];
    const { notes } = await runJson(policyCommand, ...words);
    const message = 'sandbox.tools: there is no tool "file_delte"; near: file_delete, file_list';
    expect([notes, exitCode]).toEqual([[{ level: 'problem', message }], undefined]);
    expect(await run(policyCommand, ...words, '--strict')).toContain(`problem ${message}\n`);
    expect(exitCode).toBe(2);
    await writeFile(at('limits.yaml'), 'policy: empty.yaml\nsandbox: { timeoutMs: soon }\n');
    await expect(run(policyCommand, ...words)).rejects.toThrow('sandbox.timeoutMs');
  });

  it('says that it checks against the example where no catalogue is named', async () => {
    const text = await run(policyCommand, 'check', at('empty.yaml'));
    expect(text).toMatch(/^Catalogue: the example "hydrology" that comes with Winnow; yours with --catalog\.\n/u);
    const named = await run(policyCommand, 'check', at('empty.yaml'), '--catalog', at('tools.json'));
    expect(named).not.toContain('example');
  });

  it('takes prose for no mistake under --strict, and for one only where that is asked for', async () => {
    const prose = { ...TOOLS[0], name: 'push', preconditions: ['the branch has been reviewed'] };
    await writeFile(at('prose.json'), JSON.stringify([prose]));
    const words = ['check', at('empty.yaml'), '--catalog', at('prose.json')];
    const text = await run(policyCommand, ...words, '--strict');
    expect([text, exitCode]).toEqual([
      expect.stringContaining('unchecked tool push: "the branch has been reviewed" is for people only'),
      undefined,
    ]);
    await run(policyCommand, ...words, '--strict-preconditions');
    expect(exitCode).toBe(2);
    const covered = { preconditions: [{ match: { tool: 'push' }, requires: [{ argument: 'review' }] }] };
    await writeFile(at('covered.yaml'), JSON.stringify(covered));
    const answer = await runJson(
      policyCommand,
      'check',
      at('covered.yaml'),
      '--catalog',
      at('prose.json'),
      '--strict-preconditions',
    );
    expect([answer.notes, exitCode]).toEqual([[], undefined]);
  });

  it('passes --strict on the catalogue that comes with the package', async () => {
    const words = ['--catalog', 'fixtures/catalogs/coding-agent.json', '--strict'];
    const { notes } = await runJson(policyCommand, 'check', at('empty.yaml'), ...words);
    expect([notes.length > 0, exitCode]).toEqual([true, undefined]);
  });

  it.each([
    ['a policy that is none', () => [at('tools.json')], 'The policy is not usable'],
    ['a file that is not there', () => [at('none.yaml')], "can't be read"],
    [
      'a tool that is none',
      () => [...strange(), '--tool', 'file_delte'],
      'no tool "file_delte"; near: file_delete, file_list.',
    ],
    ['a tool that is like none', () => [...strange(), '--tool', 'zzz'], '--tool: there is no tool "zzz".'],
    ['arguments that are no JSON', () => [at('policy.yaml'), '--arguments', '{'], '--arguments: not JSON'],
    ['arguments that are no object', () => [at('policy.yaml'), '--arguments', '[]'], 'write a JSON object'],
  ])('refuses %s', async (_, words, message) => {
    await expect(run(policyCommand, 'check', ...words())).rejects.toThrow(message);
  });
});

describe('sources of tools that are not usable', () => {
  const none = () => at('none.json');
  const store = async (name: string) => {
    await (await openStore({ file: at(name) })).close();
    return ['--store', at(name)];
  };

  beforeAll(async () => {
    await writeFile(at('slips.json'), JSON.stringify([...TOOLS, { description: 'of none' }]));
    await writeFile(at('strict.yaml'), 'strict: true\npolicy: empty.yaml\n');
  });

  it.each<[string, (options: OutputOptions) => Command, () => Promise<string[]>]>([
    ['policy check', policyCommand, async () => ['check', at('empty.yaml')]],
    ['sessions list', sessionsCommand, async () => ['list', ...(await store('told-1.db'))]],
    ['private-tools list', privateToolsCommand, async () => ['list', '--user', 'ann', ...(await store('told-2.db'))]],
    ['rules list', rulesCommand, async () => ['list', ...(await store('told-3.db'))]],
    ['index export', indexCommand, async () => ['export']],
  ])('are told by winnow %s, and refused where the configuration is strict', async (_, make, words) => {
    const given = await words();
    const usable = ['--catalog', at('slips.json')];
    expect(await run(make, ...given, ...usable, '--catalog', none())).toMatch(
      /^The source \S+none\.json can't be found.*\n1 warning: see winnow tools check, with the same sources\n/u,
    );
    const strict = [...given, '--config', at('strict.yaml')];
    await expect(run(make, ...strict, ...usable)).rejects.toMatchObject({ code: 'invalid_catalog' });
    const missing = run(make, ...strict, '--catalog', at('tools.json'), '--catalog', none());
    await expect(missing).rejects.toMatchObject({ code: 'source_failed' });
  });

  it('are refused by winnow policy check --strict where a pattern is none of RE2', async () => {
    const rules = [{ name: 'ahead', match: { arguments: { path: { pattern: '^(?!/tmp)' } } }, decision: 'deny' }];
    await writeFile(at('ahead.yaml'), JSON.stringify({ rules }));
    const words = ['check', at('ahead.yaml'), '--catalog', at('tools.json')];
    await expect(run(policyCommand, ...words)).rejects.toThrow('neither look-around nor back-references');
    await writeFile(at('none.yaml'), '{}');
    const fine = ['check', at('none.yaml'), '--catalog', none(), '--strict'];
    await expect(run(policyCommand, ...fine)).rejects.toThrow("can't be found");
  });
});

it('a store may be named by the environment, which the flag wins over', async () => {
  process.env.WINNOW_STORE = at('none/agents.db');
  try {
    await expect(run(approvalsCommand, 'list')).rejects.toThrow(`There is no store ${at('none/agents.db')}.`);
    await (await openStore({ file: at('other.db') })).close();
    expect(await run(approvalsCommand, 'list', '--store', at('other.db'))).toBe('no approvals\n');
  } finally {
    delete process.env.WINNOW_STORE;
  }
});

it('commands that look into a store say how to name one', async () => {
  for (const [make, words] of [
    [sessionsCommand, ['list']],
    [approvalsCommand, ['list']],
    [telemetryCommand, []],
  ] as const)
    await expect(run(make, ...words)).rejects.toThrow('--store, WINNOW_STORE or store in the file');
});

it.each([
  ['winnow sessions list', sessionsCommand, ['list']],
  ['winnow sessions show', sessionsCommand, ['show', 'x']],
  ['winnow sessions end', sessionsCommand, ['end', 'x']],
  ['winnow approvals list', approvalsCommand, ['list']],
  ['winnow approvals grant', approvalsCommand, ['grant', 'x', '--by', 'bob']],
  ['winnow telemetry', telemetryCommand, []],
  ['winnow adaptation list', adaptationCommand, ['list']],
  ['winnow adaptation learn', adaptationCommand, ['learn']],
  ['winnow private-tools list', privateToolsCommand, ['list', '--user', 'ann']],
  ['winnow private-tools remove', privateToolsCommand, ['remove', 'x', '--user', 'ann']],
  ['winnow index export', indexCommand, ['export']],
])('%s makes no store where there is none, and says which and how to name another', async (_, make, words) => {
  const file = at('typo.db');
  const message = `There is no store ${file}. Name that of the server: --store, WINNOW_STORE or store in the file.`;
  await expect(run(make, ...words, '--store', file)).rejects.toMatchObject({ code: 'invalid_option', message });
  expect(existsSync(file)).toBe(false);
});

describe('winnow private-tools', () => {
  it('adds, lists and removes the tools of one user, which others never see', async () => {
    const words = ['--store', at('private.db'), '--catalog', at('tools.json')];
    await writeFile(at('zebra.json'), JSON.stringify({ name: 'zebra', toolType: 'skill', description: 'Draws.' }));
    const added = await run(privateToolsCommand, 'add', at('zebra.json'), ...words, '--user', 'ann');
    expect(added).toBe('my__zebra (skill, medium): Draws.\n');
    await writeFile(at('slip.json'), JSON.stringify({ name: 'gnu', toolType: 'skill', descripton: 'Grazes.' }));
    const slip = [at('slip.json'), ...words, '--user', 'nina'];
    const note = 'descripton: an unknown key, without effect; "description" may be meant';
    expect(await run(privateToolsCommand, 'add', ...slip)).toBe(`my__gnu (skill, medium)\nnote ${note}\n`);
    expect((await runJson(privateToolsCommand, 'add', ...slip)).notes).toEqual([note]);
    expect(await run(privateToolsCommand, 'list', ...words, '--user', 'ann')).toBe(added);
    expect(await run(privateToolsCommand, 'list', ...words, '--user', 'bob')).toBe('bob has no tools\n');
    await expect(run(privateToolsCommand, 'remove', 'zebra', ...words, '--user', 'bob')).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(await run(privateToolsCommand, 'remove', 'zebra', ...words, '--user', 'ann')).toBe('removed zebra\n');
    expect(await runJson(privateToolsCommand, 'list', ...words, '--user', 'ann')).toEqual([]);
    await expect(run(privateToolsCommand, 'add', at('none.json'), ...words, '--user', 'ann')).rejects.toThrow('read');
  });
});

describe('winnow rules', () => {
  it('lists those of the catalogue, puts one after them, says which tools are not there, and removes it', async () => {
    const own = { name: 'tidy', when: { intent: ['tidy', 'clean'], entities: ['path'] }, first: ['file_list'] };
    await writeFile(at('ruled.json'), JSON.stringify({ tools: TOOLS, rules: [own] }));
    const words = ['--store', at('rules.db'), '--catalog', at('ruled.json')];
    const ofCatalog = 'tidy (of the catalogue), when entities has path, intent is tidy or clean: first file_list\n';
    await expect(run(rulesCommand, 'list', ...words)).rejects.toThrow('There is no store');
    const rule = { name: 'old', when: { message: 'old' }, first: ['file_list', 'ghost'], last: ['file_delete'] };
    await writeFile(at('rule.json'), JSON.stringify(rule));
    const put = await run(rulesCommand, 'put', at('rule.json'), ...words, '--by', 'olga');
    expect(put).toBe(
      'old (kept), when message has old: first file_list, ghost; last file_delete\n' +
        '  no tool of the system is named ghost\n',
    );
    expect(await run(rulesCommand, 'list', ...words)).toBe(ofCatalog + put);
    expect(await runJson(rulesCommand, 'list', ...words)).toMatchObject({
      rules: [{ from: 'catalog' }, { ...rule, from: 'kept', unknownTools: ['ghost'] }],
      leftOut: [],
    });
    await expect(run(rulesCommand, 'remove', 'tidy', ...words)).rejects.toThrow('comes with the catalogue');
    expect(await run(rulesCommand, 'remove', 'old', ...words)).toBe('removed old\n');
    expect(await run(rulesCommand, 'list', '--store', at('rules.db'), '--catalog', at('tools.json'))).toBe(
      'no rules\n',
    );
    const store = await openStore({ file: at('rules.db') });
    expect(await store.journal.audit({ limit: 9 })).toMatchObject([
      { event: 'rule_removed' },
      { event: 'rule_put', user: 'olga' },
    ]);
    await store.close();
  });

  it('shows one that is left out, and refuses what is no rule', async () => {
    const words = ['--store', at('left-out.db'), '--catalog', at('tools.json')];
    const store = await openStore({ file: at('left-out.db') });
    await store.rules.put({ owner: 'operators', name: 'broken', content: { when: {} }, updatedAt: '' });
    await store.close();
    expect(await run(rulesCommand, 'list', ...words)).toMatch(/^broken \(kept, left out\): when: a rule needs/u);
    await expect(run(rulesCommand, 'put', at('none.json'), ...words)).rejects.toThrow("none.json can't be read");
    await expect(run(rulesCommand, 'put', at('tools.json'), ...words)).rejects.toMatchObject({
      code: 'invalid_request',
      issues: expect.arrayContaining([expect.stringContaining('rule: ')]),
    });
    await expect(run(rulesCommand, 'list', '--catalog', at('tools.json'))).rejects.toThrow('--store');
    expect(await run(rulesCommand, 'list', '--store', at('left-out.db'))).toMatch(/^Catalogue: the example /u);
  });
});

describe('winnow adaptation', () => {
  it('learns from the use in a store, and proposals are approved by somebody else', async () => {
    const store = ['--store', at('learn.db')];
    const plan = [...store, '--catalog', at('tools.json'), '--tools-module', at('tools.mjs'), '--user', 'ann'];
    await writeFile(at('list.json'), JSON.stringify({ steps: [{ id: 's1', tool: 'file_list', arguments: {} }] }));
    await writeFile(at('learn.yaml'), 'adaptation: { alwaysOnSessions: 2 }\n');
    for (let time = 0; time < 2; time++) await run(runCommand, at('list.json'), ...plan);
    const config = [...store, '--config', at('learn.yaml')];
    expect(await run(adaptationCommand, 'list', ...config)).toBe('nothing was learnt\n');
    expect(await run(adaptationCommand, 'learn', ...config)).toBe('1 entries are new or have changed\n');
    const [entry] = await runJson(adaptationCommand, 'list', ...config, '--state', 'proposed');
    expect(entry).toMatchObject({ level: 'person', subject: 'ann', kind: 'always_on', key: 'file_list' });
    const { id } = entry;
    await expect(run(adaptationCommand, 'approve', id, ...config, '--by', 'ann')).rejects.toThrow('somebody else');
    expect(await run(adaptationCommand, 'approve', id, ...config, '--by', 'bob')).toContain(`${id}  active\nFor the`);
    expect(await run(adaptationCommand, 'list', ...config)).toMatch(/person ann +always_on +file_list +active +2/u);
    expect(await run(adaptationCommand, 'show', id, ...config)).toContain('decided by bob');
    expect(await run(adaptationCommand, 'revert', id, ...config, '--by', 'bob')).toContain('reverted');
    expect(await run(adaptationCommand, 'remove', id, ...config, '--by', 'bob')).toBe(`removed ${id}\n`);
    await expect(run(adaptationCommand, 'show', id, ...config)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('winnow index', () => {
  it('writes the index of a catalogue, and keeps in a store only one that fits', async () => {
    const tools = ['--catalog', at('tools.json')];
    await run(indexCommand, 'export', ...tools, '--out', at('index.json'));
    expect(JSON.parse(await run(indexCommand, 'export', ...tools, '--level', 'meta'))).toMatchObject({ tools: 3 });
    const store = ['--store', at('index.db')];
    const taken = await run(indexCommand, 'import', at('index.json'), ...tools, ...store);
    expect([taken, exitCode]).toEqual([
      expect.stringMatching(/^taken: 3 tools, fingerprint [0-9a-f]{64};/u),
      undefined,
    ]);
    await writeFile(at('fewer.json'), JSON.stringify(TOOLS.slice(1)));
    const stale = await runJson(indexCommand, 'import', at('index.json'), '--catalog', at('fewer.json'), ...store);
    expect([stale.snapshot, exitCode]).toEqual(['stale', 2]);
    await expect(run(indexCommand, 'import', at('tools.json'), ...tools, ...store)).rejects.toThrow('snapshot');
  });

  it('has the weights that an operator gave a server on the store', async () => {
    const words = ['--catalog', at('tools.json'), '--store', at('weighed.db')];
    const store = await openStore({ file: at('weighed.db') });
    const weights = { name: 1, parameters: 0.5 };
    await store.snapshots.put({ owner: 'index', name: 'weights', content: weights, updatedAt: '' });
    await store.close();
    const exported = JSON.parse(await run(indexCommand, 'export', ...words, '--level', 'meta'));
    expect(exported.weights).toMatchObject(weights);
  });

  it('holds the private tools of the store, and is stale when another is there', async () => {
    const words = ['--catalog', at('tools.json'), '--store', at('own-index.db')];
    const add = async (name: string) => {
      await writeFile(at('own.json'), JSON.stringify({ name, toolType: 'skill', description: 'Draws.' }));
      await run(privateToolsCommand, 'add', at('own.json'), ...words, '--user', 'ann');
    };
    await add('zebra');
    await run(indexCommand, 'export', ...words, '--out', at('own-index.json'));
    expect(await runJson(indexCommand, 'import', at('own-index.json'), ...words)).toMatchObject({
      snapshot: 'taken',
      tools: 4,
    });
    await add('gnu');
    expect(await runJson(indexCommand, 'import', at('own-index.json'), ...words)).toMatchObject({ snapshot: 'stale' });
  });
});
