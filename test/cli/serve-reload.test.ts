/** A catalogue that changes while `winnow serve` answers: read anew when it is told to, kept where it is broken. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { NO_MODEL, serve } from './serve-setup.js';

// The first test of a run loads the model client.
jest.setTimeout(60_000);

const OPERATOR = { 'x-winnow-user': 'olga', 'x-winnow-roles': 'operator' };
const tool = (name: string, description: string) => ({ name, toolType: 'builtin', risk: 'low', description });

let folder: string;
const at = (name: string) => join(folder, name);
const write = (name: string, content: unknown) => writeFile(at(name), JSON.stringify(content));
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-reload-'));
  await write('tools.json', { tools: [tool('greet', 'Greets.')], synonyms: [{ words: ['wave'], means: ['greets'] }] });
  await write('mcp.json', { mcpServers: {} });
  await writeFile(at('tools.mjs'), 'export const greet = () => "hello"; export const bow = () => "bowed";');
});
afterEach(() => rm(folder, { recursive: true }));

const open = (...words: string[]) =>
  serve(...NO_MODEL, '--catalog', at('tools.json'), '--tools-module', at('tools.mjs'), ...words);

async function openSession(server: Awaited<ReturnType<typeof serve>>) {
  const { id } = await server.ask('POST /v1/sessions', {});
  const names = async (query: string) => {
    const { matches } = await server.ask(`POST /v1/sessions/${id}/search`, { query });
    return matches.map(({ name }: { name: string }) => name);
  };
  const call = async (name: string, input = {}) => {
    await server.ask(`POST /v1/sessions/${id}/enable`, { names: [name] });
    return server.ask(`POST /v1/sessions/${id}/call`, { tool: name, arguments: input });
  };
  return { names, call };
}

it('is read anew at SIGHUP: new tools are found, listed, planned with and run, old ones are gone', async () => {
  const server = await open();
  const { names, call } = await openSession(server);
  expect(await names('wave')).toEqual(['greet']);
  await write('tools.json', {
    tools: [tool('bow', 'Bows deeply.')],
    synonyms: [{ words: ['curtsy'], means: ['bows'] }],
  });
  process.emit('SIGHUP');
  await server.logged('the catalogue was read anew');
  while ((await server.ask('GET /v1/index', undefined, OPERATOR)).state !== 'ready');
  expect([await names('wave'), await names('curtsy')]).toEqual([[], ['bow']]);
  expect(await call('bow')).toMatchObject({ ok: true, output: 'bowed' });
  expect(await call('greet')).toMatchObject({ code: 'unknown_tool' });
  const { tools } = await server.ask('GET /v1/tools');
  expect(tools.map(({ name }: { name: string }) => name)).toEqual(['bow']);
  const { entries } = await server.ask('GET /v1/audit?event=catalog_reloaded', undefined, OPERATOR);
  expect(entries).toMatchObject([{ reason: '1 tools added, 0 changed, 1 removed.' }]);
  await server.stop();
  expect(process.listenerCount('SIGHUP')).toBe(0);
});

it('keeps the tools of a source that is broken, and says so, while the others change', async () => {
  await write('more.json', [tool('nod', 'Nods.')]);
  const server = await open('--catalog', at('more.json'));
  const { names, call } = await openSession(server);
  await writeFile(at('tools.json'), '{ "tools": [');
  await write('more.json', [tool('blink', 'Blinks.')]);
  const rebuilt = await server.ask('POST /v1/index/rebuild', undefined, OPERATOR);
  expect(rebuilt).toMatchObject({
    state: 'ready',
    tools: 2,
    catalog: { tools: 2, added: 1, removed: 1, kept: [{ source: at('tools.json'), reason: expect.any(String) }] },
  });
  expect([await names('greets'), await names('nods'), await names('blinks')]).toEqual([['greet'], [], ['blink']]);
  expect(await call('greet')).toMatchObject({ ok: true });
  expect(server.log.lines()).toContainEqual(
    expect.objectContaining({ level: 'error', source: at('tools.json'), msg: expect.stringContaining('stay as they') }),
  );
  const { entries } = await server.ask('GET /v1/audit?event=catalog_kept', undefined, OPERATOR);
  expect(entries).toMatchObject([{ outcome: 'failed' }]);

  await write('tools.json', [tool('greet', 'Greets warmly.')]);
  const mended = await server.ask('POST /v1/index/rebuild', undefined, OPERATOR);
  expect(mended.catalog).toMatchObject({ changed: 1, kept: [] });
  await server.stop();
});

it('as a whole no catalogue, changes nothing', async () => {
  await write('more.json', [tool('nod', 'Nods.')]);
  const server = await open('--catalog', at('more.json'));
  await write('more.json', [tool('greet', 'Another one.')]);
  const rebuilt = await server.ask('POST /v1/index/rebuild', undefined, OPERATOR);
  expect(rebuilt).toMatchObject({ state: 'ready', tools: 2, catalog: { tools: 2, added: 0 } });
  expect(rebuilt.catalog.kept).toMatchObject([{ reason: expect.stringContaining('Tool names clash') }]);
  await server.stop();
});

it('brings new MCP servers along, so that their tools run', async () => {
  const server = await open('--catalog', `mcp:${at('mcp.json')}`);
  const args = [resolve('fixtures/sources/mcp-server.mjs')];
  await write('mcp.json', { mcpServers: { fixture: { command: process.execPath, args } } });
  const { catalog } = await server.ask('POST /v1/index/rebuild', undefined, OPERATOR);
  expect(catalog).toMatchObject({ kept: [], removed: 0 });
  expect(catalog.added).toBeGreaterThan(0);
  const { call } = await openSession(server);
  // This server lists tools and knows no calls: that it refuses one shows that it was reached.
  expect(await call('search', { query: 'x' })).toMatchObject({
    code: 'tool_failed',
    reason: expect.stringContaining('The MCP server "fixture" refused the call'),
  });
  await server.stop();
});

it('says nothing of the tools of a server that never gave any', async () => {
  const args = (set: string) => [resolve('fixtures/sources/mcp-server.mjs'), set];
  const dead = { command: 'no-such-command-here' };
  await write('mcp.json', { mcpServers: { good: { command: process.execPath, args: args('tickets') }, dead } });
  const server = await open('--catalog', `mcp:${at('mcp.json')}`);
  await write('mcp.json', { mcpServers: { good: { command: process.execPath, args: args('notes') }, dead } });
  const { catalog } = await server.ask('POST /v1/index/rebuild', undefined, OPERATOR);
  expect(catalog).toMatchObject({ kept: [], failed: [{ source: `${at('mcp.json')}#dead` }] });
  const { names } = await openSession(server);
  expect(await names('deletes a note')).toContain('delete_note');
  expect(server.log.lines().filter(({ msg }) => String(msg).includes('stay as they were'))).toEqual([]);
  await server.stop();
});

it('holds the tools that a user has added, for search, list and planning, also after a restart', async () => {
  const store = ['--store', at('agents.db')];
  const first = await open(...store);
  const zebra = { name: 'zebra', toolType: 'skill', description: 'Draws zebras.', instructions: 'Draw.' };
  await first.ask('POST /v1/private-tools', { tool: zebra });
  const seen = async (server: typeof first, user: string) => {
    const { tools } = await server.ask('GET /v1/tools', undefined, { 'x-winnow-user': user });
    return tools.map(({ name }: { name: string }) => name);
  };
  expect([await seen(first, 'ann'), await seen(first, 'bob')]).toEqual([['greet', 'zebra'], ['greet']]);
  await first.stop();
  const second = await open(...store);
  expect(await seen(second, 'ann')).toEqual(['greet', 'zebra']);
  const { names, call } = await openSession(second);
  expect(await names('zebras')).toEqual(['zebra']);
  expect(await call('zebra')).toMatchObject({ ok: true, output: 'Draw.' });
  await second.stop();
});

it('is not indexed anew at a start for which a snapshot is kept', async () => {
  await writeFile(at('winnow.yaml'), 'index: { snapshot: full }\n');
  const words = ['--store', at('agents.db'), '--config', at('winnow.yaml')];
  const first = await open(...words);
  const { builtAt, fingerprint } = await first.ask('POST /v1/index/rebuild', undefined, OPERATOR);
  await first.stop();
  const second = await open(...words);
  expect(await second.ask('GET /v1/index', undefined, OPERATOR)).toMatchObject({
    state: 'ready',
    builtAt,
    fingerprint,
  });
  await second.stop();
  await write('tools.json', [tool('bow', 'Bows.')]);
  const third = await open(...words);
  const { index } = { index: await third.ask('POST /v1/index/rebuild', undefined, OPERATOR) };
  expect(index).toMatchObject({ state: 'ready', tools: 1 });
  expect(index.fingerprint).not.toBe(fingerprint);
  await third.stop();
});
