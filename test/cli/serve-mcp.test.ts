/** `winnow serve` with MCP under `/mcp`: what its flags wire together. */
import { once } from 'node:events';
import { request } from 'node:http';
import { resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, it, jest } from '@jest/globals';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { serveCommand } from '../../src/cli/serve-command.js';
import { openClient } from '../mcp/setup.js';
import { recordLog } from '../server/setup.js';

// The first test of a run loads the model client.
jest.setTimeout(60_000);

async function serve(...words: string[]) {
  const stdout = new PassThrough();
  const model = ['--base-url', 'http://127.0.0.1:9/v1', '--model', 'none'];
  const done = serveCommand({ stdout, logger: recordLog().logger })
    .exitOverride()
    .parseAsync(
      ['--port', '0', '--json', '--catalog', resolve('fixtures/catalogs/assistant.json'), ...model, ...words],
      {
        from: 'user',
      },
    );
  done.catch(() => {});
  const [line] = await Promise.race([once(stdout, 'data'), done.then(() => ['{}'])]);
  const address = new URL(JSON.parse(String(line)).address);
  const stop = async () => {
    process.emit('SIGTERM');
    await done;
  };
  return { url: `http://127.0.0.1:${address.port}/mcp`, stop };
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
  const { url, stop } = await serve('--tool-prefix', 'w_');
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { 'x-winnow-user': 'ann' } },
  });
  const { names } = await openClient(transport as Transport);
  expect((await names()).slice(0, 6)).toEqual(
    ['tool_search', 'tool_enable', 'tool_disable', 'tool_call', 'plan', 'select'].map((name) => `w_${name}`),
  );
  await stop();
});

it('is reached under the names of this machine, under others where the flags say so, and not at all without it', async () => {
  const own = await serve();
  expect(await statusFor(own.url, {})).toBe(400);
  expect(await statusFor(own.url, { host: 'tools.example' })).toBe(403);
  await own.stop();
  const named = await serve('--mcp-host', 'tools.example');
  expect(await statusFor(named.url, { host: 'tools.example', origin: 'https://tools.example' })).toBe(400);
  expect(await statusFor(named.url, { origin: 'https://evil.example' })).toBe(403);
  await named.stop();
  const open = await serve('--host', '0.0.0.0');
  expect(await statusFor(open.url, { host: 'whatever.example' })).toBe(400);
  expect(await statusFor(open.url, { origin: 'http://localhost' })).toBe(403);
  await open.stop();
  const none = await serve('--no-mcp');
  expect(await statusFor(none.url, {})).toBe(404);
  await none.stop();
});
