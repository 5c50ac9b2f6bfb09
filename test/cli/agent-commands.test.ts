/** The commands around agents, on one store: what one command leaves behind, the next one finds. */

import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../src/agents/store/open-store.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { runHere } from './run-here.js';

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
  folder = temporaryFolder();
  await writeFile(at('tools.json'), JSON.stringify(TOOLS));
  await writeFile(at('tools.mjs'), MODULE);
  await writeFile(at('empty.mjs'), 'export const answer = 42;');
  await writeFile(at('plan.json'), JSON.stringify(PLAN));
  await writeFile(at('policy.yaml'), POLICY);
  await writeFile(at('empty.yaml'), '{}');
});

let exitCode: number;

/** What the command printed on both streams; its exit code is in `exitCode`. */
async function run(...words: string[]): Promise<string> {
  const { text, error, exitCode: code } = await runHere(words);
  exitCode = code;
  if (error !== undefined) throw error;
  return text;
}

async function runJson(...words: string[]) {
  const { stdout, error, exitCode: code } = await runHere([...words, '--json']);
  exitCode = code;
  if (error !== undefined) throw error;
  return JSON.parse(stdout);
}

const tools = () => ['--catalog', at('tools.json'), '--set', `toolsModule=${at('tools.mjs')}`];

/** A run of the plan by Ann in a store of its own, which waits for an approval, and what to name it with. */
async function paused(name: string, ...more: string[]) {
  const store = ['--store', at(`${name}.db`)];
  const { id, steps } = await runJson('run', at('plan.json'), ...store, ...tools(), '--user', 'ann', ...more);
  const resume = ['run', '--resume', id, ...store, ...tools()];
  const waiting = Object.values<{ approval?: string }>(steps).find((step) => step.approval !== undefined);
  const decide = (verb: string, ...words: string[]) =>
    run('approvals', verb, waiting?.approval ?? '', ...store, ...words);
  return { approval: waiting?.approval ?? '', store, resume, decide };
}

