/** The package as who installs it has it: packed, found by name, typed, and run. Nothing of `src` is behind it. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PAGES, snippetsOf } from './support/pages.js';

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const run = promisify(execFile);
const TSC = resolve('node_modules/typescript/bin/tsc');

const USE = `
import { createPlanner, loadCatalog, type Model, type PlanResult } from 'winnow-planner';
import { createRouter } from 'winnow-planner/agents';
import { createCaseRunner } from 'winnow-planner/eval';
import { createToolSelector } from 'winnow-planner/langchain';
import { createMcpEndpoint, resolveMcpOptions, type McpOptions } from 'winnow-planner/mcp';

const model: Model = {
  id: 'own',
  limits: { contextTokens: 8192, enumValues: 100, enumCharacters: 10_000, tools: 100 },
  preferredAnswer: 'list',
  complete: async () => ({
    text: '{"kind":"plan","steps":[{"id":"s1","tool":"read_level","arguments":{}}]}',
    finish: 'stop',
    usage: { calls: 1, read: 1, cached: 0, written: 1 },
  }),
  countTokens: (text) => text.length,
  close: async () => {},
};
const { catalog } = await loadCatalog({ sources: ['tools.json'] });
const result: PlanResult = await createPlanner({ catalog, model }).plan({ message: 'What is the level?' });
const options: McpOptions = resolveMcpOptions({});
const inside: string = 'winnow-planner/dist/planner.js';
const refused: unknown = await import(inside).catch((error: { code: string }) => error.code);
const steps = result.kind === 'plan' ? result.steps.map(({ tool }) => tool) : [];
const entries = [createRouter, createCaseRunner, createToolSelector, createMcpEndpoint];
const kinds = [...entries.map((one) => typeof one), typeof options];
console.log(JSON.stringify({ steps, kinds, refused }));
`;
const WRONG = `import { createPlanner } from 'winnow-planner';\ncreatePlanner({ catalog: 7 });\n`;

/** What the examples take as given. */
const GIVEN = `
import type { Catalog, Model, Planner } from 'winnow-planner';
import type { Discovery, PolicySource, Router, RunnablePlan, Sandbox, Store, ToolFunction } from 'winnow-planner/agents';
import type { CaseRecord, EvaluationCase, SuitePlanners } from 'winnow-planner/eval';
declare const catalog: Catalog, model: Model, planner: Planner, discovery: Discovery, policy: PolicySource;
declare const router: Router, plan: RunnablePlan, sandbox: Sandbox, store: Store, session: string;
declare const functions: Record<string, ToolFunction>, planners: SuitePlanners, one: EvaluationCase, record: CaseRecord;
declare const tools: Parameters<typeof toolsFromLangChain>[0];
declare const console: { log(...words: unknown[]): void; warn(): void; error(): void; debug(): void };
`;
const ENTRIES = ['', '/agents', '/eval', '/langchain', '/mcp'].map((path) => `winnow-planner${path}`);

const OPTIONS = {
  compilerOptions: {
    ...{ target: 'ES2023', module: 'NodeNext', moduleResolution: 'NodeNext', strict: true, skipLibCheck: true },
    ...{ types: ['node'], outDir: 'out', rootDir: '.' },
  },
};

let folder: string;
let consumer: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-package-'));
  consumer = join(folder, 'consumer');
  const installed = join(consumer, 'node_modules', 'winnow-planner');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', await pack(join(folder, 'packed')), '--strip-components=1', '-C', installed]);
  // What it depends on, and what the consumer has of its own.
  await symlink(resolve('node_modules'), join(installed, 'node_modules'));
  for (const name of ['@types', 'langchain'])
    await symlink(resolve('node_modules', name), join(consumer, 'node_modules', name));
  await writeFile(join(consumer, 'package.json'), '{ "type": "module" }');
  await writeFile(join(consumer, 'tools.json'), '[{ "name": "read_level", "toolType": "builtin" }]');
});
afterAll(() => rm(folder, { recursive: true }));

/** Built anew, so that it is the package of now. @returns the archive */
async function pack(stage: string): Promise<string> {
  const { files } = JSON.parse(await readFile('package.json', 'utf8'));
  for (const file of ['package.json', ...files.filter((one: string) => one !== 'dist')])
    await cp(file, join(stage, file), { recursive: true });
  await run(process.execPath, [TSC, '-p', 'tsconfig.build.json', '--outDir', join(stage, 'dist')]);
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json'], { cwd: stage });
  return join(stage, JSON.parse(stdout)[0].filename);
}

