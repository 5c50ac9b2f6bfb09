/** winnow serve: how it starts and stops, and what it wires together: an API, MCP, the second opinion on a search, rules. */
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { serveCommand } from '../../src/cli/commands/serve.js';
import { openClient } from '../adapters/mcp/setup.js';
import { type PetApi, startPetApi } from '../agents/sandbox/executors/http/pet-api.js';
import { type Behaviour, type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { answerJson, fail } from '../support/server-behaviours.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { runHere } from './run-here.js';
import { configured, NO_MODEL, serve } from './serve-setup.js';

// The first test of a run loads the model client.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

describe('winnow serve', () => {
  const PLAN = { kind: 'clarification', question: 'Which one?', missing: ['station'] };
  const ask = (address: string) =>
    fetch(`${address}/v1/plan`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"message": "Water level?"}',
    });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'listens on this machine alone, says so first, answers by the model, and stops by %s',
    async (signal) => {
      const model = await startScriptedServer(() => answerJson(PLAN));
      const { address, stdout, log, stop } = await serve('--base-url', model.baseUrl, '--model', 'scripted');
      expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect(stdout.read()).toBeNull();
      expect(log.lines()[0]).toMatchObject({ level: 'info', msg: 'listening', address });
      expect(await (await ask(address)).json()).toMatchObject(PLAN);
      await stop(signal);
      await model.close();
      await expect(fetch(`${address}/healthz`)).rejects.toThrow('fetch failed');
      expect([process.listenerCount('SIGINT'), process.listenerCount('SIGTERM')]).toEqual([0, 0]);
    },
  );

  it('says first where it listens, and on stderr alone, though there was something to tell of the sources', async () => {
    const folder = temporaryFolder();
    const catalog = join(folder, 'tools.json');
    await writeFile(catalog, JSON.stringify([{ name: 'read_level', toolType: 'builtin' }, { name: '__proto__' }]));
    const sources = ['--catalog', catalog, '--catalog', join(folder, 'none.json')];
    let told = '';
    const stdout = vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
    const stderr = vi.spyOn(process.stderr, 'write');
    const ready = new Promise<void>((resolve) => {
      stderr.mockImplementation((text) => {
        told += text;
        if (told.includes('as long as this process')) resolve();
        return true;
      });
    });
    const done = serveCommand().parseAsync(['--port', '0', ...NO_MODEL, ...sources], { from: 'user' });
    await Promise.race([ready, done]);
    process.emit('SIGTERM');
    await done.finally(() => stderr.mockRestore());
    expect(stdout).not.toHaveBeenCalled();
    stdout.mockRestore();
    const [first = '', ...others] = told.trim().split('\n');
    expect(JSON.parse(first)).toMatchObject({ msg: 'listening', address: expect.stringMatching(/^http:.*:\d+$/u) });
    expect(others.join('\n')).toContain('name: this name is not allowed');
    expect(others.join('\n')).toContain("none.json can't be found");
  });

  it.each(['serve', 'mcp'])('is refused without tools: %s says how to name them', async (name) => {
    const { error, stdout } = await runHere([name]);
    expect(stdout).toBe('');
    expect(error).toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/^No tools are named\..*--catalog.*winnow\.yaml/u),
    });
  });

  it('says which port is taken, and what is wrong with its sources all the same', async () => {
    const catalog = join(temporaryFolder(), 'tools.json');
    await writeFile(catalog, JSON.stringify([{ name: 'read_level', toolType: 'builtin' }, { name: '__proto__' }]));
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const port = String(Object(other.address()).port);
    const { stderr, error } = await runHere(['serve', '--port', port, ...NO_MODEL, '--catalog', catalog]);
    const message = expect.stringContaining(`Cannot listen on 127.0.0.1, port ${port} (EADDRINUSE)`);
    expect(error).toMatchObject({ code: 'invalid_option', message });
    expect(stderr).toContain('this name is not allowed');
    other.close();
  });

  it('hands its limits to the server', async () => {
    const { address, stop } = await serve(...NO_MODEL, ...configured({ server: { bodyLimitBytes: 10 } }));
    expect((await ask(address)).status).toBe(413);
    await stop();
  });

  it.each(['65536', 'x'])('refuses port %s', async (port) => {
    const { stderr, exitCode } = await runHere(['serve', '--port', port]);
    expect([stderr, exitCode]).toEqual([expect.stringContaining('must be a whole number from 0 to 65535'), 2]);
  });
});

