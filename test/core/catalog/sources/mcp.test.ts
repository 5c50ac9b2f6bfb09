import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type LoadedCatalog, loadCatalog } from '../../../../src/core/catalog/load.js';
import { mcpFormat } from '../../../../src/core/catalog/sources/mcp.js';
import type { McpServer } from '../../../../src/core/catalog/sources/source.js';

const SCRIPT = resolve('fixtures/sources/mcp-server.mjs');
const CONTEXT = { timeoutMs: 20_000 };
const stdio = (set: string): McpServer => ({ command: process.execPath, args: [SCRIPT, set] });

async function read(servers: Record<string, McpServer>, context = CONTEXT) {
  const { catalog, issues, failures } = await loadCatalog({ sources: [{ kind: 'mcp', servers }], ...context });
  return { tools: catalog.tools, names: catalog.tools.map(({ name }) => name), issues, failures };
}

describe('an MCP configuration', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'winnow-mcp-config-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

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

  it('is read as VS Code writes it', async () => {
    const path = join(folder, 'mcp.json');
    const desk = { type: 'stdio', command: '${env:NODE}', args: ['${workspaceFolder}/server.mjs', 'notes'] };
    await copyFile(SCRIPT, join(folder, 'server.mjs'));
    await writeFile(path, JSON.stringify({ servers: { desk }, inputs: [] }));
    const variable = (name: string) => (name === 'NODE' ? process.execPath : undefined);
    const { catalog } = await loadCatalog({ sources: [path], ...CONTEXT, variable });
    expect(catalog.tools).toHaveLength(3);
  });

  it('says what to write in place of what an editor asks for', async () => {
    await expect(readWith(['${input:api-key}'])).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringContaining('mcp.json#desk asks for the input:api-key, as only an editor does: write'),
    });
  });

  it('says which variable is not set', async () => {
    await expect(readWith(['${SCRIPT}', 'notes'])).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringContaining('mcp.json#desk names the variable SCRIPT, which is not set'),
    });
  });
});

