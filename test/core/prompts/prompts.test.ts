import { readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { loadConfigFile } from '../../../src/cli/config-file.js';
import { defaultPromptPath, loadPrompt } from '../../../src/core/prompts/prompt-template.js';
import {
  loadNamedPrompt,
  loadPrompts,
  PROMPTS,
  type PromptName,
  REPLACEABLE_NAMES,
} from '../../../src/core/prompts/prompts.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-prompts-'));
  path = join(folder, 'p.md');
});
afterEach(() => rm(folder, { recursive: true }));

async function load(text: string) {
  await writeFile(path, text);
  return loadPrompt({ name: 'p', system: ['list'], user: ['message'], path });
}
const GOOD = '<!-- system -->\nTools: {{list}}\n<!-- user -->\nSaid: {{message}}\n';

describe('a prompt file', () => {
  it('is filled, part by part', async () => {
    const prompt = await load(GOOD);
    expect(prompt.render({ list: 'a, b', message: 'hi' })).toEqual({ system: 'Tools: a, b', user: 'Said: hi' });
  });

  it('has as its lead what the user part begins with, as far as that is stable', async () => {
    const leadOf = async (user: string) => {
      await writeFile(path, `<!-- system -->\nChoose.\n<!-- user -->\n${user}\n`);
      const prompt = loadPrompt({ name: 'p', system: [], user: ['list', 'message'], lead: ['list'], path });
      const { user: text, lead } = prompt.render({ list: 'a, b', message: 'hi' });
      expect(text.startsWith(lead ?? 'none')).toBe(true);
      return lead;
    };
    expect(await leadOf('Tools: {{list}}\nSaid: {{message}}')).toBe('Tools: a, b\nSaid: ');
    expect(await leadOf('{{message}}, with {{list}}')).toBe('');
  });

  it('never fills what a value holds', async () => {
    const prompt = await load(GOOD);
    const attack = "{{list}} $& $1 $' {{message}}";
    expect(prompt.render({ list: 'SECRET', message: attack }).user).toBe(`Said: ${attack}`);
    expect(prompt.render({ list: '{{message}}', message: 'hi' }).system).toBe('Tools: {{message}}');
  });

  it('may have the line ends of Windows', async () => {
    const prompt = await load(GOOD.replaceAll('\n', '\r\n'));
    expect(prompt.render({ list: 'a', message: 'b' })).toEqual({ system: 'Tools: a', user: 'Said: b' });
  });

  it('may name a placeholder twice', async () => {
    const prompt = await load(GOOD.replace('{{list}}', '{{list}} {{list}}'));
    expect(prompt.render({ list: 'a', message: 'b' }).system).toBe('Tools: a a');
  });

  it('has a hash that changes with its text', async () => {
    const { hash } = await load(GOOD);
    expect(hash).toMatch(/^[0-9a-f]{12}$/);
    expect((await load(GOOD)).hash).toBe(hash);
    expect((await load(`${GOOD}!`)).hash).not.toBe(hash);
  });

  it.each([
    ['a missing placeholder', GOOD.replace('{{list}}', ''), '{{list}} is missing'],
    ['an unknown one', GOOD.replace('{{list}}', '{{list}} {{lst}}'), '{{lst}} is unknown'],
    ['one in the wrong part', GOOD.replace('{{list}}', '{{list}} {{message}}'), '{{message}} is unknown'],
    ['no user part', '<!-- system -->\n{{list}}', '<!-- user -->'],
    ['no system part', '{{list}}\n<!-- user -->\n{{message}}', '<!-- system -->'],
    ['nothing in it', '', '<!-- system -->'],
  ])('is refused with %s, by path and placeholder', async (_, text, said) => {
    await expect(load(text)).rejects.toMatchObject({ code: 'prompt_invalid' });
    await expect(load(text)).rejects.toThrow(said);
    await expect(load(text)).rejects.toThrow(path);
  });

  it('is refused when it is not there', () => {
    expect(() => loadPrompt({ name: 'p', system: [], user: [], path: join(folder, 'none.md') })).toThrow('none.md');
  });
});

describe('the table of prompts', () => {
  it('has every file of the folder, each with its placeholders', () => {
    const files = readdirSync(dirname(defaultPromptPath('repair'))).map((file) => basename(file, '.md'));
    expect(Object.keys(PROMPTS).sort()).toEqual(files.sort());
    for (const name of Object.keys(PROMPTS) as PromptName[]) expect(loadNamedPrompt(name).name).toBe(name);
  });

  it.each(REPLACEABLE_NAMES)('gives the configuration its key %s, with a path below its folder', async (name) => {
    const config = join(folder, 'winnow.yaml');
    await writeFile(config, `prompts: {${name}: mine.md}`);
    expect((await loadConfigFile(config)).prompts).toEqual({ [name]: join(folder, 'mine.md') });
    await writeFile(config, `prompts: {${name}s: mine.md}`);
    await expect(loadConfigFile(config)).rejects.toThrow(`${name}s`);
  });
});

describe('the prompts of the planner', () => {
  it('can be replaced one by one, at start', async () => {
    await writeFile(path, '<!-- system -->\nMINE {{none}} {{summaries}}\n<!-- user -->\n{{context}}{{message}}');
    const prompts = loadPrompts({ 'select-tools': path });
    const values = { none: 'no', summaries: '- a', context: '', message: 'hi' };
    expect(prompts.select.render(values)).toEqual({ system: 'MINE no - a', user: 'hi' });
    expect(prompts.plan.name).toBe('plan-steps');
    await writeFile(path, '<!-- system -->\n{{summaries}}\n<!-- user -->\n{{context}}{{message}}');
    expect(() => loadPrompts({ 'select-tools': path })).toThrow('{{none}} is missing');
  });

  it('are read without those that only others need', async () => {
    await writeFile(path, 'no prompt at all');
    expect(Object.keys(loadPrompts({ 'rerank-tools': path }))).toEqual([
      'select',
      'plan',
      'asks',
      'tool',
      'fit',
      'item',
      'arguments',
      'repair',
    ]);
    expect(() => loadNamedPrompt('rerank-tools', path)).toThrow(path);
  });
});
