/** The pages do not drift from the code: snippets run, links resolve, and commands, flags and settings exist. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { createPolicy } from '../src/agents/policy/policy.js';
import { resolveLimits } from '../src/agents/sandbox/limits.js';
import { authSettingsSchema } from '../src/cli/auth-setup.js';
import { loadConfigFile } from '../src/cli/config-file.js';
import { createProgram } from '../src/cli/program.js';
import { runHere } from './cli/run-here.js';
import { serve } from './cli/serve-setup.js';
import { PAGES, snippetsOf } from './support/pages.js';
import { startScriptedServer } from './support/scripted-server.js';
import { answerJson } from './support/server-behaviours.js';
import { temporaryFolder } from './support/temporary-folder.js';

const COMMANDS = createProgram().commands;
const snippets = PAGES.flatMap(snippetsOf);
const inLanguage = (language: string) => snippets.filter((one) => one.language === language);

/** What a snippet is answered by the model, and a part of what it then prints. */
const RUNS: Readonly<Record<string, { answers: readonly unknown[]; prints: string }>> = {
  'README.md 1': {
    answers: [
      { selected_tools: ['lookup_station_code', 'query_reservoir_last'], reason: 'both' },
      {
        kind: 'plan',
        steps: [
          { id: 's1', tool: 'lookup_station_code', arguments: { name: 'Panshitou' } },
          { id: 's2', tool: 'query_reservoir_last', arguments: { stcd: '${s1.stcd}' } },
        ],
      },
    ],
    prints: "tool: 'query_reservoir_last'",
  },
  'README.md 2': {
    answers: [{ tool: 'get_weather', arguments: { input: 'Paris' } }, { answer: 'Yes.' }],
    prints: 'Yes.',
  },
  'src/agents/README.md 1': { answers: [], prints: 'the text of a.txt' },
  'src/eval/README.md 1': {
    answers: [{ kind: 'plan', steps: [{ id: 's1', tool: 'get_weather', arguments: { city: 'Paris' } }] }],
    prints: 'right: 1',
  },
};

const ENTRIES = { '/agents': 'agents', '/eval': 'eval', '/langchain': 'adapters/langchain', '/mcp': 'adapters/mcp' };

/** Of the sources, with a model of the test, and with a store that is gone afterwards. */
function toProgram(text: string, baseUrl: string): string {
  const source = (path: string) => pathToFileURL(resolve('src', path, 'index.ts')).href;
  const entries = Object.entries(ENTRIES).reduce(
    (code, [entry, path]) => code.replaceAll(`'winnow-planner${entry}'`, `'${source(path)}'`),
    text.replaceAll("'winnow-planner'", `'${source('')}'`),
  );
  return entries
    .replace('createModel({})', `createModel({ baseUrl: '${baseUrl}', model: 'm' })`)
    .replace("'agents.db'", JSON.stringify(join(temporaryFolder(), 'agents.db')));
}

/** Where its packages are found, and no build looks. */
async function runProgram(name: string, code: string): Promise<string> {
  const path = resolve('node_modules/.cache/winnow-docs', `${name.replace(/\W/gu, '-')}.mjs`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, code);
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--import', './test/support/typescript-loader.mjs', path], { env });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part) => {
      text += String(part);
    });
  const exitCode = await new Promise((done) => child.once('close', done));
  return `${text}\nexit code ${exitCode}`;
}

