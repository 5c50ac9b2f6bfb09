/**
 * Servers that people use, as their makers publish them: listed and called as `winnow serve` does. They are installed into a
 * temporary folder; without a package registry, or without Python, theirs are skipped.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import { createMcpExecutor } from '../../../../src/agents/sandbox/executors/mcp.js';
import { createSandbox } from '../../../../src/agents/sandbox/sandbox.js';
import { loadCatalog } from '../../../../src/core/catalog/load.js';
import type { McpServer } from '../../../../src/core/catalog/sources/mcp-server.js';
import { freePort } from '../../../support/free-port.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const VERSION = '2026.8.31';
const NPM = ['everything', 'filesystem', 'memory', 'sequential-thinking'].map(
  (name) => `@modelcontextprotocol/server-${name}@${VERSION}`,
);
const PYPI = ['mcp-server-time==2026.10.19', 'mcp-server-git==2026.10.19'];

const folder = realpathSync(temporaryFolder());
const files = join(folder, 'files');
mkdirSync(files);
writeFileSync(join(files, 'a.txt'), 'the text of a');
spawnSync('git', ['init', '--quiet', files]);

const succeeds = (command: string, ...args: string[]) => spawnSync(command, args, { timeout: 110_000 }).status === 0;
const python = (program: string) => join(folder, 'python', 'bin', program);
const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder];
const isNpmThere = succeeds('npm', ...install, ...NPM);
const isPythonThere =
  succeeds('python3', '-m', 'venv', join(folder, 'python')) && succeeds(python('pip'), 'install', '--quiet', ...PYPI);

interface Row {
  readonly name: string;
  readonly server: () => Promise<McpServer> | McpServer;
  readonly call: readonly [tool: string, input: object];
  /** A part of the answer. */
  readonly says: string;
}

const script = (name: string) => join(folder, 'node_modules/@modelcontextprotocol', `server-${name}`, 'dist/index.js');
const npm = (name: string, args: string[] = [], env: Record<string, string> = {}) => {
  return () => ({ command: process.execPath, args: [script(name), ...args], env });
};

const started: ChildProcess[] = [];
afterAll(async () => {
  for (const one of started) {
    const exit = once(one, 'exit');
    one.kill();
    await exit;
  }
});

/** The server of everything listens by itself where it is told to. */
const listening = (way: string, path: string) => async () => {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port) };
  started.push(spawn(process.execPath, [script('everything'), way], { env, stdio: 'ignore' }));
  const url = `http://127.0.0.1:${port}${path}`;
  while (!(await fetch(url, { method: 'OPTIONS' }).catch(() => undefined))) await pause(20);
  return { url };
};

const echo = { call: ['echo', { message: 'hi' }], says: 'hi' } as const;
const thought = { thought: 'first', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
const ann = { name: 'Ann', entityType: 'person', observations: [] };

const OF_NPM: readonly Row[] = [
  { name: 'everything on stdio', server: npm('everything'), ...echo },
  { name: 'everything on streamable HTTP', server: listening('streamableHttp', '/mcp'), ...echo },
  { name: 'everything on SSE', server: listening('sse', '/sse'), ...echo },
  {
    name: 'filesystem',
    server: npm('filesystem', [files]),
    call: ['read_text_file', { path: join(files, 'a.txt') }],
    says: 'the text of a',
  },
  {
    name: 'memory',
    server: npm('memory', [], { MEMORY_FILE_PATH: join(folder, 'memory.json') }),
    call: ['create_entities', { entities: [ann] }],
    says: 'Ann',
  },
  {
    name: 'sequential-thinking',
    server: npm('sequential-thinking'),
    call: ['sequentialthinking', thought],
    says: 'thoughtHistoryLength',
  },
];

const OF_PYPI: readonly Row[] = [
  {
    name: 'time',
    server: () => ({ command: python('mcp-server-time'), args: ['--local-timezone', 'Asia/Shanghai'] }),
    call: ['get_current_time', { timezone: 'Europe/Paris' }],
    says: 'Europe/Paris',
  },
  {
    name: 'git',
    server: () => ({ command: python('mcp-server-git'), args: ['--repository', files] }),
    call: ['git_status', { repo_path: files }],
    says: 'a.txt',
  },
];

async function listAndCall({ server, call: [name, input], says }: Row): Promise<void> {
  const servers = { known: await server() };
  const { catalog, issues } = await loadCatalog({ sources: [{ kind: 'mcp', servers }], timeoutMs: 100_000 });
  expect(issues).toEqual([]);
  const tool = catalog.tools.find((one) => one.name === `known__${name}`);
  if (!tool) throw new Error(`no ${name} among ${catalog.tools.map((one) => one.name).join(', ')}`);
  const sandbox = createSandbox({ executors: [createMcpExecutor(servers)] });
  const result = await sandbox.run({ tool, arguments: input });
  await sandbox.close();
  expect(result).toMatchObject({ ok: true, content: [{ type: 'text', text: expect.stringContaining(says) }] });
}

const told = (isThere: boolean) => (isThere ? '' : ' (skipped: they could not be installed)');

describe(`a server of the protocol's own collection${told(isNpmThere)}`, () => {
  (isNpmThere ? it : it.skip).each(OF_NPM)('$name is listed and called', listAndCall);
});

describe(`one in Python${told(isPythonThere)}`, () => {
  (isPythonThere ? it : it.skip).each(OF_PYPI)('$name is listed and called', listAndCall);
});
