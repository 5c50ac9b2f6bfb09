import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it, jest } from '@jest/globals';
import { serveCommand } from '../../src/cli/commands/serve.js';
import { recordLog } from '../adapters/http/setup.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { answer } from '../support/server-behaviours.js';
import { runHere } from './run-here.js';
import { configured } from './serve-setup.js';

// The first test of a run loads the model client.
jest.setTimeout(60_000);

const PLAN = '{"kind": "clarification", "question": "Which one?", "missing": ["station"]}';

/** The command in this process, until `stop` sends it the signal that a service manager would. */
async function serve(...words: string[]) {
  const modelServer = await startScriptedServer(() => answer(PLAN));
  const stdout = new PassThrough();
  const log = recordLog();
  const model = ['--base-url', modelServer.baseUrl, '--model', 'scripted'];
  const done = serveCommand({ stdout, logger: log.logger })
    .exitOverride()
    .parseAsync([...model, '--example', ...words], { from: 'user' });
  done.catch(() => {});
  return { stdout, log, done, modelServer };
}

async function stop(running: { done: Promise<unknown>; modelServer: ScriptedServer }, signal: 'SIGINT' | 'SIGTERM') {
  process.emit(signal);
  await running.done;
  await running.modelServer.close();
}

async function addressOf(stdout: PassThrough): Promise<string> {
  const [line] = await once(stdout, 'data');
  return JSON.parse(String(line)).address;
}

describe('winnow serve', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    'listens on this machine alone, answers by the model, and stops by %s',
    async (signal) => {
      const running = await serve('--port', '0', '--json');
      const address = await addressOf(running.stdout);
      expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect(running.stdout.read()).toBeNull();
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${address}/v1/plan`, {
        method: 'POST',
        headers,
        body: '{"message": "Water level?"}',
      });
      expect(await response.json()).toMatchObject({ kind: 'clarification', question: 'Which one?' });
      await stop(running, signal);
      await expect(fetch(`${address}/healthz`)).rejects.toThrow('fetch failed');
      expect([process.listenerCount('SIGINT'), process.listenerCount('SIGTERM')]).toEqual([0, 0]);
    },
  );

  it('has its address in the first line of the log', async () => {
    const running = await serve('--port', '0', '--json');
    const address = await addressOf(running.stdout);
    await stop(running, 'SIGTERM');
    expect(running.log.lines()[0]).toMatchObject({ level: 'info', msg: 'listening', address });
  });

  it('has it there also where there was something to tell of the sources before', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'winnow-serve-'));
    const catalog = join(folder, 'tools.json');
    await writeFile(catalog, JSON.stringify([{ name: 'read_level', toolType: 'builtin' }, { name: '__proto__' }]));
    const sources = ['--catalog', catalog, '--catalog', join(folder, 'none.json')];
    let told = '';
    const stderr = jest.spyOn(process.stderr, 'write');
    const ready = new Promise<void>((resolve) => {
      stderr.mockImplementation((text) => {
        told += text;
        if (told.includes('as long as this process')) resolve();
        return true;
      });
    });
    const model = ['--base-url', 'http://127.0.0.1:9/v1', '--model', 'none'];
    const command = serveCommand().exitOverride();
    const done = command.parseAsync(['--port', '0', ...model, ...sources], { from: 'user' });
    await Promise.race([ready, done]);
    process.emit('SIGTERM');
    await done.finally(() => stderr.mockRestore());
    const [first = '', ...others] = told.trim().split('\n');
    expect(JSON.parse(first)).toMatchObject({ msg: 'listening', address: expect.stringMatching(/^http:.*:\d+$/u) });
    expect(others.join('\n')).toContain('name: this name is not allowed');
    expect(others.join('\n')).toContain("none.json can't be found");
    await rm(folder, { recursive: true });
  });

  it.each(['serve', 'mcp'])('is refused without tools: %s says how to name them', async (name) => {
    const { error, stdout } = await runHere([name]);
    expect(stdout).toBe('');
    expect(error).toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/^No tools are named\..*--catalog.*winnow\.yaml.*--example/u),
    });
  });

  it('tells all the same where it can not listen', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'winnow-serve-'));
    const catalog = join(folder, 'tools.json');
    await writeFile(catalog, JSON.stringify([{ name: 'read_level', toolType: 'builtin' }, { name: '__proto__' }]));
    const model = ['--base-url', 'http://127.0.0.1:9/v1', '--model', 'none'];
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const words = ['serve', '--port', String(Object(other.address()).port), ...model, '--catalog', catalog];
    const { stderr, error } = await runHere(words);
    expect([stderr, String(error)]).toEqual([
      expect.stringContaining('this name is not allowed'),
      expect.stringContaining('Cannot listen on 127.0.0.1'),
    ]);
    other.close();
    await rm(folder, { recursive: true });
  });

  it('prints nothing on stdout without --json', async () => {
    const running = await serve('--port', '0');
    while (running.log.lines().length === 0) await new Promise(setImmediate);
    await stop(running, 'SIGTERM');
    expect(running.stdout.read()).toBeNull();
  });

  it('hands its limits to the server', async () => {
    const running = await serve('--port', '0', '--json', ...configured({ server: { bodyLimitBytes: 10 } }));
    const address = await addressOf(running.stdout);
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${address}/v1/plan`, {
      method: 'POST',
      headers,
      body: '{"message": "Water level?"}',
    });
    expect(response.status).toBe(413);
    await stop(running, 'SIGTERM');
  });

  it('says which port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const running = await serve('--port', port);
    await expect(running.done).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(`port ${port} (EADDRINUSE)`),
    });
    await running.modelServer.close();
    other.close();
  });

  it.each(['65536', 'x'])('refuses port %s', async (port) => {
    const { stderr, exitCode } = await runHere(['serve', '--port', port]);
    expect([stderr, exitCode]).toEqual([expect.stringContaining('must be a whole number from 0 to 65535'), 2]);
  });
});