describe('a plan that needs an approval', () => {
  it('pauses, is granted by somebody else, goes on, and all of it can be looked at', async () => {
    const store = ['--store', at('life.db')];
    const module = ['--set', `toolsModule=${at('tools.mjs')}`];
    const plan = [...store, ...tools()];
    const text = await run('run', at('plan.json'), ...plan, '--user', 'ann');
    expect(text).toMatch(/s1 +file_list +done +\{"path":"old.txt"\}/u);
    const [, approval = ''] = /\(approval ([\w-]+)\)/u.exec(text) ?? [];
    const [, id = ''] = /run ([\w-]+): paused/u.exec(text) ?? [];
    expect([approval.length, id.length, exitCode]).toEqual([36, 36, 5]);
    const [grant, goOn] = [
      `grant ${approval} --by NAME ${[...store, ...module].join(' ')}`,
      `--resume ${id} ${plan.join(' ')} --user ann`,
    ];
    expect(text).toContain(`\nNext:\n  winnow approvals ${grant}\n  winnow run ${goOn}\n`);

    expect(await run('approvals', 'list', ...store, '--state', 'pending')).toContain(
      `${approval}  pending\n  file_delete {"path":"old.txt"}\n  runs: a function of this server (${at('tools.json')}), high risk\n  asked by ann\n  reason: file_delete has high risk.`,
    );
    const own = await run('approvals', 'grant', approval, ...store, '--by', 'ann');
    expect([own, exitCode]).toEqual([expect.stringContaining('approval_own'), 2]);
    const granted = await run('approvals', 'grant', approval, ...store, '--by', 'bob', '--reason', 'it is old');
    expect([granted, exitCode]).toEqual([expect.stringContaining('granted by bob\n'), 0]);
    expect(granted).toContain('  asked by ann\n  reason: it is old\n');

    const others = run('run', '--resume', id, ...plan, '--user', 'bob');
    await expect(others).rejects.toMatchObject({ code: 'not_found' });
    const done = await runJson('run', '--resume', id, ...plan, '--user', 'ann');
    expect(done).toMatchObject({ state: 'done', steps: { s2: { output: 'deleted old.txt for ann' } } });
    expect(await run('approvals', 'list', ...store)).toContain(`${approval}  used, granted by bob\n`);
    expect(await run('approvals', 'list', ...store, '--user', 'ann')).toContain(approval);
    expect(await run('approvals', 'list', ...store, '--user', 'bob')).toBe('no approvals\n');
    const help = (await runHere(['approvals', 'list', '--help'])).stdout.replace(/\s+/gu, ' ');
    expect(help).toContain('--user <name> only those of calls that this user asked for');
    const audit = await run('audit', ...store, '--user', 'ann', '--tool', 'file_delete');
    expect(audit).toMatch(/^at +event +outcome +user +tool +reason\n/u);
    expect(audit).toMatch(/Z +call +allowed +ann +file_delete/u);
    expect(audit).toMatch(/Z +approval_requested +\w+ +ann +file_delete +file_delete has high risk/u);
    expect(await runJson('audit', ...store, '--limit', '1')).toHaveLength(1);
    expect(await run('audit', ...store, '--user', 'nobody')).toBe('no entries\n');
  });

  it('is found by a time that is written to the second or the minute', async () => {
    const store = ['--store', at('life.db')];
    const [last] = await runJson('audit', ...store, '--limit', '1');
    for (const end of ['second', 'minute']) {
      const moment = `${last.at.slice(0, end === 'second' ? 19 : 16)}Z`;
      expect(await runJson('audit', ...store, '--since', moment)).toContainEqual(last);
    }
  });

  it('shows where its arguments come from, in the run and to whoever approves', async () => {
    const store = ['--store', at('told.db')];
    const [list, remove] = PLAN.steps;
    const given = { path: '${s1.path}', key: 's3cret', note: 'left\u202eright' };
    const told = { ...remove, arguments: given, from: { path: 'step', key: 'unknown' } };
    await writeFile(at('told.json'), JSON.stringify({ ...PLAN, steps: [list, told] }));
    const text = await run('run', at('told.json'), ...store, ...tools(), '--user', 'ann');
    const [key = ''] = /key: "\[secret: 6 characters, [0-9a-f]{16}\]" {2}! unknown/u.exec(text) ?? [];
    const lines = [key, 'note: "left\\u{202e}right"  person', 'path: "old.txt"  step ${s1.path}'];
    expect(text).toContain(['file_delete waits for an approval with', ...lines].join('\n  '));
    expect(text).not.toContain('s3cret');
    const listed = await run('approvals', 'list', ...store);
    const runs = `runs: a function of this server (${at('tools.json')}), high risk`;
    expect(listed).toContain(['  file_delete', ...lines.map((line) => `  ${line}`), runs].join('\n  '));
    expect(listed).toContain('\n  asked by ann\n  reason: file_delete has high risk.');
  });

  it('is refused', async () => {
    const { decide, resume } = await paused('refused');
    await decide('refuse', '--by', 'bob', '--reason', 'we need it');
    const text = await run(...resume);
    expect(text).toContain('It was refused: we need it');
    expect([text, exitCode]).toEqual([expect.stringMatching(/: failed\n$/u), 5]);
  });
});

describe('winnow approvals', () => {
  it('shows the reason of the gate as that of the question where the one who decided gave none', async () => {
    const { approval, store, decide, resume } = await paused('silent');
    const text = await decide('grant', '--by', 'bob');
    expect(text).toContain(`${approval}  granted by bob\n`);
    expect(text).toContain('  asked by ann\n  reason: file_delete has high risk.\n');
    expect(await run('approvals', 'list', ...store)).toBe(text);
    expect(await run(...resume)).not.toContain('Next');
  });

  it('takes the decision of the asker where the policy lets their own person decide', async () => {
    await writeFile(at('self.yaml'), 'approvals: { self: ask }\n');
    const policy = ['--set', `policy=${at('self.yaml')}`];
    const { approval, decide } = await paused('self', ...policy);
    expect(await decide('grant', ...policy, '--by', 'ann')).toContain(`${approval}  granted by ann\n`);
  });

  it('says which flag is missing where the policy of the server was not named', async () => {
    const rules = 'rules: [{ name: ask, match: { tool: file_list }, decision: needs_approval }]\n';
    await writeFile(at('strict.yaml'), rules);
    const policy = ['--set', `policy=${at('strict.yaml')}`];
    const { decide } = await paused('policy', ...policy);
    const text = await decide('grant', '--by', 'bob');
    expect(text).toContain('The policy has changed since it was asked for.');
    expect(text).toContain('--set policy=FILE');
    expect(await decide('grant', '--by', 'bob', ...policy)).toContain('granted by bob');
  });

  it('grants with other arguments, which whoever looks at it sees, and the run goes on with these', async () => {
    const { store, decide, resume } = await paused('edited');
    const grant = (given: string) =>
      decide('grant', '--by', 'bob', '--catalog', at('tools.json'), '--arguments', given);
    await expect(grant('[]')).rejects.toThrow('--arguments: ');
    expect(await grant('{}')).toMatch(/^invalid_arguments: .*path/u);
    expect(exitCode).toBe(2);
    const granted = await grant('{"path": "new.txt"}');
    expect(granted).toContain(
      '  file_delete {"path":"old.txt"}\n  bob granted other arguments than asked for\n    path: "old.txt" -> "new.txt"\n',
    );
    expect(await run('approvals', 'list', ...store)).toBe(granted);
    const done = await runJson(...resume, '--user', 'ann');
    expect(done).toMatchObject({ state: 'done', steps: { s2: { output: 'deleted new.txt for ann' } } });
  });
});

