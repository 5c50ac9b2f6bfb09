/** The pages do not drift from the code: snippets run, links resolve, and commands, flags and settings exist. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
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

const SNIPPET = '\n--- the snippet of ';
const ENDED = '\n--- ended well';

/** All in one process, one after the other, where their packages are found and no build looks. @returns what each printed */
async function runPrograms(programs: ReadonlyMap<string, string>): Promise<Map<string, string>> {
  const folder = resolve('node_modules/.cache/winnow-docs');
  mkdirSync(folder, { recursive: true });
  const lines = [...programs].map(([name, code]) => {
    const file = `${name.replace(/\W/gu, '-')}.mjs`;
    writeFileSync(join(folder, file), code);
    return `await import('./${file}').then(() => console.log(${JSON.stringify(ENDED)}), console.log);`;
  });
  const names = [...programs.keys()].map((name) => `console.log(${JSON.stringify(SNIPPET + name)});`);
  writeFileSync(join(folder, 'all.mjs'), lines.map((line, place) => `${names[place]}\n${line}\n`).join(''));
  const { NODE_OPTIONS: _, ...env } = process.env;
  const words = ['--import', './test/support/typescript-loader.mjs', join(folder, 'all.mjs')];
  const { stdout, stderr, exitCode } = await new Promise<{ stdout: string; stderr: string; exitCode: unknown }>(
    (done) =>
      execFile(process.execPath, words, { env, timeout: 100_000 }, (error, stdout, stderr) =>
        done({ stdout, stderr, exitCode: error === null ? 0 : (error.code ?? error.signal) }),
      ),
  );
  const printed = stdout.split(SNIPPET).slice(1);
  // What none of them caught, or does not end, ends the process: it is the fault of the last.
  return new Map(
    printed.map((text, place) => {
      const [name = ''] = text.split('\n', 1);
      const isLast = place === printed.length - 1;
      return [name, isLast && exitCode !== 0 ? `exit code ${exitCode}\n${stderr}` : text];
    }),
  );
}

describe('the snippets', () => {
  const programs = inLanguage('ts');
  let printed: Map<string, string>;
  beforeAll(async () => {
    const started = programs.map(async ({ name, text }) => {
      const server = await startScriptedServer((RUNS[name]?.answers ?? []).map((one) => answerJson(one)));
      return { name, server, program: toProgram(text, server.baseUrl) };
    });
    const all = await Promise.all(started);
    printed = await runPrograms(new Map(all.map(({ name, program }) => [name, program])));
    for (const { server } of all) await server.close();
  }, 120_000);

  it.each(programs.map(({ name }) => name))('of %s runs', (name) => {
    const run = RUNS[name];
    if (!run) throw new Error(`Say in RUNS what ${name} prints.`);
    expect(printed.get(name)).toContain(ENDED);
    expect(printed.get(name)).toContain(run.prints);
  });

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
