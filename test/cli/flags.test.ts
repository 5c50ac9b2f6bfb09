/** Flags, help and completion of all commands. */
import { execFileSync } from 'node:child_process';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { command, type FlagsOf } from '../../src/cli/command.js';
import { flagsAgain } from '../../src/cli/commands/run.js';
import { assign, duration, instant, PLANNING } from '../../src/cli/flags.js';
import { createProgram } from '../../src/cli/program.js';
import { LEAST_CASES } from '../../src/eval/tune/split-cases.js';
import { runHere, textOf } from './run-here.js';

describe('a time at the command line', () => {
  it.each([
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['1.5h', 5_400_000],
  ])('written as "%s" is %s milliseconds', (text, expected) => {
    expect(duration(text)).toBe(expected);
  });

  it.each(['30', '0m', '-1m', 'soon'])('can not be "%s"', (text) => {
    expect(() => duration(text)).toThrow('write it in seconds, minutes or hours: 90s, 30m or 2h.');
  });
});

describe('an instant at the command line', () => {
  it('may be a day, and else says how to write it', () => {
    expect(instant('2026-11-01')).toBe('2026-11-01T00:00:00.000Z');
    expect(instant('2026-11-01T06:30Z')).toBe('2026-11-01T06:30:00.000Z');
    for (const text of ['yesterday', '', '2026-13-01', '2026-02-30', '2026-11-01T06'])
      expect(() => instant(text)).toThrow('write it as');
  });
});

describe('flags as they are typed again', () => {
  it('are those that were given, in the order wanted, each value once', () => {
    const flags = { user: 'ann', catalog: ['a.json', 'https://example.org/api.yaml'], config: 'winnow.yaml' };
    expect(flagsAgain(flags, ['config', 'store', 'catalog', 'user'])).toBe(
      ' --config winnow.yaml --catalog a.json --catalog https://example.org/api.yaml --user ann',
    );
    expect(flagsAgain({}, ['config', 'store'])).toBe('');
  });

  it('are quoted for a shell', () => {
    expect(flagsAgain({ config: "Ann's tools/$HOME.yaml" }, ['config'])).toBe(
      String.raw` --config 'Ann'\''s tools/$HOME.yaml'`,
    );
  });

  it('hold no password', () => {
    expect(flagsAgain({ store: 'postgres://winnow:secret@db/winnow', user: 'ann' }, ['store', 'user'])).toBe(
      ' --user ann',
    );
    expect(flagsAgain({ store: 'postgres://db/winnow' }, ['store'])).toBe(' --store postgres://db/winnow');
  });
});

describe('assign', () => {
  it.each([
    ['answer=list', { answer: 'list' }],
    ['fillTokens=0', { fillTokens: 0 }],
    ['defaults=on', { defaults: true }],
    ['defaults=off', { defaults: false }],
    ['defaults=true', { defaults: true }],
    ['defaults=false', { defaults: false }],
    ['maxTools=12', { maxTools: 12 }],
    ['clarifyBelow=0.65', { clarifyBelow: 0.65 }],
    ['maxTools=-1', { maxTools: -1 }],
    ['repair=a=b.md', { repair: 'a=b.md' }],
    [' answer = rank ', { answer: 'rank' }],
    ['maxTools=8, defaults=off', { maxTools: 8, defaults: false }],
    ['answer=a,b', { answer: 'a,b' }],
    ['empty=', { empty: '' }],
    ['word=1e3', { word: '1e3' }],
    ['catalog=["a.json", "b=c.json"]', { catalog: ['a.json', 'b=c.json'] }],
    ['secrets={"https://a.test": {"key": "KEY"}}', { secrets: { 'https://a.test': { key: 'KEY' } } }],
    ['catalog=[a.json]', { catalog: '[a.json]' }],
  ])('reads %s', (text, value) => {
    expect(assign(text, undefined)).toEqual(value);
  });

  it('adds to what was given before, and the last word counts', () => {
    expect(assign('b=2', assign('a=1', { b: 1 }))).toEqual({ a: 1, b: 2 });
  });

  it.each(['answer', '=list', ''])('refuses "%s"', (text) => {
    expect(() => assign(text, undefined)).toThrow('write it as name=value.');
  });
});

describe('the flags', () => {
  async function parse(...words: string[]) {
    const given: FlagsOf<typeof PLANNING>[] = [];
    const run = async (_: string[], flags: FlagsOf<typeof PLANNING>) => void given.push(flags);
    const made = command({ name: 'x', about: '', flags: PLANNING, examples: [], run });
    await made.parseAsync(words, { from: 'user' });
    return given[0];
  }

  it('may be repeated where they name several things', async () => {
    const words = [
      '--catalog',
      'a',
      '--catalog',
      'b',
      '--set',
      'x=1',
      '--set',
      'y=off',
      '--set',
      'prompts.repair=r.md',
    ];
    expect(await parse(...words)).toEqual({
      catalog: ['a', 'b'],
      set: { x: 1, y: false, 'prompts.repair': 'r.md' },
    });
  });

  it('leave out what is not said, so that the environment and the file can say it', async () => {
    expect(await parse()).toEqual({});
  });
});