describe('winnow run', () => {
  it('shows the calls of a plan and runs none of them', async () => {
    const text = await run('run', at('plan.json'), '--catalog', at('tools.json'), '--dry-run');
    expect(text).toMatch(/s2 +file_delete +planned +\{"path":"\$\{s1.path\}"\}/u);
    expect(exitCode).toBe(0);
  });

  it('leaves no trace of a dry run in the figures, and none of its calls in the audit', async () => {
    const words = ['--store', at('dry.db'), '--catalog', at('tools.json'), '--set', `policy=${at('policy.yaml')}`];
    const text = await run('run', at('plan.json'), ...words, '--dry-run', '--user', 'nina');
    expect(text).toMatch(/^not enabled: file_list \(unknown_tool\): There is no tool "file_list"/u);
    expect(text).toMatch(/s2 +file_delete +planned/u);
    expect(exitCode).toBe(5);
    const store = await openStore({ file: at('dry.db') });
    const events = (await store.journal.audit({ limit: 100 })).map(({ event }) => event);
    const kept = await store.journal.telemetry({ limit: 100 });
    await store.close();
    expect([events, kept]).toEqual([['session_ended', 'session_created'], []]);
  });

  it('asks for a user where nobody could approve, and for a store where nothing would be kept', async () => {
    const words = [at('plan.json'), ...tools()];
    expect(await run('run', ...words)).toContain('\nNext: give --user, ');
    expect(await run('run', ...words, '--user', 'ann')).toContain('\nNext: run it with --store, ');
  });

  it('shows the whole failure of a step, with what to do at its end', async () => {
    await writeFile(at('one.json'), JSON.stringify({ steps: [{ id: 's1', tool: 'file_list', arguments: {} }] }));
    await writeFile(at('fails.mjs'), `export function file_list() { throw new Error('${'x'.repeat(300)} do that'); }`);
    const text = await run(
      'run',
      at('one.json'),
      '--catalog',
      at('tools.json'),
      '--set',
      `toolsModule=${at('fails.mjs')}`,
    );
    expect(text).toMatch(/s1 +file_list +failed +.*x do that/u);
  });

  it('runs functions in threads where they are not trusted', async () => {
    await writeFile(at('loop.json'), JSON.stringify({ steps: [{ id: 's1', tool: 'file_list', arguments: {} }] }));
    await writeFile(at('worker.mjs'), 'export function file_list() { for (;;); }');
    await writeFile(at('quick.yaml'), `sandbox: { timeoutMs: 100 }\ncatalog: [tools.json]\nworkerModule: worker.mjs\n`);
    const text = await run('run', at('loop.json'), '--config', at('quick.yaml'), '--json');
    expect(JSON.parse(text)).toMatchObject({ state: 'failed', steps: { s1: { failure: { code: 'timeout' } } } });
  });

  it('runs the worked example with results that are as their catalogue says', async () => {
    const config = { catalog: [resolve('fixtures/catalogs/coding-agent.json')], sandbox: { outputCheck: 'refuse' } };
    await writeFile(at('refuse.yaml'), JSON.stringify(config));
    const folder = 'fixtures/agents/first-steps';
    const words = [`${folder}/plan.json`, '--set', `toolsModule=${folder}/tools.mjs`];
    const paused = await runJson('run', ...words, '--config', at('refuse.yaml'), '--user', 'ann');
    expect(paused.steps.s1).toMatchObject({ status: 'done', output: { content: 'hello', total_lines: 1 } });
    expect(paused.steps.s1.notes ?? []).toEqual([]);
    expect(paused.steps.s2).toMatchObject({ status: 'needs_approval' });
  });

  it('shows what a step returned, nothing too, and what waits for an approval, whoever wrote the plan', async () => {
    await writeFile(at('nothing.mjs'), 'export const file_list = () => null;');
    const one = { ...PLAN, steps: [{ id: 's1', tool: 'file_list', arguments: { note: 'seen' } }] };
    await writeFile(at('nothing.json'), JSON.stringify(one));
    const given = ['--catalog', at('tools.json'), '--user', 'ann'];
    const done = await run('run', at('nothing.json'), '--set', `toolsModule=${at('nothing.mjs')}`, ...given);
    expect(done).toMatch(/^s1 +file_list +done +null$/mu);
    await writeFile(at('functions.mjs'), MODULE);
    const paused = await run('run', at('plan.json'), '--set', `toolsModule=${at('functions.mjs')}`, ...given);
    expect(paused).toMatch(/^file_delete waits for an approval with\n {2}path: "old\.txt"/mu);
  });

  it('says that the tools are those of the example where no catalogue is named', async () => {
    const text = await run('run', at('plan.json'), '--dry-run');
    expect(text).toMatch(/^Catalogue: the example "hydrology" that comes with Winnow; yours with --catalog\.\n/u);
    expect(await run('run', at('plan.json'), '--dry-run', '--catalog', at('tools.json'))).not.toContain('example');
  });

  it.each([
    ['neither a plan nor a run', () => [], 'Name a file with a plan'],
    ['a plan that is not there', () => [at('none.json')], "none.json can't be read"],
    ['what is no plan', () => [at('tools.json')], "tools.json can't be run: plan"],
    ['a run of no store', () => ['--resume', 'x', '--catalog', at('tools.json')], 'name the --store'],
    ['a trial of a run that goes on', () => ['--resume', 'x', '--dry-run'], '--dry-run goes without --resume'],
    ['secrets of a run that begins', () => [at('plan.json'), '--secrets', 's.json'], '--secrets goes with --resume'],
    [
      'a module without functions',
      () => [at('plan.json'), '--set', `toolsModule=${at('empty.mjs')}`],
      'exports no function',
    ],
    [
      'a module that is not there',
      () => [at('plan.json'), '--set', `toolsModule=${at('none.mjs')}`],
      "can't be loaded",
    ],
  ])('refuses %s', async (_, words, message) => {
    await expect(run('run', ...words())).rejects.toThrow(message);
  });
});

