import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { McpServer } from '../../../src/core/catalog/sources/source.js';
import type { Risk } from '../../../src/core/catalog/tool.js';
import { createMcpExecutor } from '../../../src/execution/executors/mcp.js';
import { createSandbox, type Sandbox } from '../../../src/execution/sandbox.js';
import { createTool } from '../../support/create-tool.js';

const SCRIPT = resolve('test/execution/executors/mcp-call-server.mjs');

/** Servers are slow to start on a busy machine. */
jest.setTimeout(30_000);

let folder: string;
let journal: string;
let seen = 0;
const opened: Sandbox[] = [];
let sandbox: Sandbox;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-mcp-calls-'));
  journal = join(folder, 'journal');
});
afterAll(async () => {
  await Promise.all(opened.map((one) => one.close()));
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  seen = (await lines()).length;
});

const lines = async () => (await readFile(journal, 'utf8').catch(() => '')).split('\n').filter(Boolean);
/** What servers have written since the test began. */
const events = async () => (await lines()).slice(seen).map((line) => line.replace(/ \d+$/u, ''));

function start(server: McpServer, timeoutMs = 20_000) {
  sandbox = createSandbox({ executors: [createMcpExecutor({ notes: server })], limits: { timeoutMs } });
  opened.push(sandbox);
}

function call(
  name: string,
  { risk = 'high', input = {}, signal }: { risk?: Risk; input?: object; signal?: AbortSignal } = {},
) {
  const tool = createTool(name, {}, undefined, {
    toolType: 'mcp',
    risk,
    metadata: { mcp: { server: 'notes', tool: name } },
  });
  return sandbox.run({ tool, arguments: input, signal });
}

/** Until the server's own process has written the line. */
async function until(event: string): Promise<void> {
  while (!(await events()).includes(event)) await pause(5);
}

describe('a tool of an MCP server', () => {
  beforeAll(() => start({ command: process.execPath, args: [SCRIPT, journal] }));

  it('is called over one connection, started at the first call and shared by calls at once', async () => {
    const results = await Promise.all([call('structured', { input: { a: 1 } }), call('pid'), call('pid')]);
    expect(results[0]).toMatchObject({ ok: true, output: { got: { a: 1 } } });
    expect(results[1]).toMatchObject({ ok: true });
    expect(results[1]?.ok && results[1].output).toBe(results[2]?.ok && results[2].output);
    expect((await events()).filter((line) => line === 'start')).toHaveLength(1);
  });

  it('gives structured content, else text as JSON where it is an object, else what there is', async () => {
    expect(await call('json_text')).toMatchObject({
      output: { ids: ['a', 'b'] },
      notes: ['the text of the result was read as JSON'],
    });
    expect(await call('plain_text')).toMatchObject({ output: '[1] is no JSON', notes: [] });
    expect(await call('picture')).toMatchObject({ output: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] });
    expect(await call('empty')).toMatchObject({ ok: true, output: null });
  });

  it('that says isError, or refuses, is a failure with its words', async () => {
    expect(await call('error')).toMatchObject({ ok: false, code: 'tool_failed', reason: 'no such note' });
    expect(await call('refuse')).toMatchObject({
      ok: false,
      code: 'tool_failed',
      reason: expect.stringContaining('unknown note'),
    });
  });

  it('is told when its time is over, and the connection stays', async () => {
    const before = await call('pid');
    const controller = new AbortController();
    const running = call('hang', { signal: controller.signal });
    await until('call hang');
    controller.abort();
    expect(await running).toMatchObject({ ok: false, code: 'cancelled' });
    await until('cancelled');
    expect(await call('pid')).toMatchObject({ output: before.ok && before.output });
  });

  it('that reads is called once more when its server dies; one that writes is not', async () => {
    expect(await call('die', { risk: 'high' })).toMatchObject({ ok: false, code: 'connection_lost' });
    expect((await events()).filter((line) => line === 'call die')).toHaveLength(1);
    expect(await call('die', { risk: 'low' })).toMatchObject({ ok: false, code: 'connection_lost' });
    expect((await events()).filter((line) => line === 'call die')).toHaveLength(3);
  });

  it('works again after its server died: the next call starts it', async () => {
    const before = await call('pid');
    process.kill(Number(before.ok && before.output), 'SIGKILL');
    const after = await call('pid', { risk: 'low' });
    expect(after).toMatchObject({ ok: true });
    expect(after.ok && after.output).not.toBe(before.ok && before.output);
  });

  it('that is private, or of a server that nobody configured or that was moved, is not run', async () => {
    const metadata = { mcp: { server: 'notes', tool: 'pid' } };
    const own = createTool('pid', {}, undefined, { toolType: 'mcp', scope: { user: 'anna' }, metadata });
    expect(await sandbox.run({ tool: own, arguments: {}, user: 'anna' })).toMatchObject({ code: 'not_runnable' });
    const other = createTool('x', {}, undefined, { metadata: { mcp: { server: 'other', tool: 'x' } } });
    expect(await sandbox.run({ tool: other, arguments: {} })).toMatchObject({ code: 'not_runnable' });
    const moved = createTool('pid', {}, undefined, {
      metadata: { mcp: { server: 'notes', tool: 'pid', target: 'x' } },
    });
    expect(await sandbox.run({ tool: moved, arguments: {} })).toMatchObject({ code: 'not_runnable' });
    expect(await events()).toEqual([]);
  });

  it('leaves no process behind when the sandbox is closed', async () => {
    const pid = await call('pid');
    await sandbox.close();
    expect(() => process.kill(Number(pid.ok && pid.output), 0)).toThrow('ESRCH');
    expect(await call('pid')).toMatchObject({ ok: false, code: 'tool_unavailable' });
  });
});