/** The operations of an OpenAPI document through `winnow serve`: found, approved where they write, sent with their secret. */
describe('the tools of an API', () => {
  let folder: string;
  let api: PetApi;
  const at = (name: string) => join(folder, name);
  beforeAll(async () => {
    folder = temporaryFolder();
    api = await startPetApi();
    const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
    const body = {
      content: { 'application/json': { schema: { type: 'object', properties: { name: { type: 'string' } } } } },
    };
    const paths = {
      '/pets/{id}': {
        get: { operationId: 'getPet', summary: 'Look a pet up', parameters: [id] },
        delete: { operationId: 'sellPet', summary: 'Sell a pet for good', parameters: [id] },
        put: { operationId: 'rename_pet', summary: 'Give a pet a name', parameters: [id], requestBody: body },
      },
      '/secret': { get: { operationId: 'owner', summary: 'Whose shop it is', security: [{ key: [] }] } },
    };
    const components = { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } };
    const document = { openapi: '3.1.0', info: { title: 'Pets', version: '1' }, servers: [{ url: api.base }], paths };
    await writeFile(at('pets.json'), JSON.stringify({ ...document, components }));
    const http = { privateAddresses: ['127.0.0.1'], secrets: { [api.base]: { key: 'PET_SHOP_KEY' } } };
    await writeFile(at('winnow.json'), JSON.stringify({ catalog: ['openapi:pets.json'], http }));
    process.env.PET_SHOP_KEY = 'woof-key-1';
  });
  afterAll(async () => {
    delete process.env.PET_SHOP_KEY;
    await api.close();
  });

  it('go from a search to the request at the API, and back', async () => {
    const server = await serve(...NO_MODEL, '--config', at('winnow.json'));
    const { id } = await server.ask('POST /v1/sessions', {});
    const session = `/v1/sessions/${id}`;
    const call = (tool: string, input: object) => server.ask(`POST ${session}/call`, { tool, arguments: input });
    const { matches } = await server.ask(`POST ${session}/search`, { query: 'look up a pet' });
    expect(matches[0]).toMatchObject({ name: 'get_pet', risk: 'low' });
    const names = ['get_pet', 'rename_pet', 'sell_pet', 'owner'];
    expect((await server.ask(`POST ${session}/enable`, { names })).rejected).toEqual([]);
    expect(await call('get_pet', { id: 'rex/1' })).toMatchObject({ ok: true, output: { id: 'rex/1' } });
    expect(await call('rename_pet', { id: '7', name: 'Rex' })).toMatchObject({ ok: true, output: { id: '7' } });
    expect(await call('get_pet', {})).toMatchObject({ ok: false, code: 'invalid_arguments' });
    const { code, approval } = await call('sell_pet', { id: '7' });
    expect(code).toBe('needs_approval');
    const sent = () => api.requests.map(({ method, url }) => `${method} ${url}`);
    expect(sent()).toEqual(['GET /pets/rex%2F1', 'PUT /pets/7']);
    await server.ask(
      `POST /v1/approvals/${approval}/grant`,
      {},
      { 'x-winnow-user': 'bob', 'x-winnow-roles': 'operator' },
    );
    expect(await call('sell_pet', { id: '7' })).toMatchObject({ ok: true });
    expect(sent().at(-1)).toBe('DELETE /pets/7');
    expect(JSON.parse(api.requests[1]?.body ?? '')).toEqual({ name: 'Rex' });

    const owner = await call('owner', {});
    expect(api.requests.at(-1)?.headers.authorization).toBe('Bearer woof-key-1');
    expect(owner.ok).toBe(true);
    expect(server.log.text()).not.toContain('woof-key-1');
    expect(server.log.text()).not.toContain('is not set');
    await server.stop();
  });

  it('are told at the start where the variable of their secret is not set', async () => {
    const secrets = { [api.base]: { key: 'PET_SHOP_KEY', login: 'PET_SHOP_LOGIN' } };
    await writeFile(at('unset.json'), JSON.stringify({ catalog: ['openapi:pets.json'], http: { secrets } }));
    const server = await serve(...NO_MODEL, '--config', at('unset.json'));
    const told = server.log.lines().filter(({ msg }) => String(msg).includes('is not set'));
    expect(told).toMatchObject([
      {
        level: 'warn',
        variable: 'PET_SHOP_LOGIN',
        api: api.base,
        msg: `the variable PET_SHOP_LOGIN is not set: calls of ${api.base} that need "login" fail`,
      },
    ]);
    expect(server.log.text()).not.toContain('woof-key-1');
    await server.stop();
  });

  it('reach no private address that the operator has not named', async () => {
    const server = await serve(...NO_MODEL, '--catalog', `openapi:${at('pets.json')}`);
    const { id } = await server.ask('POST /v1/sessions', {});
    await server.ask(`POST /v1/sessions/${id}/enable`, { names: ['get_pet'] });
    const before = api.requests.length;
    const refused = await server.ask(`POST /v1/sessions/${id}/call`, { tool: 'get_pet', arguments: { id: '1' } });
    expect(refused).toMatchObject({ ok: false, code: 'address_refused' });
    expect(api.requests).toHaveLength(before);
    await server.stop();
  });
});

