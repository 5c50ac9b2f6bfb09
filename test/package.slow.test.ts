/** The package as who installs it has it: packed, found by name, typed, and run. Nothing of `src` is behind it. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const run = promisify(execFile);
const TSC = resolve('node_modules/typescript/bin/tsc');

const USE = `
import { createPlanner, loadCatalog, type Model, type PlanResult } from 'winnow';
import { createToolSelector } from 'winnow/langchain';
import { createMcpEndpoint, resolveMcpOptions, type McpOptions } from 'winnow/mcp';

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
const inside: string = 'winnow/dist/planner.js';
const refused: unknown = await import(inside).catch((error: { code: string }) => error.code);
const steps = result.kind === 'plan' ? result.steps.map(({ tool }) => tool) : [];
const kinds = [typeof createToolSelector, typeof createMcpEndpoint, typeof options];
console.log(JSON.stringify({ steps, kinds, refused }));
`;
const WRONG = `import { createPlanner } from 'winnow';\ncreatePlanner({ catalog: 7 });\n`;

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
  const installed = join(consumer, 'node_modules', 'winnow');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', await pack(join(folder, 'packed')), '--strip-components=1', '-C', installed]);
  // What it depends on, and what the consumer has of its own.
  await symlink(resolve('node_modules'), join(installed, 'node_modules'));
  await symlink(resolve('node_modules/@types'), join(consumer, 'node_modules/@types'));
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

describe('the package', () => {
  it('is found by its names, typed, and plans; what is inside stays inside', async () => {
    await compile({ 'use.ts': USE });
    const { stdout } = await run(process.execPath, ['out/use.js'], { cwd: consumer });
    expect(JSON.parse(stdout)).toEqual({
      steps: ['read_level'],
      kinds: ['function', 'function', 'object'],
      refused: 'ERR_PACKAGE_PATH_NOT_EXPORTED',
    });
  });

  it('has types that tell a mistake', async () => {
    await expect(compile({ 'wrong.ts': WRONG })).rejects.toMatchObject({
      stdout: expect.stringMatching(/wrong\.ts.*TS2322/u),
    });
  });

  it('compiles the examples of the README', async () => {
    const examples = ['plan-a-request.ts', 'route-a-session.ts'].map(async (name) => {
      const text = await readFile(join('test/example', name), 'utf8');
      return [name, text.replace('../../src/index.js', 'winnow')] as const;
    });
    await compile(Object.fromEntries(await Promise.all(examples)));
  });

  it('brings its command with the example catalogue', async () => {
    const main = join(consumer, 'node_modules/winnow/dist/cli/main.js');
    const { stdout } = await run(process.execPath, [main, 'tools', 'list'], { cwd: consumer });
    expect(stdout).toContain('lookup_station_code');
  });
});