describe('a tool of an MCP server that has trouble', () => {
  it('of a server that can not be started is unavailable, without its secrets', async () => {
    start({
      command: process.execPath,
      args: ['-e', 'console.error(process.env.KEY); process.exit(3)'],
      env: { KEY: 'very-secret' },
    });
    const result = await call('pid');
    expect(result).toMatchObject({ ok: false, code: 'tool_unavailable', reason: expect.stringContaining('"notes"') });
    expect(JSON.stringify(result)).not.toContain('very-secret');
  });

  it('of a server that starts slowly runs out of time, and the server is there for the next', async () => {
    const slow = `setTimeout(() => import(${JSON.stringify(SCRIPT)}), 700)`;
    // With -e, the journal is the first argument of the script, so a placeholder stands for its name.
    start({ command: process.execPath, args: ['--input-type=module', '-e', slow, 'script', journal] }, 400);
    expect(await call('empty')).toMatchObject({ ok: false, code: 'timeout' });
    await pause(600);
    let last = await call('empty');
    for (let tries = 0; !last.ok && tries < 20; tries++) last = await call('empty');
    expect(last).toMatchObject({ ok: true });
    expect((await events()).filter((line) => line === 'start')).toHaveLength(1);
  });
});

describe('a tool of an MCP server on streamable HTTP', () => {
  it('is called again on a new session when the server forgot the old one, and the session is given back', async () => {
    const server = spawn(process.execPath, [SCRIPT, journal, 'http'], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const line = await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next();
      const base = `http://127.0.0.1:${String(line.value).replace('port ', '')}`;
      start({ url: `${base}/mcp` });
      expect(await call('structured', { input: { a: 1 } })).toMatchObject({ output: { got: { a: 1 } } });
      await fetch(`${base}/forget`);
      expect(await call('structured', { input: { a: 2 } })).toMatchObject({ output: { got: { a: 2 } } });
      expect((await events()).filter((event) => event === 'call structured')).toHaveLength(2);
      await sandbox.close();
      expect(await events()).toContain('session closed');
    } finally {
      const exit = once(server, 'exit');
      server.kill();
      await exit;
    }
  });

  it('that is not there is unavailable', async () => {
    start({ url: 'http://127.0.0.1:9/mcp' });
    expect(await call('pid')).toMatchObject({ ok: false, code: 'tool_unavailable' });
  });
});
