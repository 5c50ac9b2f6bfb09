/** Servers of each revision and transport, as real processes: what is listed, called, told meanwhile and given back. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LogMessage, Progress } from '../../../../src/agents/contracts.js';
import type { AskPerson, ServerQuestion } from '../../../../src/agents/hearing.js';
import { createMcpExecutor, type McpExecutor } from '../../../../src/agents/sandbox/executors/mcp.js';
import { openMcpSession } from '../../../../src/agents/sandbox/executors/mcp-session.js';
import type { McpOfferRequest } from '../../../../src/agents/sandbox/executors/offers.js';
import { fail } from '../../../../src/agents/sandbox/failure.js';
import { createSandbox, type Sandbox, type SandboxCall } from '../../../../src/agents/sandbox/sandbox.js';
import { loadCatalog } from '../../../../src/core/catalog/load.js';
import type { McpServer } from '../../../../src/core/catalog/sources/mcp-server.js';
import { createTool } from '../../../support/create-tool.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const OLD = resolve('test/agents/sandbox/executors/mcp-call-server.mjs');
const MODERN = resolve('test/agents/sandbox/executors/mcp-modern-server.mjs');

const SERVERS = {
  '2026-07-28 on stdio': { script: MODERN, wire: 'stdio', revision: '2026-07-28' },
  '2026-07-28 on streamable HTTP': { script: MODERN, wire: 'http', revision: '2026-07-28' },
  '2025-11-25 on stdio': { script: OLD, wire: 'stdio', revision: '2025-11-25' },
  '2025-11-25 on streamable HTTP': { script: OLD, wire: 'http', revision: '2025-11-25' },
  '2025-11-25 on SSE': { script: OLD, wire: 'sse', revision: '2025-11-25', type: 'sse' },
  '2025-11-25 on SSE that nobody told of': { script: OLD, wire: 'sse', revision: '2025-11-25' },
} as const;

describe.each(Object.entries(SERVERS))('a server of %s', (_, { script, wire, revision, ...told }) => {
  const journal = join(temporaryFolder(), 'journal');
  let server: McpServer;
  let running: ChildProcess | undefined;
  let executor: McpExecutor;
  let sandbox: Sandbox;

  beforeAll(async () => {
    if (wire === 'stdio') {
      server = { command: process.execPath, args: [script, journal] };
    } else {
      running = spawn(process.execPath, [script, journal, wire], { stdio: ['ignore', 'pipe', 'inherit'] });
      if (!running.stdout) throw new Error('no stdout');
      const line = await createInterface({ input: running.stdout })[Symbol.asyncIterator]().next();
      const url = `http://127.0.0.1:${String(line.value).replace('port ', '')}/mcp`;
      server = { url, ...('type' in told ? { type: told.type } : {}) };
    }
    executor = createMcpExecutor({ notes: server });
    sandbox = createSandbox({ executors: [executor], limits: { timeoutMs: 20_000 } });
  });
  afterAll(async () => {
    await sandbox.close();
    if (!running) return;
    const exit = once(running, 'exit');
    running.kill();
    await exit;
  });

  const events = async () => (await readFile(journal, 'utf8').catch(() => '')).split('\n').filter(Boolean);

  async function until(event: string): Promise<void> {
    while (!(await events()).includes(event)) await pause(5);
  }

  function call(name: string, input: object = {}, more: Partial<SandboxCall> = {}) {
    const metadata = { mcp: { server: 'notes', tool: name } };
    const tool = createTool(name, {}, undefined, { toolType: 'mcp', risk: 'high', metadata });
    return sandbox.run({ tool, arguments: input, ...more });
  }

  it('that asks gets what the person of the call said; where there is none it is declined, with a note', async () => {
    const requestedSchema = { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] };
    const form = { mode: 'form', message: 'Which\nday?', requestedSchema };
    const asked: ServerQuestion[] = [];
    const onQuestion: AskPerson = async (question) => {
      asked.push(question);
      return { action: 'accept', content: { day: 'Monday' } };
    };
    const answered = await call('ask', form, { onQuestion });
    expect(answered).toMatchObject({ output: { action: 'accept', content: { day: 'Monday' } }, notes: [] });
    expect(asked).toEqual([{ server: 'notes', message: 'Which day?', requestedSchema }]);
    expect(await call('ask', form)).toMatchObject({
      output: { action: 'decline' },
      notes: ['The MCP server "notes" asked, and was declined: no person can be asked on the way of this call.'],
    });
  });

  it('that asks more than anybody answers is refused, and nobody is asked', async () => {
    let asked = 0;
    const onQuestion: AskPerson = async () => {
      asked += 1;
      return { action: 'decline' };
    };
    if (revision < '2026') return;
    const reason = expect.stringContaining('it asks its client for 21 answers at once');
    expect(await call('ask_much', {}, { onQuestion })).toMatchObject({ ok: false, reason });
    expect(asked).toBe(0);
  });

  it('is decided on again each time it is sent, and may have run where it is refused after an answer', async () => {
    let times = 0;
    const findRefusal = async () => {
      times += 1;
      return times === 1 ? undefined : fail('not_started', 'It is denied by now.');
    };
    const decided = { risk: 'high', isApproved: true, findRefusal } as const;
    const form = { mode: 'form', message: 'Which day?', requestedSchema: { type: 'object', properties: {} } };
    const result = await call('ask', form, { decided, onQuestion: async () => ({ action: 'decline' }) });
    // Before 2026-07-28, an answer to a question is no second call.
    const refused = { code: 'cancelled', reason: 'The call was stopped before its end: It is denied by now.' };
    expect(result).toMatchObject(revision < '2026' ? { ok: true } : refused);
    expect(await call('pid', {}, { decided })).toMatchObject({ code: 'not_started' });
  });

  it('is spoken to in its newest revision', async () => {
    const session = await openMcpSession(server, { connectTimeoutMs: 20_000 });
    expect(session.client.getNegotiatedProtocolVersion()).toBe(revision);
    expect(session.way).toEqual({ wire, era: revision < '2026' ? 'legacy' : 'modern' });
    await session.close();
    expect(session.isOpen()).toBe(false);
  });

  it('lists its tools', async () => {
    const { catalog } = await loadCatalog({ sources: [{ kind: 'mcp', servers: { notes: server } }] });
    expect(catalog.tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['notes__structured', 'notes__pid']));
  });

  it('answers with content as it came, structured content and _meta', async () => {
    expect(await call('structured', { a: 1 })).toMatchObject({ output: { got: { a: 1 } }, isStructured: true });
    const mixed = await call('mixed');
    expect(mixed).toMatchObject({ ok: true, output: { level: 3 }, meta: { 'example.com/trace': 'abc' } });
    expect(mixed.content?.map(({ type }) => type)).toEqual([
      ...['text', 'image', 'audio', 'resource_link', 'resource', 'resource'],
    ]);
    expect(await call('error_picture')).toMatchObject({
      code: 'tool_failed',
      content: [{}, { type: 'image', data: 'iVBORw0KGgo=', annotations: { audience: ['user'] } }],
      meta: { 'example.com/trace': 'abc' },
    });
    expect(await call('refuse')).toMatchObject({ ok: false, reason: expect.stringContaining('unknown note') });
  });

  it('is asked for resources, templates, prompts and completions', async () => {
    const ref = { type: 'ref/prompt', name: 'sum_up' };
    const rows: readonly [McpOfferRequest, object][] = [
      [{ method: 'resources/list' }, { resources: [{ uri: 'note:///a' }, { uri: 'note:///b' }] }],
      [{ method: 'resources/templates/list' }, { resourceTemplates: [{ uriTemplate: 'note:///{name}' }] }],
      [
        { method: 'resources/read', params: { uri: 'note:///a' } },
        { contents: [{ uri: 'note:///a', mimeType: 'text/plain', text: 'the text of note:///a' }] },
      ],
      [{ method: 'prompts/list' }, { prompts: [{ name: 'sum_up' }] }],
      [
        { method: 'prompts/get', params: { name: 'sum_up', arguments: { note: 'a' } } },
        { messages: [{ role: 'user', content: { type: 'text', text: 'Sum up a' } }] },
      ],
      [
        { method: 'completion/complete', params: { ref, argument: { name: 'note', value: 'a' } } },
        { completion: { values: ['alpha'] } },
      ],
    ];
    for (const [request, result] of rows)
      expect(await executor.offers.ask('notes', request)).toMatchObject({ ok: true, result });
    expect(await executor.offers.ask('other', { method: 'prompts/list' })).toMatchObject({ code: 'not_runnable' });
    const wrong = await executor.offers.ask('notes', { method: 'resources/read', params: {} });
    expect(wrong).toMatchObject({ code: 'tool_failed', reason: expect.stringContaining('refused the call') });
  });

  it('tells its progress and what it logs, and hears of a cancellation', async () => {
    const told: (Progress | LogMessage)[] = [];
    const hear = (one: Progress | LogMessage) => void told.push(one);
    await call('slow', { steps: 2, pauseMs: 0 }, { onProgress: hear });
    await call('chatty', { words: 'slow disk' }, { onLog: hear });
    expect(told).toEqual([
      { progress: 1, total: 2, message: 'step 1' },
      { progress: 2, total: 2, message: 'step 2' },
      { level: 'warning', logger: 'db', data: { words: 'slow disk' } },
    ]);
    const { output: pid } = Object(await call('pid'));
    const controller = new AbortController();
    const hanging = call('hang', {}, { signal: controller.signal });
    await until('call hang');
    controller.abort();
    expect(await hanging).toMatchObject({ ok: false, code: 'cancelled' });
    await until('cancelled');
    // The connection stays.
    expect(await call('pid')).toMatchObject({ ok: true, output: pid });
  });

  if (wire === 'sse') {
    it('whose one stream ends in a call is opened anew by the next', async () => {
      const seen = (await events()).length;
      const hanging = call('hang');
      while (!(await events()).slice(seen).includes('call hang')) await pause(5);
      if ('url' in server) await fetch(new URL('/drop', server.url));
      expect(await hanging).toMatchObject({ ok: false, code: 'connection_lost' });
      expect(await call('empty')).toMatchObject({ ok: true });
    });
  }
});

describe('the first question to a process', () => {
  const SERVER = resolve('fixtures/sources/mcp-server.mjs');
  const realTimeout = globalThis.setTimeout;
  // The silence is waited for, but not for as long.
  const faster = (work: () => void, ms?: number) => realTimeout(work, ms === 5_000 ? 50 : ms);
  beforeEach(() => void vi.spyOn(globalThis, 'setTimeout').mockImplementation(faster as typeof setTimeout));
  afterEach(() => void vi.restoreAllMocks());

  /** Reads what it is sent, and becomes the real server only when the first line is as it wants it. */
  const picky = (otherwise: string) => `
    const { createInterface } = require('readline');
    const { spawn } = require('child_process');
    let server;
    createInterface({ input: process.stdin })
      .on('line', (line) => {
        if (!server && !line.includes('"initialize"')) return ${otherwise};
        server ??= spawn(process.execPath, [process.argv[1], 'notes'], { stdio: ['pipe', 'inherit', 'inherit'] });
        server.stdin.write(line + '\\n');
      })
      .on('close', () => (server ? server.stdin.end() : process.exit()));
  `;

  it.each([
    ['ends at it', 'process.exit(1)'],
    ['is silent about it', 'undefined'],
    ['answers nonsense to it', 'process.stdout.write("no JSON at all\\n")'],
  ])('is of 2026-07-28: one of before that %s is read all the same', async (_, otherwise) => {
    const server = { command: process.execPath, args: ['-e', picky(otherwise), SERVER] };
    const { catalog } = await loadCatalog({ sources: [{ kind: 'mcp', servers: { notes: server } }] });
    expect(catalog.tools).toHaveLength(3);
  });

  it('is asked once more where it was not answered in time by one that knows nothing older', async () => {
    const journal = join(temporaryFolder(), 'journal');
    const late = `setTimeout(() => import(${JSON.stringify(MODERN)}), 500)`;
    const notes = { command: process.execPath, args: ['--input-type=module', '-e', late, 'script', journal] };
    const session = await openMcpSession(notes, { connectTimeoutMs: 20_000 });
    expect(session.way).toEqual({ wire: 'stdio', era: 'modern' });
    await session.close();
  });
});