/** `winnow serve` with MCP under `/mcp`: what its flags wire together. */
describe('winnow serve at /mcp', () => {
  async function open(...words: string[]) {
    const catalog = ['--catalog', resolve('fixtures/catalogs/assistant.json')];
    const { address, stop } = await serve(...NO_MODEL, ...catalog, ...words);
    return { url: `${address}/mcp`, stop };
  }

  async function statusFor(url: string, headers: Record<string, string>): Promise<number | undefined> {
    const sent = request(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } });
    sent.end('{}');
    const [response] = await once(sent, 'response');
    response.resume();
    await once(response, 'close');
    return response.statusCode;
  }

  it('serves clients with their private tools, under the names that are wanted, and stops while one listens', async () => {
    const { url, stop } = await open(...configured({ mcp: { toolPrefix: 'w_' } }));
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { 'x-winnow-user': 'ann' } },
    });
    const { names } = await openClient(transport as Transport);
    expect((await names()).slice(0, 6)).toEqual(
      ['tool_search', 'tool_enable', 'tool_disable', 'tool_call', 'plan', 'select'].map((name) => `w_${name}`),
    );
    await stop();
  });

  it('is reached under the names of this machine, under others where the configuration says so, and not at all without it', async () => {
    const own = await open();
    expect(await statusFor(own.url, {})).toBe(400);
    expect(await statusFor(own.url, { host: 'tools.example' })).toBe(403);
    await own.stop();
    const named = await open(...configured({ server: { hostNames: ['tools.example'] } }));
    expect(await statusFor(named.url, { host: 'tools.example', origin: 'https://tools.example' })).toBe(400);
    expect(await statusFor(named.url, { origin: 'https://evil.example' })).toBe(403);
    await named.stop();
    const none = await open(...configured({ mcp: { http: false } }));
    expect(await statusFor(none.url, {})).toBe(404);
    await none.stop();
  });
});

/** `rerank` of `winnow serve`: which model orders what a search found, and what is left when it does not. */
describe('a second opinion on a search', () => {
  const tool = (name: string) => ({ name, toolType: 'builtin', risk: 'low', description: `A ${name} of the garden.` });
  const opinion = { intent: 'dig', top_k_tools: ['spade'], confidence: 0.8, need_clarification: false };

  let folder: string;
  const at = (name: string) => join(folder, name);
  beforeAll(async () => {
    folder = temporaryFolder();
    await writeFile(at('tools.json'), JSON.stringify([tool('hose'), tool('rake'), tool('spade')]));
  });

  const models: ScriptedServer[] = [];
  afterEach(async () => {
    for (const model of models.splice(0)) await model.close();
  });

  async function startModel(behaviour: Behaviour) {
    const model = await startScriptedServer(() => behaviour);
    models.push(model);
    return model;
  }

  async function searchWith({ baseUrl }: ScriptedServer, ...words: string[]) {
    const server = await serve('--base-url', baseUrl, '--model', 'big', '--catalog', at('tools.json'), ...words);
    const { id } = await server.ask('POST /v1/sessions', {});
    const found = await server.ask(`POST /v1/sessions/${id}/search`, { query: 'garden' });
    await server.stop();
    return { ...found, first: found.matches[0].name, log: server.log };
  }

  const ON = configured({ rerank: { enabled: true } });
  const modelsAsked = ({ requests }: ScriptedServer) => requests.map(({ body }) => body.model);

  it('asks the model that plans, where it is switched on', async () => {
    const model = await startModel(answerJson(opinion));
    expect(await searchWith(model)).toMatchObject({ ranked_by: 'rules', first: 'hose' });
    expect(modelsAsked(model)).toEqual([]);
    const asked = await searchWith(model, ...ON, '--set', `callLog=${at('calls.jsonl')}`);
    expect(asked).toMatchObject({ ranked_by: 'model', first: 'spade', confidence: 0.8 });
    expect(modelsAsked(model)).toEqual(['big']);
    expect(await readFile(at('calls.jsonl'), 'utf8')).toContain('"promptName":"rerank-tools"');
    const unsure = await searchWith(model, ...configured({ rerank: { enabled: true, minConfidence: 0.9 } }));
    expect(unsure).toMatchObject({ ranked_by: 'rules', degraded: expect.stringContaining('0.8 is below 0.9') });
  });

  it('may have a model of its own, which is opened only where it is asked', async () => {
    const big = await startModel(fail(500, 'the big one is not asked'));
    const small = await startModel(answerJson(opinion));
    const own = { rerank: { enabled: true, model: { baseUrl: small.baseUrl, name: 'small' } } };
    expect(await searchWith(big, ...configured(own))).toMatchObject({ ranked_by: 'model' });
    expect([modelsAsked(big), modelsAsked(small)]).toEqual([[], ['small']]);
  });

  it('leaves the order of the rules when the model fails, and the log knows more than the agent', async () => {
    const model = await startModel(fail(401, 'key sk-77 is bad'));
    const { log, ...refused } = await searchWith(model, ...ON);
    const degraded = expect.stringMatching(/^model_refused/u);
    expect(refused).toMatchObject({ ranked_by: 'rules', first: 'hose', degraded });
    expect(JSON.stringify(refused)).not.toContain('sk-77');
    expect(log.lines()).toContainEqual(expect.objectContaining({ level: 'warn', code: 'model_refused' }));
  });

  it('refuses a model without a name', async () => {
    const rerank = { enabled: true, model: { baseUrl: 'http://127.0.0.1:9/v1' } };
    const words = [...NO_MODEL, '--catalog', at('tools.json'), ...configured({ rerank })];
    await expect(serve(...words)).rejects.toThrow(/rerank\.model\.name/u);
  });
});

