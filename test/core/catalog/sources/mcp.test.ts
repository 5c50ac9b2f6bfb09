import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type LoadedCatalog, loadCatalog } from '../../../../src/core/catalog/load.js';
import { mcpFormat } from '../../../../src/core/catalog/sources/mcp.js';
import type { McpServer } from '../../../../src/core/catalog/sources/mcp-server.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const SCRIPT = resolve('fixtures/sources/mcp-server.mjs');
const CONTEXT = { timeoutMs: 20_000 };
const stdio = (set: string): McpServer => ({ command: process.execPath, args: [SCRIPT, set] });
const offering = (...tools: object[]): McpServer => stdio(JSON.stringify(tools));
const named = (...names: string[]): McpServer => offering(...names.map((name) => ({ name })));

async function read(servers: Record<string, McpServer>, context = CONTEXT) {
  const { catalog, issues, failures } = await loadCatalog({ sources: [{ kind: 'mcp', servers }], ...context });
  return { tools: catalog.tools, names: catalog.tools.map(({ name }) => name), issues, failures };
}

describe('an MCP configuration', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });

  async function readWith(args: string[], variable?: (name: string) => string | undefined) {
    const path = join(folder, 'mcp.json');
    await writeFile(path, JSON.stringify({ mcpServers: { desk: { command: process.execPath, args } } }));
    return loadCatalog({ sources: [`mcp:${path}`], ...CONTEXT, variable });
  }

  it.each([
    ['a variable', ['${SCRIPT}', 'notes'], 'SCRIPT'],
    ['a default', [SCRIPT, '${SET:-notes}'], ''],
  ])('takes %s', async (_, args, name) => {
    const { catalog } = await readWith(args, (asked) => (asked === name ? SCRIPT : undefined));
    expect(catalog.tools).toHaveLength(3);
  });
});