describe('the snippets', () => {
  it.each(inLanguage('ts').map(({ name, text }) => [name, text]))(
    'of %s runs',
    async (name, text) => {
      const run = RUNS[name];
      if (!run) throw new Error(`Say in RUNS what ${name} prints.`);
      const server = await startScriptedServer(run.answers.map((one) => answerJson(one)));
      const printed = await runProgram(name, toProgram(text, server.baseUrl));
      await server.close();
      expect(printed).toContain('exit code 0');
      expect(printed).toContain(run.prints);
    },
    120_000,
  );

  it.each(
    inLanguage('console').map(({ name, text }) => {
      const [, words = '', output = ''] = /^\$ npx winnow (.*)\n([\s\S]*)$/u.exec(text) ?? [];
      return [name, words.split(' '), output] as const;
    }),
  )('of %s prints what stands there', async (_, words, output) => {
    expect((await runHere(words)).stdout).toBe(output);
  });

  it('of HTTP is answered with a plan', async () => {
    const lines = inLanguage('sh').flatMap(({ text }) => [...text.matchAll(/^curl \S+:8787(\S+) .*-d '(.*)'$/gmu)]);
    expect(lines.length).toBeGreaterThan(1);
    const server = await startScriptedServer(() =>
      answerJson({ kind: 'unplannable', reason: 'none', selected_tools: [] }),
    );
    const { ask } = await serve('--base-url', server.baseUrl, '--model', 'm');
    for (const [, path, body = ''] of lines) {
      expect(await ask(`POST ${path}`, JSON.parse(body))).toMatchObject({ kind: 'unplannable' });
    }
    await server.close();
  });

  it('of settings are taken', async () => {
    const texts = inLanguage('yaml').map(({ text }) => text);
    const of = (start: string) => texts.filter((text) => text.startsWith(start));
    for (const kind of ['rules:', 'sandbox:', 'catalog:', 'auth:']) expect(of(kind)).not.toEqual([]);
    for (const text of of('rules:')) createPolicy(parse(text));
    for (const text of of('auth:')) authSettingsSchema.parse(parse(text).auth);
    for (const text of of('sandbox:')) resolveLimits(parse(text).sandbox);
    for (const name of ['winnow.yaml', 'policy.yaml'])
      expect(texts).toContain(readFileSync(`fixtures/agents/first-steps/${name}`, 'utf8'));
    const folder = temporaryFolder();
    for (const [place, text] of of('catalog:').entries()) {
      writeFileSync(join(folder, `${place}.yaml`), text);
      expect(Object.keys(await loadConfigFile(join(folder, `${place}.yaml`))).length).toBeGreaterThan(2);
    }
  });
});

function unknownWords(words: string): string[] {
  const [name, ...rest] = words.replace(/\s#.*$/u, '').split(/\s+/u);
  const top = COMMANDS.find((one) => one.name() === name);
  const command = top?.commands.find((one: Command) => one.name() === rest[0]) ?? top;
  if (!command) return [`no command ${name}`];
  const flags = rest.filter((word) => word.startsWith('--') && word !== '--help');
  return flags.filter((flag) => !command.options.some(({ long }) => long === flag)).map((flag) => `${words}: ${flag}`);
}

describe.each(PAGES)('%s', (page) => {
  const text = readFileSync(page, 'utf8');

  it('links to files and headings that exist', () => {
    const targets = [...text.matchAll(/\]\(((?!https?:)[^)]+)\)/gu)].map((match) => match[1] ?? '');
    const broken = targets.filter((target) => {
      const [file = '', anchor] = target.split('#');
      const path = file === '' ? page : join(dirname(page), file);
      return !existsSync(path) || (anchor !== undefined && !headingsOf(path).includes(anchor));
    });
    expect(broken).toEqual([]);
  });

  it('names only commands, flags and npm scripts that exist', () => {
    const typed = [...text.matchAll(/(?:^(?:\$ )?|`|&& |… )(?:npx )?winnow +([a-z][^`|\n]*)/gmu)].map(
      ([, words = '']) => words,
    );
    const started = snippetsOf(page)
      .filter(({ language, text: json }) => language === 'json' && json.includes('main.js'))
      .map(({ text: json }) => JSON.parse(json).mcpServers.winnow.args.slice(1).join(' '));
    expect([...typed, ...started].flatMap(unknownWords)).toEqual([]);
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    const named = [...text.matchAll(/npm run ([\w:-]+)/gu)].map((match) => match[1] ?? '');
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  it('is short enough to be read', () => {
    expect(text.split('\n').length - 1).toBeLessThanOrEqual(page === 'README.md' ? 250 : 210);
  });
});

/** As GitHub makes them of a page's headings. */
function headingsOf(path: string): string[] {
  return [...readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gmu)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  );
}