const leaves = (one: Command, path = ''): [string, Command][] =>
  one.commands.length > 0 && one.name() !== 'eval'
    ? one.commands.flatMap((below) => leaves(below, `${path} ${below.name()}`.trim()))
    : [[path, one], ...one.commands.flatMap((below) => leaves(below, `${path} ${below.name()}`))];
const COMMANDS = leaves(createProgram());

describe('every command', () => {
  it('is one of 25 at most, with 40 flags at most in all', () => {
    const flags = new Set(COMMANDS.flatMap(([, { options }]) => options.map(({ long }) => long)));
    expect(COMMANDS.length).toBeLessThanOrEqual(25);
    expect(flags.size).toBeLessThanOrEqual(40);
  });

  it.each(COMMANDS)('winnow %s has an example in its help that it can read', async (path, { options }) => {
    const { stdout } = await runHere([...path.split(' '), '--help']);
    expect(stdout).toMatch(new RegExp(`^Usage: winnow ${path}(?:\\|\\w+)? `, 'u'));
    const [, lines = ''] = /\nExamples?:\n((?: {2}.*\n)+)/u.exec(stdout) ?? [];
    const examples = lines.split('\n').filter((line) => line.includes(`winnow ${path}`));
    expect([path, examples.length > 0]).toEqual([path, true]);
    const typed = examples.flatMap((line) => line.match(/(?<=\s)--?[a-z][a-z-]*/gu) ?? []);
    const known = options.flatMap(({ long, short }) => [long, short]);
    expect(typed.filter((flag) => !known.includes(flag))).toEqual([]);
  });

  it.each(
    createProgram()
      .commands.filter(({ commands }) => commands.length > 0)
      .map((one) => [one.name()]),
  )('winnow %s shows an example beside the commands below it', async (name) =>
    expect((await runHere([name, '--help'])).stdout).toMatch(/\nExamples?:\n {2}winnow /u),
  );

  it('winnow tune says how many cases it needs, and the units of its budget', async () => {
    const help = (await runHere(['tune', '--help'])).stdout.replace(/\s+/gu, ' ');
    expect(help).toContain(`at least ${LEAST_CASES} cases`);
    expect(help).toContain('--budget <time> time for all, in seconds, minutes or hours: 90s, 30m or 2h (default: 30m)');
  });

  it.each(COMMANDS.filter(([, { options }]) => options.some(({ long }) => long === '--config')))(
    'winnow %s has its configuration by -c',
    (_, { options }) => expect(options.find(({ long }) => long === '--config')?.short).toBe('-c'),
  );
});

describe('winnow completion', () => {
  /** What a real bash completes behind the words. */
  async function complete(...words: string[]): Promise<string[]> {
    const script = await textOf(['completion', 'bash']);
    const typed = ['winnow', ...words].map((word) => `'${word}'`).join(' ');
    const ask = `COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _winnow; echo "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', `${script}\n${ask}`], { encoding: 'utf8' })
      .trim()
      .split(' ');
  }

  it.each<[string[], string[]]>([
    [['app'], ['approvals']],
    [
      ['tools', ''],
      ['list', 'check', 'accept', '--help'],
    ],
    [['approvals', 'grant', '--f'], ['--for-session']],
    [['approvals', '--config', 'winnow.yaml', 'grant', '--fo'], ['--for-session']],
    [
      ['mcp', '--risk-ceiling', ''],
      ['low', 'medium', 'high'],
    ],
    [['completion', 'z'], ['zsh']],
    [['eval', 'comp'], ['compare']],
  ])('completes %j in bash', async (words, completed) => {
    expect(await complete(...words)).toEqual(completed);
  });

  it('has for zsh and fish each command with its flags', async () => {
    expect(await textOf(['completion', 'zsh'])).toMatch(/^#compdef winnow\n/u);
    const fish = await textOf(['completion', 'fish']);
    expect(fish).toContain("complete -c winnow -n '__fish_use_subcommand' -f -a tools -d 'list and check");
    expect(fish).toMatch(/__fish_seen_subcommand_from tools; and __fish_seen_subcommand_from list' -l catalog -r -d/u);
    for (const [path, { options }] of COMMANDS)
      for (const { long } of options)
        expect([path, fish]).toEqual([path, expect.stringContaining(` -l ${long?.slice(2)} `)]);
  });

  it('knows three shells', async () => {
    const { stderr, exitCode } = await runHere(['completion', 'tcsh']);
    expect([stderr, exitCode]).toEqual([expect.stringContaining('Allowed choices are bash, zsh, fish'), 2]);
  });
});