describe('an MCP server on stdio', () => {
  let three: Awaited<ReturnType<typeof read>>;
  beforeAll(async () => {
    three = await read({
      notes: { ...stdio('notes'), trust: true },
      desk: stdio('tickets'),
      'help desk': named('search'),
    });
  });

  it('is read to its last page, with annotations and output schemas', () => {
    const { tools } = three;
    const ofNotes = tools.slice(0, 3);
    expect(ofNotes.map(({ name, title, risk, toolType, origin }) => [name, title, risk, toolType, origin])).toEqual([
      ['notes__search', 'Search notes', 'low', 'mcp', 'notes'],
      ['notes__delete_note', undefined, 'high', 'mcp', 'notes'],
      ['notes__create_note', undefined, 'high', 'mcp', 'notes'],
    ]);
    expect(tools[0]).toMatchObject({
      inputSchema: { required: ['query'] },
      outputSchema: { properties: { ids: { type: 'array' } } },
      metadata: { mcp: { server: 'notes', tool: 'search' }, annotations: { readOnlyHint: true } },
    });
  });

  it("can't make its tools always-on: what MCP does not know stays in metadata", () => {
    const { tools } = three;
    expect(tools[1]).toMatchObject({ name: 'notes__delete_note', alwaysLoad: false, metadata: { alwaysLoad: true } });
  });

  it('loses only the tool whose schema is unusable', () => {
    const { names, issues } = three;
    expect(names.slice(3, 5)).toEqual(['desk__search', 'desk__open_ticket']);
    expect(issues).toMatchObject([{ level: 'warning', entry: 'mcp#desk[2]', name: 'desk__broken' }]);
  });

  it('has its name before the names of its tools, and keeps their own', () => {
    const { tools, names } = three;
    expect(names.slice(5)).toEqual(['help_desk__search']);
    expect(tools[5]?.metadata.mcp).toMatchObject({ server: 'help desk', tool: 'search' });
  });

  it('may go without its prefix, but not with a name in the form of another', async () => {
    const { names } = await read({ notes: { ...named('search', 'github__search'), prefix: false } });
    expect(names).toEqual(['search', 'notes__github__search']);
  });

  it('has a name of its own: it is what stands before the first __', async () => {
    const rows = [
      ['github__', 'x', 'github'],
      ['__hub', 'x', 'hub'],
      ['github__weather', 'x', 'github_weather'],
      ['git', '_hub__x', 'git'],
      ['weather', 'github__x', 'weather'],
      ['查询/水 库', 'x', '查询_水_库'],
      ['!', 'x', 'server'],
    ] as const;
    const { names } = await read(Object.fromEntries(rows.map(([server, tool]) => [server, named(tool)])));
    expect(names).toEqual(rows.map(([, tool, before]) => `${before}__${tool}`));
  });

  it('loses, with a warning, the tools whose names are not free, and starts all the same', async () => {
    const sources = [
      {
        kind: 'mcp' as const,
        servers: { a: { ...named('file_read', 'two', 'two'), prefix: false }, my: named('own') },
      },
      { kind: 'tools' as const, name: 'files', tools: [{ name: 'file_read' }, { name: 'my__notes' }] },
    ];
    const { catalog, issues } = await loadCatalog({ sources, ...CONTEXT });
    expect(catalog.tools.map(({ name, origin }) => [name, origin])).toEqual([
      ['two', 'a'],
      ['file_read', 'files'],
    ]);
    expect(issues.filter(({ level }) => level === 'warning').map(({ name, message }) => [name, message])).toEqual([
      ['file_read', 'left out: files[0] has a tool of this name'],
      ['two', 'left out: mcp#a[1] has a tool of this name'],
      ['my__own', expect.stringContaining('begin with my__')],
      ['my__notes', expect.stringContaining('begin with my__')],
    ]);
  });

  it('does not lower the risk of its tools by its own word', async () => {
    const reads = { readOnlyHint: true };
    const rows = [
      ['says nothing', undefined, undefined, 'high'],
      ['says that it reads', undefined, reads, 'high'],
      ['is trusted and says that it reads', true, reads, 'low'],
      ['is trusted and says that it destroys nothing', true, { destructiveHint: false }, 'medium'],
      ['is trusted and says nothing', true, undefined, 'high'],
      ['is trusted and contradicts itself', true, { ...reads, destructiveHint: true }, 'high'],
    ] as const;
    const servers = rows.map(([name, trust, annotations]): [string, McpServer] => [
      name,
      { ...offering({ name: 'a', ...(annotations ? { annotations } : {}) }), ...(trust ? { trust } : {}) },
    ]);
    const { tools } = await read(Object.fromEntries(servers));
    expect(tools.map(({ risk, origin, metadata }) => [origin, metadata.annotations, risk])).toEqual(
      rows.map(([name, , annotations, risk]) => [name, annotations, risk]),
    );
  });

  it('can not name a risk, an origin or a target of its own', async () => {
    const metadata = { mcp: { server: 'b', tool: 'x', target: '' }, http: {} };
    const { tools } = await read({ a: offering({ name: 'a', risk: 'low', origin: 'b', scope: {}, metadata }) });
    expect(tools).toMatchObject([{ risk: 'high', origin: 'a', metadata: { mcp: { server: 'a', tool: 'a' } } }]);
    expect(tools[0]?.metadata).not.toHaveProperty('http');
  });

  it('has another target where its calls would go elsewhere, whatever its keys', async () => {
    const servers: McpServer[] = [named('a'), { ...named('a'), trust: true }, { ...named('a'), env: { AT: 'b' } }];
    const targets = [];
    for (const server of servers) targets.push(Object((await read({ a: server })).tools[0]?.metadata.mcp).target);
    expect(targets[1]).toBe(targets[0]);
    expect(targets[2]).not.toBe(targets[0]);
  });

  it('fails alone: the others are there, and the failure names it and shows no key', async () => {
    const env = { NOTES_KEY: 'very-secret' };
    const encodes = 'process.stderr.write(btoa(process.env.NOTES_KEY))';
    const { names, failures } = await read({
      notes: stdio('notes'),
      crash: { command: process.execPath, args: [SCRIPT, 'crash'], env },
      none: { command: 'no-such-command-here' },
      endless: stdio('endless'),
      encodes: { command: process.execPath, args: ['-e', encodes], env },
    });
    expect(names).toEqual(['notes__search', 'notes__delete_note', 'notes__create_note']);
    expect(failures.map(({ source, error }) => [source, error.code])).toEqual([
      ['mcp#crash', 'source_failed'],
      ['mcp#none', 'source_failed'],
      ['mcp#endless', 'source_failed'],
      ['mcp#encodes', 'source_failed'],
    ]);
    const messages = failures.map(({ error }) => error.message);
    expect(messages[0]).toMatch(/serving crash as process \d+ with the key \[masked\]/);
    expect(messages[1]).toContain('ENOENT');
    expect(messages[2]).toContain('cursor twice');
    expect(messages[3]).toContain('stderr ends with: [masked]');
    expect(JSON.stringify(failures)).not.toContain('very-secret');
  });

  it('that hangs is a failure, and its process is gone by then', async () => {
    const failure: unknown = await read({ hang: stdio('hang') }, { timeoutMs: 300 }).catch((error) => error);
    expect(failure).toMatchObject({
      code: 'source_failed',
      message: expect.stringContaining('mcp#hang did not answer within 300 ms'),
    });
    const [, pid] = /as process (\d+)/.exec(String(failure)) ?? [];
    expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
  });

  it('is given up when the caller cancels', async () => {
    const controller = new AbortController();
    const reading = loadCatalog({
      sources: [{ kind: 'mcp', servers: { silent: stdio('silent') } }],
      signal: controller.signal,
    });
    controller.abort();
    await expect(reading).rejects.toMatchObject({ code: 'cancelled' });
  });
});

