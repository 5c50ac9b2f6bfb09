/** `winnow serve` with a store, a policy and tools that run: what its flags and its configuration wire together. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { serveCommand } from '../../src/cli/serve-command.js';
import { SEARCH_FIELDS } from '../../src/core/search/fields.js';
import { openStore } from '../../src/store/open-store.js';
import { recordLog } from '../server/setup.js';
import { readSources } from '../support/source-files.js';
import { NO_MODEL, serve } from './serve-setup.js';

// The first test of a run loads the model client.
jest.setTimeout(60_000);

let folder: string;
const at = (name: string) => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-serve-'));
  const greet = {
    name: 'greet',
    toolType: 'builtin',
    risk: 'low',
    description: 'Greets.',
    inputSchema: { type: 'object' },
  };
  await writeFile(at('tools.json'), JSON.stringify([greet]));
  await writeFile(at('tools.mjs'), 'export const greet = () => "hello"; export const stray = () => 1;');
  const server = { command: process.execPath, args: [resolve('fixtures/sources/mcp-server.mjs')] };
  await writeFile(at('mcp.json'), JSON.stringify({ mcpServers: { fixture: server } }));
  await writeFile(at('policy.yaml'), 'pinned: [greet]');
  await writeFile(
    at('winnow.yaml'),
    `catalog: [tools.json, mcp.json, ${resolve('fixtures/sources/skills')}, ${resolve('fixtures/sources/petstore.yaml')}]
model: { baseUrl: http://127.0.0.1:9/v1, name: none }
store: agents.db
policy: policy.yaml
toolsModule: tools.mjs
sandbox: { timeoutMs: 20000, tools: { gret: { timeoutMs: 10 } } }
sessions: { visibleFrom: next_turn }
`,
  );
});
afterAll(() => rm(folder, { recursive: true }));

it('runs functions, MCP tools and skills of the catalogue, follows its policy file, and keeps its sessions', async () => {
  const first = await serve('--config', at('winnow.yaml'));
  const { id } = await first.ask('POST /v1/sessions', {});
  const call = (tool: string, input = {}, server = first) =>
    server.ask(`POST /v1/sessions/${id}/call`, { tool, arguments: input });
  expect(await call('greet')).toMatchObject({ ok: true, output: 'hello' });
  expect(first.log.lines()).toContainEqual(expect.objectContaining({ function: 'stray', level: 'warn' }));
  const msg = 'sandbox.tools: there is no tool "gret"; near: greet';
  expect(first.log.lines()).toContainEqual(expect.objectContaining({ msg, level: 'warn' }));
  expect(first.log.text()).not.toContain('last as long as this process');

  const { tools } = JSON.parse(await (await fetch(`${first.address}/v1/sessions/${id}/tools?mode=classic`)).text());
  const skill = tools.find(({ toolType }: { toolType: string }) => toolType === 'skill').name;
  const enabled = await first.ask(`POST /v1/sessions/${id}/enable`, { names: ['search', skill] });
  expect(enabled).toMatchObject({ rejected: [], visible_from: 'next_turn' });
  expect(await call(skill)).toMatchObject({ ok: true, output: expect.any(String) });
  // This server lists tools and knows no calls: that it refuses one shows that it was reached.
  expect(await call('search', { query: 'x' })).toMatchObject({
    code: 'tool_failed',
    reason: expect.stringContaining('The MCP server "fixture" refused the call'),
  });

  const quiet = 'rules: [{ name: quiet, match: { tool: greet }, decision: deny }]\n';
  await writeFile(at('policy.yaml'), quiet);
  await first.logged('the policy has changed');
  expect(await call('greet')).toMatchObject({ ok: false, code: 'unknown_tool' });
  await writeFile(at('policy.yaml'), 'rules: [{ name: broken }]\n');
  await first.logged('the policy stays');
  expect(await call('greet')).toMatchObject({ ok: false, code: 'unknown_tool' });
  await writeFile(at('policy.yaml'), quiet);
  await first.logged('the policy can be read again');
  await first.stop();

  await writeFile(at('policy.yaml'), 'pinned: [greet]');
  const second = await serve('--config', at('winnow.yaml'));
  expect(await call('greet', {}, second)).toMatchObject({ ok: true });
  await second.stop();
});

it('keeps the weights that an operator gave over a restart, with the snapshot of that index, and says whose they are', async () => {
  const words = [...NO_MODEL, '--catalog', at('tools.json'), '--store', at('weights.db')];
  const operator = { 'x-winnow-user': 'olga', 'x-winnow-roles': 'operator' };
  const restart = async (index: string) => {
    await writeFile(at('index.yaml'), `index: ${index}\n`);
    const server = await serve(...words, '--config', at('index.yaml'));
    const weights = (level: string) => expect.objectContaining({ level, msg: expect.stringContaining('the weights') });
    return { ...server, weights, look: () => server.ask('GET /v1/index', undefined, operator) };
  };
  const first = await restart('{ snapshot: full }');
  expect(first.log.lines()).not.toContainEqual(first.weights('info'));
  const rebuilt = await first.ask('POST /v1/index/rebuild', { weights: { parameters: 0.5 } }, operator);
  await first.stop();
  const second = await restart('{ snapshot: full }');
  const { fingerprint, builtAt } = rebuilt;
  expect(await second.look()).toMatchObject({ state: 'ready', fingerprint, builtAt, weights: { parameters: 0.5 } });
  expect(second.log.lines()).toContainEqual(second.weights('info'));
  await second.stop();
  const third = await restart('{ weights: { title: 2 } }');
  expect(third.log.lines()).toContainEqual(third.weights('warn'));
  const { weights } = await third.ask('POST /v1/index/rebuild', { weights: null }, operator);
  expect(weights).toMatchObject({ parameters: 0, title: 2 });
  await third.stop();
});

it('starts with the configured weights where those in the store are not usable, and says so once', async () => {
  const store = await openStore({ file: at('odd-weights.db') });
  const off = Object.fromEntries(SEARCH_FIELDS.map((field) => [field, 0]));
  await store.snapshots.put({ owner: 'index', name: 'weights', content: { ...off, author: 3 }, updatedAt: '' });
  await store.close();
  const server = await serve(...NO_MODEL, '--catalog', at('tools.json'), '--store', at('odd-weights.db'));
  const operator = { 'x-winnow-user': 'olga', 'x-winnow-roles': 'operator' };
  expect(await server.ask('GET /v1/index', undefined, operator)).toMatchObject({ weights: { description: 0.4 } });
  expect(server.log.lines().filter(({ msg }) => String(msg).includes('the configured weights hold'))).toMatchObject([
    { level: 'warn', code: 'invalid_option' },
  ]);
  await server.stop();
});

it('says that nothing lasts where no store is named, and refuses what it can not use', async () => {
  const model = [...NO_MODEL, '--catalog', at('tools.json')];
  const trial = await serve(...model, '--require-user');
  expect(await trial.ask('POST /v1/sessions', {})).toMatchObject({ user: 'ann' });
  await trial.stop();
  expect(trial.log.text()).toContain('last as long as this process');
  for (const [flag, value, code] of [
    ['--store', 'mysql://host/name', 'invalid_option'],
    ['--store', at('none/agents.db'), 'store_failed'],
    ['--policy', at('none.yaml'), 'invalid_option'],
    ['--tools-module', at('none.mjs'), 'invalid_option'],
  ] as const) {
    const command = serveCommand({ logger: recordLog().logger }).exitOverride();
    const words = ['--port', '0', ...model, flag, value];
    await expect(command.parseAsync(words, { from: 'user' })).rejects.toMatchObject({ code });
  }
  expect(process.listenerCount('SIGTERM')).toBe(0);
});

it('is loaded by no other command: what only plans stays light', () => {
  const files = new Map(readSources().map((file) => [file.path, file]));
  const isStatic = (text: string, path: string) =>
    new RegExp(`^(?:import|export) (?!type )[^;]*?/${path.split('/').at(-1)?.replace('.ts', '.js')}'`, 'mu').test(text);
  const seen = new Set<string>();
  const visit = (path: string): void => {
    const file = files.get(path);
    if (!file || seen.has(path)) return;
    seen.add(path);
    for (const next of file.imports) if (isStatic(file.text, next)) visit(next);
  };
  visit('cli/main.ts');
  expect(seen).toContain('cli/serve-command.ts');
  expect([...seen].filter((path) => /^(?:routing|execution|store)\/|^server\/(?!server-options)/u.test(path))).toEqual(
    [],
  );
});