describe('winnow policy check', () => {
  const strange = () => [at('policy.yaml'), '--catalog', at('tools.json')];

  it('tells what has no effect, and what is decided and why', async () => {
    const words = ['check', at('policy.yaml'), '--catalog', at('tools.json')];
    const text = await run('policy', ...words, '--user', 'nina', '--arguments', '{"path": "a"}');
    expect(text).toContain('problem rules "slip": matches no tool');
    expect(text).toMatch(/file_list +deny +low +denied +The rule "no lists at night" denies it/u);
    expect(text).toMatch(/file_delete +needs_approval +high/u);
    expect(text).toMatch(/no_function +allow +low/u);
    expect(exitCode).toBe(0);
    const { decisions } = await runJson('policy', ...words, '--tool', 'file_list', '--user', 'ann');
    expect(decisions).toEqual([expect.objectContaining({ tool: 'file_list', decision: 'allow' })]);
    const ceiling = await runJson('policy', ...words, '--tool', 'file_delete', '--risk-ceiling', 'low');
    expect(ceiling.decisions).toMatchObject([{ decision: 'deny', code: 'too_risky' }]);
    await run('policy', ...words, '--set', 'strict=true');
    expect(exitCode).toBe(2);
  });

  it('takes policy and catalogue from the configuration of the server, which its own words win over', async () => {
    await writeFile(at('server.yaml'), 'policy: policy.yaml\ncatalog: [tools.json]\n');
    const config = ['check', '--config', at('server.yaml')];
    const { notes, decisions } = await runJson('policy', ...config);
    expect(notes).toMatchObject([{ message: 'rules "slip": matches no tool' }]);
    expect(decisions).toHaveLength(TOOLS.length);
    expect((await runJson('policy', ...config, at('empty.yaml'))).notes).toEqual([]);
    await expect(run('policy', 'check')).rejects.toThrow('Name the policy: a file, or a --config');
  });

  it('tells limits of the configuration for a tool that is not there, as a problem', async () => {
    const limits = 'sandbox: { tools: { file_delte: { timeoutMs: 10 }, file_list: { timeoutMs: 10 } } }';
    await writeFile(at('limits.yaml'), `policy: empty.yaml\ncatalog: [tools.json]\n${limits}\n`);
    const words = ['check', '--config', at('limits.yaml')];
    const { notes } = await runJson('policy', ...words);
    const message = 'sandbox.tools: there is no tool "file_delte"; near: file_delete, file_list';
    expect([notes, exitCode]).toEqual([[{ level: 'problem', message }], 0]);
    expect(await run('policy', ...words, '--set', 'strict=true')).toContain(`problem ${message}\n`);
    expect(exitCode).toBe(2);
    await writeFile(at('limits.yaml'), 'policy: empty.yaml\nsandbox: { timeoutMs: soon }\n');
    await expect(run('policy', ...words)).rejects.toThrow('sandbox.timeoutMs');
  });

  it('says that it checks against the example where no catalogue is named', async () => {
    const text = await run('policy', 'check', at('empty.yaml'));
    expect(text).toMatch(/^Catalogue: the example "hydrology" that comes with Winnow; yours with --catalog\.\n/u);
    const named = await run('policy', 'check', at('empty.yaml'), '--catalog', at('tools.json'));
    expect(named).not.toContain('example');
  });

  it('takes prose for no mistake under strict', async () => {
    const prose = { ...TOOLS[0], name: 'push', preconditions: ['the branch has been reviewed'] };
    await writeFile(at('prose.json'), JSON.stringify([prose]));
    const text = await run('policy', 'check', at('empty.yaml'), '--catalog', at('prose.json'), '--set', 'strict=true');
    expect(text).toContain('unchecked tool push: "the branch has been reviewed" is for people only');
    expect(exitCode).toBe(0);
  });

  it('passes strict on the catalogue that comes with the package', async () => {
    const words = ['--catalog', 'fixtures/catalogs/coding-agent.json', '--set', 'strict=true'];
    const { notes } = await runJson('policy', 'check', at('empty.yaml'), ...words);
    expect([notes.length > 0, exitCode]).toEqual([true, 0]);
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
    await expect(run('policy', 'check', ...words())).rejects.toThrow(message);
  });
});