describe('an MCP server on stdio', () => {
  it('is read to its last page, with annotations and output schemas', async () => {
    const { tools, issues } = await read({ notes: stdio('notes') });
    expect(issues).toEqual([]);
    expect(tools.map(({ name, title, risk, toolType, origin }) => [name, title, risk, toolType, origin])).toEqual([
      ['search', 'Search notes', 'low', 'mcp', 'notes'],
      ['delete_note', undefined, 'high', 'mcp', 'notes'],
      ['create_note', undefined, 'medium', 'mcp', 'notes'],
    ]);
    expect(tools[0]).toMatchObject({
      inputSchema: { required: ['query'] },
      outputSchema: { properties: { ids: { type: 'array' } } },
      metadata: { mcp: { server: 'notes', tool: 'search' }, annotations: { readOnlyHint: true } },
    });
  });

  it("can't make its tools always-on: what MCP does not know stays in metadata", async () => {
    const { tools } = await read({ notes: stdio('notes') });
    expect(tools[1]).toMatchObject({ name: 'delete_note', alwaysLoad: false, metadata: { alwaysLoad: true } });
  });

  it('loses only the tool whose schema is unusable', async () => {
    const { names, issues } = await read({ desk: stdio('tickets') });
    expect(names).toEqual(['search', 'open_ticket']);
    expect(issues).toMatchObject([{ level: 'warning', entry: 'mcp#desk[2]', name: 'broken' }]);
  });

  it('shares a name with another: then, and only then, names get the prefix of the server', async () => {
    const { tools, issues } = await read({ notes: stdio('notes'), 'help desk': stdio('tickets') });
    expect(tools.map(({ name }) => name)).toEqual([
      'notes__search',
      'delete_note',
      'create_note',
      'help_desk__search',
      'open_ticket',
    ]);
    expect(tools[3]?.metadata.mcp).toEqual({ server: 'help desk', tool: 'search' });
    expect(issues.filter(({ level }) => level === 'debug')).toMatchObject([{ name: 'search' }, { name: 'search' }]);
  });

  it('may have its prefix in any case, and then shares no name', async () => {
    const { names } = await read({ notes: { ...stdio('notes'), prefix: true }, desk: stdio('tickets') });
    expect(names).toEqual(['notes__search', 'notes__delete_note', 'notes__create_note', 'search', 'open_ticket']);
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
    expect(names).toEqual(['search', 'delete_note', 'create_note']);
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
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'winnow-mcp-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

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
    ['with a server that has neither command nor URL', { mcpServers: { a: {} } }, 'mcpServers.a'],
    ['with a URL that is none', { mcpServers: { a: { url: 'file:///etc' } } }, '#a has a url that is not'],
    ['with a URL that becomes none', { mcpServers: { a: { url: '${NO:-file:///etc}' } } }, '#a has a url that is not'],
  ])('is refused %s, saying where', async (_, content, message) => {
    const path = join(folder, 'mcp.json');
    await writeFile(path, JSON.stringify(content));
    await expect(loadCatalog({ sources: [`mcp:${path}`], ...CONTEXT })).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringContaining(message),
    });
  });

  it('loses only the server whose variable is not set', async () => {
    const reading = await readConfig({
      mcpServers: {
        here: { command: process.execPath, args: [SCRIPT, 'notes'] },
        there: { url: 'https://host.test/${UNSET}' },
        elsewhere: { url: 'https://host.test/${UNSET}' },
      },
    });
    expect(reading.servers.map(([, server]) => server)).toEqual(['here']);
    expect(reading.failures).toEqual([`${join(folder, 'mcp.json')}#there`, `${join(folder, 'mcp.json')}#elsewhere`]);
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
      expect(last.names.slice(2, 5)).toEqual(['flaky__search', 'delete_note', 'create_note']);
      expect(last.names.slice(5)).toEqual(['good__search', 'good__open_ticket']);
      expect(last.loaded.issues.filter(({ name }) => name === 'broken')).toHaveLength(2);
    }
    last = await load({ good: stdio('tickets') }, last.loaded);
    expect(last).toMatchObject({ names: ['search', 'open_ticket'], failures: [], kept: [] });
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
    expect(names).toEqual(['search', 'delete_note', 'create_note']);
    const counts: string[] = [];
    // Ends when the server does, so that a session that is never given back fails the test and not the run.
    for (let line = await lines.next(); !line.done; line = await lines.next()) {
      counts.push(line.value);
      if (line.value === 'sessions 0') break;
    }
    expect(counts).toContain('sessions 1');
    expect(counts.at(-1)).toBe('sessions 0');
  });

  it('that refuses is a failure with its status', async () => {
    await expect(read({ notes: { url } })).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringContaining('mcp#notes failed (HTTP 401: no key)'),
    });
  });
});

describe('an MCP server on streamable HTTP that does not answer as it should', () => {
  let server: Server | undefined;
  afterEach(async () => {
    jest.restoreAllMocks();
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
  });

  /** It has a session and one tool; `answer` takes the requests that it wants, and returns whether it took one. */
  async function serve(answer: (request: IncomingMessage, response: ServerResponse) => boolean): Promise<string> {
    server = createServer(async (request, response) => {
      if (answer(request, response)) return;
      const { id, method, params } = JSON.parse((await text(request)) || '{}');
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
      'failed (HTTP 404). Check its URL: Winnow speaks streamable HTTP, often at /mcp. For',
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
    jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / faster));
    let farewells = 0;
    const url = await serve(({ method }) => method === 'DELETE' && ++farewells > 0);
    const { names } = await read({ silent: { url } }, { timeoutMs: faster * CONTEXT.timeoutMs });
    expect(names).toEqual(['nod']);
    expect(farewells).toBe(1);
  });
});
