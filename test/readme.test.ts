/** The README does not drift from the code. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { createPolicy } from '../src/agents/policy/policy.js';
import { resolveLimits } from '../src/agents/sandbox/limits.js';
import { authSettingsSchema } from '../src/cli/auth-setup.js';
import { loadConfigFile } from '../src/cli/config-file.js';
import { createProgram } from '../src/cli/program.js';

const readme = readFileSync('README.md', 'utf8');
const blocks = [...readme.matchAll(/^```(\w*)\n(.*?)^```$/gmsu)].map(([, language, text = '']) => ({ language, text }));
const yaml = blocks.filter(({ language }) => language === 'yaml').map(({ text }) => text);

const COMMANDS = createProgram().commands;
/** As it is typed, without what is answered. */
const typed = blocks.flatMap(({ text }) =>
  [...text.matchAll(/^(?:\$ |.*&& )?(?:npx )?winnow +([a-z].*)$/gmu)].map(([, words = '']) => words),
);

function unknownWords(words: string): string[] {
  const [name, ...rest] = words.replace(/#.*$/u, '').split(/\s+/u);
  const top = COMMANDS.find((one) => one.name() === name);
  const command = top?.commands.find((one: Command) => one.name() === rest[0]) ?? top;
  if (!command) return [`no command ${name}`];
  const flags = rest.filter((word) => word.startsWith('--'));
  return flags.filter((flag) => !command.options.some(({ long }) => long === flag)).map((flag) => `${words}: ${flag}`);
}

describe('the README', () => {
  it.each(['plan-a-request', 'route-a-session'])('shows the example %s that the type check compiles', (name) => {
    const example = readFileSync(`test/example/${name}.ts`, 'utf8').replace('../../src/index.js', 'winnow');
    expect(readme).toContain(example.trim());
  });

  it('links only to files that exist', () => {
    const links = [...readme.matchAll(/\]\(((?!https?:)[^)#]+)\)/gu)].map((match) => match[1] ?? '');
    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((link) => !existsSync(link))).toEqual([]);
  });

  it('names only npm scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    const named = [...readme.matchAll(/npm run ([\w:-]+)/gu)].map((match) => match[1] ?? '');
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  it('names only commands and flags that exist', () => {
    expect(typed.length).toBeGreaterThan(10);
    expect(typed.flatMap(unknownWords)).toEqual([]);
  });

  it('has a section behind each line of its contents', () => {
    const anchors = [...readme.matchAll(/^#+ (.+)$/gmu)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} -]/gu, '')
        .replaceAll(' ', '-'),
    );
    const named = [...readme.matchAll(/\]\(#([^)]+)\)/gu)].map(([, anchor = '']) => anchor);
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter((anchor) => !anchors.includes(anchor))).toEqual([]);
  });

  it('shows policies, limits and configuration that are taken', async () => {
    const policies = yaml.filter((text) => text.startsWith('rules:'));
    const limits = yaml.filter((text) => text.startsWith('sandbox:'));
    const configs = yaml.filter((text) => text.startsWith('catalog:'));
    const auth = yaml.filter((text) => text.startsWith('auth:'));
    for (const kind of [policies, limits, configs, auth]) expect(kind).not.toEqual([]);
    for (const text of policies) createPolicy(parse(text));
    const files = ['winnow.yaml', 'policy.yaml'].map((name) => `fixtures/agents/first-steps/${name}`);
    for (const file of files) expect(yaml).toContain(readFileSync(file, 'utf8'));
    for (const text of auth) authSettingsSchema.parse(parse(text).auth);
    for (const text of limits) resolveLimits(parse(text).sandbox);
    const folder = await mkdtemp(join(tmpdir(), 'winnow-readme-'));
    for (const [place, text] of configs.entries()) {
      await writeFile(join(folder, `${place}.yaml`), text);
      expect(Object.keys(await loadConfigFile(join(folder, `${place}.yaml`))).length).toBeGreaterThan(2);
    }
    await rm(folder, { recursive: true });
  });
});