describe('sources of tools that are not usable', () => {
  const none = () => at('none.json');

  beforeAll(async () => {
    await writeFile(at('slips.json'), JSON.stringify([...TOOLS, { description: 'of none' }]));
    await writeFile(at('strict.yaml'), 'strict: true\npolicy: empty.yaml\n');
  });

  it('are told by winnow policy check, and refused where the configuration is strict', async () => {
    const given = ['policy', 'check', at('empty.yaml')];
    const usable = ['--catalog', at('slips.json')];
    expect(await run(...given, ...usable, '--catalog', none())).toMatch(
      /^The source \S+none\.json can't be found.*\n1 warning: see winnow tools check, with the same sources\n/u,
    );
    const strict = [...given, '--config', at('strict.yaml')];
    await expect(run(...strict, ...usable)).rejects.toMatchObject({ code: 'invalid_catalog' });
    const missing = run(...strict, '--catalog', at('tools.json'), '--catalog', none());
    await expect(missing).rejects.toMatchObject({ code: 'source_failed' });
  });

  it('are refused by winnow policy check under strict where a pattern is none of RE2', async () => {
    const rules = [{ name: 'ahead', match: { arguments: { path: { pattern: '^(?!/tmp)' } } }, decision: 'deny' }];
    await writeFile(at('ahead.yaml'), JSON.stringify({ rules }));
    const words = ['check', at('ahead.yaml'), '--catalog', at('tools.json')];
    await expect(run('policy', ...words)).rejects.toThrow('neither look-around nor back-references');
    await writeFile(at('none.yaml'), '{}');
    const fine = ['check', at('none.yaml'), '--catalog', none(), '--set', 'strict=true'];
    await expect(run('policy', ...fine)).rejects.toThrow("can't be found");
  });
});

it('a store may be named by the environment, which the flag wins over', async () => {
  process.env.WINNOW_STORE = at('none/agents.db');
  try {
    await expect(run('approvals', 'list')).rejects.toThrow(`There is no store ${at('none/agents.db')}.`);
    await (await openStore({ file: at('other.db') })).close();
    expect(await run('approvals', 'list', '--store', at('other.db'))).toBe('no approvals\n');
  } finally {
    delete process.env.WINNOW_STORE;
  }
});

it.each(['approvals list', 'approvals grant x --by bob', 'audit'])(
  'winnow %s makes no store where there is none, and says how to name one',
  async (line) => {
    const words = line.split(' ');
    await expect(run(...words)).rejects.toThrow('--store, WINNOW_STORE or store in the file');
    const file = at('typo.db');
    const message = `There is no store ${file}. Name the store of the server: --store, WINNOW_STORE or store in the file.`;
    await expect(run(...words, '--store', file)).rejects.toMatchObject({ code: 'invalid_option', message });
    expect(existsSync(file)).toBe(false);
    await writeFile(at('empty.db'), '');
    await expect(run(...words, '--store', at('empty.db'))).rejects.toThrow('There is no store');
  },
);
