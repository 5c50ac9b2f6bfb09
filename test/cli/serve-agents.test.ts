/** winnow serve over its life: tools that run, a catalogue that changes, and servers on one database. */

import { randomBytes } from 'node:crypto';
import { chmod, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { request } from 'undici';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openStore } from '../../src/agents/store/open-store.js';
import { openOperatorToken } from '../../src/cli/auth-setup.js';
import { serveCommand } from '../../src/cli/commands/serve.js';
import { SEARCH_FIELDS } from '../../src/core/search/keyword-index.js';
import { recordLog } from '../adapters/http/setup.js';
import { CLIENT, startAuthorizationServer, startGuardedServer } from '../support/authorization-server.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { configured, NO_MODEL, serve } from './serve-setup.js';

// The first test of a run loads the model client.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let folder: string;
const at = (name: string) => join(folder, name);
beforeAll(async () => {
  folder = temporaryFolder();
  const greet = {
    name: 'greet',
    toolType: 'builtin',
    risk: 'low',
    description: 'Greets.',
    inputSchema: { type: 'object' },
  };
  await writeFile(at('tools.json'), JSON.stringify([greet]));
  await writeFile(at('tools.mjs'), 'export const greet = () => "hello"; export const stray = () => 1;');
  const server = { command: process.execPath, args: [resolve('fixtures/sources/mcp-server.mjs')], trust: true };
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
  const enabled = await first.ask(`POST /v1/sessions/${id}/enable`, { names: ['fixture__search', skill] });
  expect(enabled).toMatchObject({ rejected: [], visible_from: 'next_turn' });
  expect(await call(skill)).toMatchObject({ ok: true, output: expect.any(String) });
  // This server lists tools and knows no calls: that it refuses one shows that it was reached.
  expect(await call('fixture__search', { query: 'x' })).toMatchObject({
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

it("lets nobody ask without a proof where others reach it, and keeps the operator's token to its account", async () => {
  process.env.ANN_TOKEN = 'the-token-of-ann-1234';
  await writeFile(at('auth.yaml'), 'auth: { tokens: [{ env: ANN_TOKEN, user: ann, roles: [lead] }] }\n');
  const words = [...NO_MODEL, '--catalog', at('tools.json'), '--config', at('auth.yaml')];
  const server = await serve(...words, '--host', '0.0.0.0');
  const opened = await server.ask('POST /v1/sessions', {}, { authorization: `Bearer ${process.env.ANN_TOKEN}` });
  expect(opened).toMatchObject({ user: 'ann', roles: ['lead'] });
  // As a probe or another container names it.
  const probe = await request(`${server.address}/healthz`, { headers: { host: 'winnow.default.svc' } });
  expect(probe.statusCode).toBe(200);
  expect(await server.ask('POST /v1/sessions', {})).toMatchObject({ user: 'ann', roles: [] });
  expect(await server.ask('GET /v1/audit', undefined, { authorization: 'Bearer nothing' })).toMatchObject({
    status: 401,
  });
  await server.stop();
  const named = server.log.lines().find(({ msg }) => String(msg).includes("the operator's token"));
  const file = String(named?.file);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(server.log.text()).not.toContain((await readFile(file, 'utf8')).trim());
  delete process.env.ANN_TOKEN;
  const unset = 'auth.tokens[0].env: the environment variable ANN_TOKEN is not set';
  await expect(serve(...words)).rejects.toThrow(unset);
  // Before a model is fetched or opened.
  await expect(serve(...words.slice(4), '--set', 'model.file=none.gguf')).rejects.toThrow(unset);
});

it('makes a new token where others could read the old one, or have put another in its place', async () => {
  const file = at('operator-token');
  const { token } = await openOperatorToken(file);
  expect((await openOperatorToken(file)).token).toBe(token);
  await chmod(file, 0o644);
  expect((await openOperatorToken(file)).token).not.toBe(token);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await rm(file);
  await writeFile(at('planted'), `${token}\n`, { mode: 0o600 });
  await symlink(at('planted'), file);
  expect((await openOperatorToken(file)).token).not.toBe(token);
  await writeFile(file, 'short');
  await expect(openOperatorToken(file)).rejects.toThrow('shorter than a token');
});

it('says that nothing lasts where no store is named, and refuses what it can not use', async () => {
  const model = [...NO_MODEL, '--catalog', at('tools.json')];
  const trial = await serve(...model);
  expect(await trial.ask('POST /v1/sessions', {})).toMatchObject({ user: 'ann' });
  await trial.stop();
  expect(trial.log.text()).toContain('last as long as this process');
  for (const [flag, value, code] of [
    ['--store', 'mysql://host/name', 'invalid_option'],
    ['--store', at('none/agents.db'), 'store_failed'],
    ['--set', `policy=${at('none.yaml')}`, 'invalid_option'],
    ['--set', `toolsModule=${at('none.mjs')}`, 'invalid_option'],
    ['--host', '0.0.0.0', 'invalid_option'],
  ] as const) {
    const command = serveCommand({ logger: recordLog().logger }).exitOverride();
    const words = ['--port', '0', ...model, flag, value];
    await expect(command.parseAsync(words, { from: 'user' })).rejects.toMatchObject({ code });
  }
  expect(process.listenerCount('SIGTERM')).toBe(0);
});

describe('the base URL of an API that the configuration names', () => {
  const requests: string[] = [];
  const api = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.writeHead(204).end();
  });
  beforeAll(() => new Promise<void>((listening) => void api.listen(0, '127.0.0.1', () => listening())));
  afterAll(() => void api.close());

  it('is what the approver sees, and a grant holds for no other', async () => {
    const paths = { '/all': { delete: { operationId: 'deleteAll' } } };
    const document = { openapi: '3.1.0', info: {}, servers: [{ url: 'https://documented.test' }], paths };
    await writeFile(at('api.json'), JSON.stringify(document));
    const base = `http://127.0.0.1:${Object(api.address()).port}`;
    const open = (path: string) => {
      const http = { privateAddresses: ['127.0.0.1'], servers: { [at('api.json')]: `${base}${path}` } };
      return serve(...NO_MODEL, ...configured({ catalog: [at('api.json')], store: at('moved.db'), http }));
    };
    let server = await open('/old');
    const { id } = await server.ask('POST /v1/sessions', {});
    await server.ask(`POST /v1/sessions/${id}/enable`, { names: ['delete_all'] });
    const call = () => server.ask(`POST /v1/sessions/${id}/call`, { tool: 'delete_all', arguments: {} });
    const grant = async (asked: { approval?: string }) => {
      const by = { by: { user: 'olga' }, grant: 'session' };
      const operator = { 'x-winnow-user': 'olga', 'x-winnow-roles': 'operator' };
      return (await server.ask(`POST /v1/approvals/${asked.approval}/grant`, by, operator)).approval.runs;
    };
    expect(await grant(await call())).toMatchObject({ where: `DELETE ${base}/old/all` });
    process.emit('SIGHUP');
    await server.logged('the catalogue was read anew');
    expect(await call()).toMatchObject({ ok: true });
    await server.stop();
    server = await open('/new');
    const asked = await call();
    expect(asked).toMatchObject({ code: 'needs_approval' });
    expect(await grant(asked)).toMatchObject({ where: `DELETE ${base}/new/all` });
    expect(await call()).toMatchObject({ ok: true });
    expect(requests).toEqual(['DELETE /old/all', 'DELETE /new/all']);
    await server.stop();
  });
});

/** A catalogue that changes while `winnow serve` answers: read anew when it is told to, kept where it is broken. */
describe('a catalogue that changes', () => {
  const OPERATOR = { 'x-winnow-user': 'olga', 'x-winnow-roles': 'operator' };
  const tool = (name: string, description: string) => ({ name, toolType: 'builtin', risk: 'low', description });

  let folder: string;
  const at = (name: string) => join(folder, name);
  const write = (name: string, content: unknown) => writeFile(at(name), JSON.stringify(content));
  beforeEach(async () => {
    folder = temporaryFolder();
    await write('tools.json', {
      tools: [tool('greet', 'Greets.')],
      synonyms: [{ words: ['wave'], means: ['greets'] }],
    });
    await write('mcp.json', { mcpServers: {} });
    await writeFile(at('tools.mjs'), 'export const greet = () => "hello"; export const bow = () => "bowed";');
  });

  const open = (...words: string[]) =>
    serve(...NO_MODEL, '--catalog', at('tools.json'), '--set', `toolsModule=${at('tools.mjs')}`, ...words);

  async function openSession(server: Awaited<ReturnType<typeof serve>>) {
    const { id } = await server.ask('POST /v1/sessions', {});
    const search = (query: string) => server.ask(`POST /v1/sessions/${id}/search`, { query });
    const names = async (query: string) => (await search(query)).matches.map(({ name }: { name: string }) => name);
    const call = async (name: string, input = {}) => {
      await server.ask(`POST /v1/sessions/${id}/enable`, { names: [name] });
      return server.ask(`POST /v1/sessions/${id}/call`, { tool: name, arguments: input });
    };
    return { search, names, call };
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

  it('keeps the tools of a source that is broken, and the log says which', async () => {
    await write('more.json', [tool('nod', 'Nods.')]);
    const server = await open('--catalog', at('more.json'));
    const { names, call } = await openSession(server);
    await writeFile(at('tools.json'), '{ "tools": [');
    await write('more.json', [tool('blink', 'Blinks.')]);
    const { catalog } = await server.ask('POST /v1/index/rebuild', undefined, OPERATOR);
    const source = at('tools.json');
    expect(catalog).toMatchObject({ added: 1, removed: 1, kept: [{ source, reason: expect.any(String) }] });
    expect([await names('nods'), await names('blinks')]).toEqual([[], ['blink']]);
    expect(await call('greet')).toMatchObject({ ok: true });
    const msg = expect.stringContaining('stay as they');
    expect(server.log.lines()).toContainEqual(expect.objectContaining({ level: 'error', source, msg }));
    await server.stop();
  });

  it('brings new MCP servers along, so that their tools run, and says which is down without ever having been up', async () => {
    const server = await open('--catalog', `mcp:${at('mcp.json')}`);
    const fixture = { command: process.execPath, args: [resolve('fixtures/sources/mcp-server.mjs')], trust: true };
    await write('mcp.json', { mcpServers: { fixture, dead: { command: 'no-such-command-here' } } });
    const { catalog } = await server.ask('POST /v1/index/rebuild', undefined, OPERATOR);
    expect(catalog).toMatchObject({ kept: [], removed: 0, failed: [{ source: `${at('mcp.json')}#dead` }] });
    expect(catalog.added).toBeGreaterThan(0);
    const { call, search } = await openSession(server);
    // This server lists tools and knows no calls: that it refuses one shows that it was reached.
    expect(await call('fixture__search', { query: 'x' })).toMatchObject({
      code: 'tool_failed',
      reason: expect.stringContaining('The MCP server "fixture" refused the call'),
    });
    const down = [{ server: 'dead', reason: 'could not be started (ENOENT)' }];
    expect(await search('search')).toMatchObject({ down });
    expect(server.log.text()).not.toContain('stay as they were');
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
    expect([await seen(first, 'ann'), await seen(first, 'bob')]).toEqual([['greet', 'my__zebra'], ['greet']]);
    await first.stop();
    const second = await open(...store);
    expect(await seen(second, 'ann')).toEqual(['greet', 'my__zebra']);
    const { names, call } = await openSession(second);
    expect(await names('zebras')).toEqual(['my__zebra']);
    expect(await call('my__zebra')).toMatchObject({ ok: true, output: 'Draw.' });
    await second.stop();
  });
});

describe('a server that users authorize', () => {
  const KEY = randomBytes(32).toString('base64');
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0)) end();
    delete process.env.WINNOW_TOKEN_KEY;
    delete process.env.OLGAS_TOKEN;
  });

  async function write() {
    const issuer = await startAuthorizationServer();
    const { tokens, accounts } = issuer;
    const server = await startGuardedServer({ tokens, accounts, describes: { authorization_servers: [issuer.url] } });
    ends.push(issuer.close, server.close);
    const oauth = { grant: 'authorization_code', ...CLIENT, issuer: issuer.url };
    await writeFile(at('users.json'), JSON.stringify({ mcpServers: { notes: { url: server.url, oauth } } }));
    return ['--catalog', at('users.json'), '--store', at('users.db'), ...NO_MODEL];
  }

  it.each([
    ['no key', '', 'connections.tokenKey: users authorize the MCP server "notes", and there is no key'],
    [
      'a short key',
      'c2hvcnQ=',
      'connections.tokenKey: the environment variable WINNOW_TOKEN_KEY does not hold 32 bytes',
    ],
    ['callers without proof', KEY, "connections: users' own tokens need callers who prove who they are. Set auth"],
  ])('stops the start with %s', async (_, key, message) => {
    const words = await write();
    process.env.WINNOW_TOKEN_KEY = key;
    await expect(serve(...words)).rejects.toThrow(message);
  });

  it('waits for an operator, also under strict, and is there after a restart', async () => {
    const words = [...(await write()), '--set', 'strict=true'];
    Object.assign(process.env, { WINNOW_TOKEN_KEY: KEY, OLGAS_TOKEN: 'the-secret-token-of-olga' });
    const auth = { tokens: [{ env: 'OLGAS_TOKEN', user: 'olga', roles: ['operator'] }] };
    const config = configured({ auth });
    const headers = { authorization: `Bearer ${process.env.OLGAS_TOKEN}` };
    const first = await serve(...words, ...config);
    expect(first.log.text()).toContain('users.json#notes is not connected: an operator connects it first');
    expect(await first.ask('GET /v1/tools', undefined, headers)).toMatchObject({ tools: [] });
    const begun = await fetch(`${first.address}/v1/connections/notes`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
    });
    const agreed = await fetch(Object(await begun.json()).url, {
      redirect: 'manual',
      headers: { 'x-account': 'olga' },
    });
    const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? '';
    const back = await fetch(agreed.headers.get('location') ?? '', { headers: { cookie } });
    expect(await back.text()).toContain('The server "notes" is connected');
    const tools = [expect.objectContaining({ name: 'notes__nod' })];
    expect(await first.ask('GET /v1/tools', undefined, headers)).toMatchObject({ tools });
    await first.stop();
    const second = await serve(...words, ...config);
    expect(await second.ask('GET /v1/tools', undefined, headers)).toMatchObject({ tools });
    await second.stop();
  });
});