describe('a server that offers nothing but tools', () => {
  it('has empty lists, and refuses the rest by name', async () => {
    const notes = { command: process.execPath, args: [resolve('fixtures/sources/mcp-server.mjs'), 'notes'] };
    const executor = createMcpExecutor({ notes });
    expect(await executor.offers.ask('notes', { method: 'resources/list' })).toEqual({
      ok: true,
      result: { resources: [] },
    });
    expect(await executor.offers.ask('notes', { method: 'prompts/get', params: { name: 'a' } })).toMatchObject({
      code: 'tool_failed',
      reason: 'The MCP server "notes" refused the call: it offers no prompts',
    });
    await executor.close?.();
  });
});

describe('a server of 2026-07-28 that lies', () => {
  let server: Server | undefined;
  afterEach(() => server?.close().closeAllConnections());

  const discovered = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ttlMs: 0, cacheScope: 'public' };
  async function serve(answers: Record<string, object>): Promise<string> {
    const all = { 'server/discover': discovered, ...answers };
    server = createServer(async (request, response) => {
      const { id, method } = Object(await json(request));
      const result = { resultType: 'complete', ...Object(all)[String(method)] };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${Object(server.address()).port}/`;
  }

  it('loses each tool whose arguments can not be sent as its headers, and says which', async () => {
    const mark = (name: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': name });
    const schemas: Record<string, object> = {
      good: { properties: { a: mark('Region'), b: { properties: { c: mark('Zone', 'integer') } } } },
      named: { properties: { 'x-mcp-header': { type: 'string' } } },
      empty: { properties: { a: mark('') } },
      spaced: { properties: { a: mark('a b') } },
      number: { properties: { a: mark('Level', 'number') } },
      twice: { properties: { a: mark('Region'), b: mark('region') } },
      item: { properties: { a: { type: 'array', items: mark('Region') } } },
      branch: { properties: { a: { anyOf: [{ properties: { b: mark('Region') } }] } } },
      root: mark('Region', 'object'),
    };
    const tools = Object.entries(schemas).map(([name, schema]) => ({
      name,
      inputSchema: { type: 'object', ...schema },
    }));
    const url = await serve({ 'tools/list': { tools } });
    const { catalog, issues } = await loadCatalog({ sources: [{ kind: 'mcp', servers: { bad: { url } } }] });
    expect(catalog.tools.map(({ name }) => name)).toEqual(['bad__good', 'bad__named']);
    const left = issues.filter(({ isLeftOut, message }) => isLeftOut && message.startsWith('left out: x-mcp-header '));
    expect(left.map(({ name }) => name)).toEqual(Object.keys(schemas).slice(2));
  });

  it('loses the tool, or the block, that is of no form, and nothing else', async () => {
    const url = await serve({
      'tools/list': { tools: [{ name: 'note' }, { name: 7 }, 'none'], nextCursor: null },
      'tools/call': { content: [{ type: 'hologram' }, { type: 'text', text: 'words', extra: 1 }] },
    });
    const servers = { bad: { url } };
    const { catalog } = await loadCatalog({ sources: [{ kind: 'mcp', servers }] });
    expect(catalog.tools.map(({ name }) => name)).toEqual(['bad__note']);
    const sandbox = createSandbox({ executors: [createMcpExecutor(servers)] });
    const [tool] = catalog.tools;
    const result = tool && (await sandbox.run({ tool, arguments: {} }));
    expect(result).toMatchObject({
      ok: true,
      content: [
        { type: 'text', text: expect.stringContaining('"hologram"') },
        { type: 'text', text: 'words', extra: 1 },
      ],
    });
    await sandbox.close();
  });
});