describe('an mcpServers configuration', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });

  async function readConfig(content: unknown) {
    const path = join(folder, 'mcp.json');
    await writeFile(path, JSON.stringify(content));
    const read = await mcpFormat.read(path, CONTEXT);
    return {
      servers: read.flatMap((one) => ('error' in one ? [] : [[one.origin, one.server, one.entries.length]])),
      failures: read.flatMap((one) => ('error' in one ? [one.source] : [])),
    };
  }

  it('starts each server in its folder, relative to the file, and leaves out disabled ones', async () => {
    await writeFile(join(folder, 'start.mjs'), `await import(${JSON.stringify(SCRIPT)});`);
    const reading = await readConfig({
      mcpServers: {
        here: { type: 'stdio', command: process.execPath, args: ['start.mjs', 'notes'], cwd: '.' },
        off: { command: 'no-such-command-here', disabled: true },
      },
    });
    expect(reading).toEqual({ servers: [[`${join(folder, 'mcp.json')}#here`, 'here', 3]], failures: [] });
  });

  it.each([
    ['without servers', {}, 'mcpServers'],
    ['with a URL that becomes none', { mcpServers: { a: { url: '${NO:-file:///etc}' } } }, '#a has a url that is not'],
  ])('is refused %s, saying where', async (_, content, message) => {
    const path = join(folder, 'mcp.json');
    await writeFile(path, JSON.stringify(content));
    await expect(loadCatalog({ sources: [`mcp:${path}`], ...CONTEXT })).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringContaining(message),
    });
  });

  it('keeps what a server gave that fails later, and takes the others anew', async () => {
    const [path, none] = [join(folder, 'mcp.json'), { command: 'no-such-command-here' }];
    const load = async (mcpServers: Record<string, McpServer>, previous?: LoadedCatalog) => {
      await writeFile(path, JSON.stringify({ mcpServers }));
      const loaded = await loadCatalog({ sources: [`mcp:${path}`], ...CONTEXT, previous, keepFailed: true });
      const places = (failures: typeof loaded.kept) => failures.map(({ source }) => source.replace(path, ''));
      const names = loaded.catalog.tools.map(({ name }) => name);
      return { loaded, names, failures: places(loaded.failures), kept: places(loaded.kept) };
    };
    const before = await load({ dead: none, late: none, flaky: stdio('notes'), good: stdio('notes') });
    expect([before.names.length, before.kept]).toEqual([6, []]);
    let last = before;
    for (let time = 0; time < 2; time++) {
      last = await load({ dead: none, late: stdio('tickets'), flaky: none, good: stdio('tickets') }, last.loaded);
      expect(last).toMatchObject({ failures: ['#dead', '#flaky'], kept: ['#flaky'] });
      expect(last.names.slice(0, 2)).toEqual(['late__search', 'late__open_ticket']);
      expect(last.names.slice(2, 5)).toEqual(['flaky__search', 'flaky__delete_note', 'flaky__create_note']);
      expect(last.names.slice(5)).toEqual(['good__search', 'good__open_ticket']);
      expect(last.loaded.issues.filter(({ name }) => name?.endsWith('broken'))).toHaveLength(2);
    }
    last = await load({ good: stdio('tickets') }, last.loaded);
    expect(last).toMatchObject({ names: ['good__search', 'good__open_ticket'], failures: [], kept: [] });
  });

  it('is never read from a URL, since it starts processes', async () => {
    const reading = mcpFormat.read('https://host.test/mcp.json', CONTEXT);
    await expect(reading).rejects.toMatchObject({ code: 'source_failed' });
  });
});

