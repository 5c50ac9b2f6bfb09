/** The commands around agents, on one store: what one command leaves behind, the next one finds. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { approvalsCommand } from '../../src/cli/approvals-command.js';
import type { OutputOptions } from '../../src/cli/output.js';
import { policyCommand } from '../../src/cli/policy-command.js';
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
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
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

    expect(await run(approvalsCommand, 'list', ...store, '--state', 'pending')).toContain(
      `${approval}  pending\n  file_delete {"path":"old.txt"}\n  asked by ann: file_delete has high risk.`,
    );
    const own = await run(approvalsCommand, 'grant', approval, ...store, '--by', 'ann');
    expect([own, exitCode]).toEqual([expect.stringContaining('approval_own'), 2]);
    const granted = await run(approvalsCommand, 'grant', approval, ...store, '--by', 'bob', '--reason', 'it is old');
    expect([granted, exitCode]).toEqual([expect.stringContaining('granted by bob'), undefined]);

    const done = await runJson(runCommand, '--resume', id, ...plan);
    expect(done).toMatchObject({ state: 'done', steps: { s2: { output: 'deleted old.txt for ann' } } });
    const [session] = await runJson(sessionsCommand, 'list', ...store, ...tools, '--user', 'ann');
    expect(session).toMatchObject({ user: 'ann', turn: 1 });
    expect(await run(sessionsCommand, 'list', ...store, ...tools)).toMatch(/ann +\S+ +open +1 +2/u);
    expect(await run(sessionsCommand, 'show', session.id, ...store, ...tools)).toMatch(/file_delete +asked +3/u);
    expect(await run(sessionsCommand, 'end', session.id, ...store)).toBe(`ended ${session.id}\n`);
    const report = await run(telemetryCommand, ...store, '--by', 'tool');
    expect(report).toMatch(/file_delete +0 +0 +- +- +- +1 +0 % +1 +1 +0 %/u);
    expect((await runJson(telemetryCommand, ...store)).total).toMatchObject({ calls: 2, refused: 1 });
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

describe('winnow run', () => {
  it('shows the calls of a plan and runs none of them', async () => {
    const text = await run(runCommand, at('plan.json'), '--catalog', at('tools.json'), '--dry-run');
    expect(text).toMatch(/s2 +file_delete +planned +\{"path":"\$\{s1.path\}"\}/u);
    expect(exitCode).toBeUndefined();
  });

  it('runs functions in threads where they are not trusted', async () => {
    await writeFile(at('loop.json'), JSON.stringify({ steps: [{ id: 's1', tool: 'file_list', arguments: {} }] }));
    await writeFile(at('worker.mjs'), 'export function file_list() { for (;;); }');
    await writeFile(at('quick.yaml'), `sandbox: { timeoutMs: 100 }\ncatalog: [tools.json]\nworkerModule: worker.mjs\n`);
    const text = await run(runCommand, at('loop.json'), '--config', at('quick.yaml'), '--json');
    expect(JSON.parse(text)).toMatchObject({ state: 'failed', steps: { s1: { failure: { code: 'timeout' } } } });
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
  it('tells what has no effect, and what is decided and why', async () => {
    const words = ['check', at('policy.yaml'), '--catalog', at('tools.json')];
    const text = await run(policyCommand, ...words, '--user', 'nina', '--arguments', '{"path": "a"}');
    expect(text).toContain('note rules "slip": matches no tool');
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

  it.each([
    ['a policy that is none', () => [at('tools.json')], 'The policy is not usable'],
    ['a file that is not there', () => [at('none.yaml')], "can't be read"],
    ['arguments that are no JSON', () => [at('policy.yaml'), '--arguments', '{'], '--arguments: not JSON'],
    ['arguments that are no object', () => [at('policy.yaml'), '--arguments', '[]'], 'write a JSON object'],
  ])('refuses %s', async (_, words, message) => {
    await expect(run(policyCommand, 'check', ...words())).rejects.toThrow(message);
  });
});

it('a store may be named by the environment, which the flag wins over', async () => {
  process.env.WINNOW_STORE = at('none/agents.db');
  try {
    await expect(run(approvalsCommand, 'list')).rejects.toMatchObject({ code: 'store_failed' });
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