async function compile(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(consumer, name), text);
  await writeFile(join(consumer, 'tsconfig.json'), JSON.stringify({ ...OPTIONS, files: Object.keys(files) }));
  await run(process.execPath, [TSC, '-p', '.'], { cwd: consumer });
}

/** Of each function that an entry exports, as its published type declaration has it. */
async function functionsOf(entry: string): Promise<{ name: string; example: string }[]> {
  const { exports } = JSON.parse(await readFile('package.json', 'utf8'));
  const path = join(consumer, 'node_modules/winnow-planner', exports[entry.replace('winnow-planner', '.')].types);
  const statements = (await readFile(path, 'utf8')).matchAll(/^export \{([^}]*)\} from '([^']+)'/gmu);
  const found = [...statements].map(async ([, names = '', file = '']) => {
    const text = await readFile(join(path, '..', file.replace(/\.js$/u, '.d.ts')), 'utf8');
    return (names.match(/\w+/gu) ?? []).flatMap((name) => {
      const form = new RegExp(`@example\\n((?: \\* .*\\n)+) \\*/\\nexport declare function ${name}\\b`, 'u');
      const [, example] = form.exec(text) ?? [];
      return example === undefined ? [] : [{ name, example: example.replace(/^ \* /gmu, '') }];
    });
  });
  return (await Promise.all(found)).flat();
}

const toOutput = (error: { stdout: string }) => error.stdout;
const renderExample = (name: string, example: string) => `export async function ${name}Example() {\n${example}}\n`;

describe('the package', () => {
  it('is found by its names, typed, and plans; what is inside stays inside', async () => {
    await compile({ 'use.ts': USE });
    const { stdout } = await run(process.execPath, ['out/use.js'], { cwd: consumer });
    expect(JSON.parse(stdout)).toEqual({
      steps: ['read_level'],
      kinds: ['function', 'function', 'function', 'function', 'object'],
      refused: 'ERR_PACKAGE_PATH_NOT_EXPORTED',
    });
  });

  it('has types that tell a mistake', async () => {
    await expect(compile({ 'wrong.ts': WRONG })).rejects.toMatchObject({
      stdout: expect.stringMatching(/wrong\.ts.*TS2322/u),
    });
  });

  it('compiles the example of every function', async () => {
    const names = await Promise.all(ENTRIES.map(async (entry) => [entry, await functionsOf(entry)] as const));
    const imports = names.map(([entry, found]) => `import { ${found.map(({ name }) => name)} } from '${entry}';`);
    const examples = names.flatMap(([, found]) => found.map(({ name, example }) => renderExample(name, example)));
    expect(examples.length).toBeGreaterThan(30);
    expect(
      await compile({ 'examples.ts': [...imports, GIVEN, ...examples].join('\n') }).catch(toOutput),
    ).toBeUndefined();
  });

  it('compiles the snippets of the pages', async () => {
    const texts = PAGES.flatMap(snippetsOf).filter(({ language }) => language === 'ts');
    const files = texts.map(({ text }, place) => [`snippet-${place}.ts`, text] as const);
    expect(files.length).toBeGreaterThan(3);
    expect(await compile(Object.fromEntries(files)).catch(toOutput)).toBeUndefined();
  });

  it('brings its command with the example catalogue', async () => {
    const main = join(consumer, 'node_modules/winnow-planner/dist/cli/main.js');
    const { stdout } = await run(process.execPath, [main, 'tools', 'list'], { cwd: consumer });
    expect(stdout).toContain('lookup_station_code');
  });

  it('brings the files of the console and of the report', async () => {
    const folder = join(consumer, 'node_modules/winnow-planner/dist');
    const program = `
      const { readConsole } = await import('${folder}/adapters/console/console.js');
      const { readPageParts } = await import('${folder}/eval/report/page-parts.js');
      console.log((await readConsole()).map(({ path }) => path).join(' '), (await readPageParts('t')).tail.length);`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { cwd: consumer });
    expect(stdout).toMatch(/^\/ .*\/console\/app\.js .*\/console\/lit-html\.js .* \d{5,}$/mu);
  });
});