describe('an MCP server on streamable HTTP', () => {
  let server: ChildProcess;
  let lines: AsyncIterator<string>;
  let url: string;

  beforeAll(async () => {
    server = spawn(process.execPath, [SCRIPT, 'notes', 'http'], { stdio: ['ignore', 'pipe', 'ignore'] });
    if (!server.stdout) throw new Error('no stdout');
    lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
    url = `http://127.0.0.1:${String((await lines.next()).value).replace('port ', '')}/mcp`;
  });
  afterAll(async () => {
    const exit = once(server, 'exit');
    server.kill();
    await exit;
  });

  it('is read with its headers, and its session is given back', async () => {
    const { names } = await read({ notes: { url, headers: { 'x-key': 'let-me-in' } } });
    expect(names).toEqual(['notes__search', 'notes__delete_note', 'notes__create_note']);
    const counts: string[] = [];
    // Ends when the server does, so that a session that is never given back fails the test and not the run.
    for (let line = await lines.next(); !line.done; line = await lines.next()) {
      counts.push(line.value);
      // The question for the newest revision, which this server does not know, comes before the session.
      if (line.value === 'sessions 0' && counts.includes('sessions 1')) break;
    }
    expect(counts).toContain('sessions 1');
    expect(counts.at(-1)).toBe('sessions 0');
  });
});

describe('an MCP server on streamable HTTP that does not answer as it should', () => {
  let server: Server | undefined;
  afterEach(async () => {
    vi.restoreAllMocks();
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
  });

  /** It has a session and one tool; `answer` takes the requests that it wants, and returns whether it took one. */
  async function serve(answer: (request: IncomingMessage, response: ServerResponse) => boolean): Promise<string> {
    server = createServer(async (request, response) => {
      if (answer(request, response)) return;
      const { id, method, params } = JSON.parse((await text(request)) || '{}');
      if (method === 'server/discover') return response.writeHead(400).end();
      if (id === undefined) return response.writeHead(request.method === 'POST' ? 202 : 405).end();
      const serverInfo = { name: 'scripted', version: '1.0.0' };
      const { protocolVersion } = params;
      const greeting = { protocolVersion, capabilities: { tools: {} }, serverInfo };
      const result = method === 'initialize' ? greeting : { tools: [{ name: 'nod', inputSchema: { type: 'object' } }] };
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' });
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/mcp`;
  }

  it.each([
    [401, 'no', 'failed (HTTP 401: no). Check its key: "headers" of'],
    [
      404,
      '<!DOCTYPE html><p>no',
      'failed (HTTP 404). Check its URL: Winnow speaks streamable HTTP, often at /mcp, and SSE, often at /sse',
    ],
    [500, 'x'.repeat(5_000), `failed (HTTP 500: ${'x'.repeat(200)})`],
    [200, '<html>', 'failed (Unexpected content type: text/html). Check its URL'],
  ])('says its status, and what to do: %i', async (status, body, message) => {
    const url = await serve((_, response) => {
      response.writeHead(status, { 'content-type': 'text/html' }).end(body);
      return true;
    });
    await expect(read({ refusing: { url } })).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringContaining(`The source mcp#refusing ${message}`),
    });
  });

  it('to the farewell keeps nobody waiting for long', async () => {
    const faster = 30;
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / faster));
    let farewells = 0;
    const url = await serve(({ method }) => method === 'DELETE' && ++farewells > 0);
    const { names } = await read({ silent: { url } }, { timeoutMs: faster * CONTEXT.timeoutMs });
    expect(names).toEqual(['silent__nod']);
    expect(farewells).toBe(1);
  });
});