/** Rules kept on a running `winnow serve`: they count at once over HTTP and MCP, and after a restart. */
describe('the rules of an operator', () => {
  const OPERATOR = { 'x-winnow-user': 'olga', 'x-winnow-roles': 'operator' };
  const ASKED = { message: 'Say hello' };
  const tool = (name: string, description: string) => ({ name, toolType: 'builtin', risk: 'low', description });

  let folder: string;
  let model: ScriptedServer;
  const at = (name: string) => join(folder, name);
  beforeAll(async () => {
    folder = temporaryFolder();
    await writeFile(at('tools.json'), JSON.stringify([tool('greet', 'Greets.'), tool('bow', 'Bows deeply.')]));
    model = await startScriptedServer(() => answerJson({ selected_tools: ['greet'], reason: 'it greets' }));
  });
  afterAll(async () => {
    await model.close();
  });

  const open = () =>
    serve(
      ...['--catalog', at('tools.json'), '--store', at('agents.db'), '--base-url', model.baseUrl, '--model', 'm'],
      ...['passthroughTools=0', 'fillTokens=0'].flatMap((option) => ['--set', option]),
    );
  const namesOf = ({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name);

  it('count at once, over HTTP and MCP and after a restart, and what is wrong with one is told once', async () => {
    const first = await open();
    const select = async (server: typeof first) => namesOf(await server.ask('POST /v1/select', ASKED));
    const { client, ask } = await openClient(new StreamableHTTPClientTransport(new URL(`${first.address}/mcp`)));
    expect([await select(first), namesOf(await ask('select', ASKED))]).toEqual([['greet'], ['greet']]);
    const rule = { when: { message: 'hello' }, first: ['bow', 'ghost'] };
    const put = await first.ask('PUT /v1/rules/bow-first', rule, OPERATOR);
    expect(put).toMatchObject({ name: 'bow-first', unknownTools: ['ghost'] });
    expect([await select(first), namesOf(await ask('select', ASKED))]).toEqual([
      ['bow', 'greet'],
      ['bow', 'greet'],
    ]);
    await client.close();
    await first.stop();

    const second = await open();
    expect(await select(second)).toEqual(['bow', 'greet']);
    const told = (server: typeof first) => server.log.lines().filter(({ entry }) => entry === 'kept rule');
    for (const server of [first, second])
      expect(told(server)).toMatchObject([
        { level: 'warn', msg: 'kept rule bow-first: no tool of the system is named "ghost"' },
      ]);
    await second.ask('DELETE /v1/rules/bow-first', undefined, OPERATOR);
    expect(await select(second)).toEqual(['greet']);
    await second.stop();
  });
});
