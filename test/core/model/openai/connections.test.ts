/** Real sockets: what is kept, followed and ended. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Agent, MockAgent } from 'undici';
import { type Connections, createConnections } from '../../../../src/core/model/openai/connections.js';

const servers: Server[] = [];
const opened: Connections[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function startServer(listener: RequestListener): Promise<{ url: string; sockets: Socket[] }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1/completions`, sockets };
}

/** Answers with what it was sent. */
const echo: RequestListener = async (request, response) => {
  let body = '';
  for await (const part of request.setEncoding('utf8')) body += part;
  response.setHeader('retry-after', '7');
  response.end(JSON.stringify({ method: request.method, key: request.headers.authorization, body }));
};

function open() {
  const connections = createConnections();
  opened.push(connections);
  const ask = async (url: string, signal = new AbortController().signal) => {
    const headers = { 'content-type': 'application/json', authorization: 'Bearer key' };
    const sent = await connections.send(url, { method: 'POST', headers, body: '水位', signal });
    return { status: sent.status, retryAfter: sent.headers.get('retry-after'), text: await sent.text() };
  };
  return { connections, ask };
}

describe('the connections to a model server', () => {
  it('carry status, headers and text', async () => {
    const { url } = await startServer(echo);
    const { status, retryAfter, text } = await open().ask(url);
    expect([status, retryAfter]).toEqual([200, '7']);
    expect(JSON.parse(text)).toEqual({ method: 'POST', key: 'Bearer key', body: '水位' });
  });

  it('are kept for later calls, and opened for calls at once', async () => {
    const { url, sockets } = await startServer(echo);
    const { ask } = open();
    for (let call = 0; call < 9; call++) await ask(url);
    expect(sockets.length).toBeLessThanOrEqual(2);
    await Promise.all(Array.from({ length: 9 }, () => ask(url)));
    expect(sockets.length).toBeGreaterThanOrEqual(9);
  });

  it('follow a redirection with method and body, and without the key where it leads to another server', async () => {
    const other = await startServer(echo);
    const moved =
      (to: string): RequestListener =>
      (request, response) => {
        if (request.url !== '/v1/completions') return echo(request, response);
        request.resume();
        response.writeHead(308, { location: to }).end();
      };
    const here = await startServer(moved('/v2/completions'));
    const away = await startServer(moved(other.url));
    const { ask } = open();
    expect(JSON.parse((await ask(here.url)).text)).toEqual({ method: 'POST', key: 'Bearer key', body: '水位' });
    expect(JSON.parse((await ask(away.url)).text)).toEqual({ method: 'POST', body: '水位' });
  });

  it('end when they are closed, which may be done again, and open anew for a later call', async () => {
    const { url, sockets } = await startServer(echo);
    const { connections, ask } = open();
    await connections.close();
    await ask(url);
    const ended = once(sockets[0] as Socket, 'close');
    await connections.close();
    await connections.close();
    await ended;
    expect((await ask(url)).status).toBe(200);
    expect(sockets).toHaveLength(2);
  });

  it('let a call under way end when they are closed, and do not wait for it', async () => {
    let release = () => {};
    const arrived = new Promise<void>((resolve) => {
      release = resolve;
    });
    let end = () => {};
    const { url } = await startServer((request, response) => {
      request.resume();
      end = () => response.end('late');
      release();
    });
    const { connections, ask } = open();
    const answer = ask(url);
    await arrived;
    await connections.close();
    end();
    expect((await answer).text).toBe('late');
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ])('read an answer that is compressed: %s', async (encoding, compress) => {
    const { url } = await startServer((request, response) => {
      request.resume();
      response.setHeader('content-encoding', encoding).end(compress('{"水位": 3}'));
    });
    expect((await open().ask(url)).text).toBe('{"水位": 3}');
  });

  it('fail where a compressed answer is cut', async () => {
    const { url } = await startServer((request, response) => {
      request.resume();
      const whole = gzipSync('a'.repeat(1000));
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': whole.length });
      response.write(whole.subarray(0, 15), () => response.destroy());
    });
    await expect(open().ask(url)).rejects.toThrow();
  });

  it('leave all to the dispatcher that a program has set', async () => {
    const { url, sockets } = await startServer(echo);
    const place = Symbol.for('undici.globalDispatcher.1');
    const mock = new MockAgent();
    const platform = jest.spyOn(globalThis, 'fetch').mockResolvedValue(new Response('by fetch'));
    Reflect.set(globalThis, place, mock);
    try {
      expect((await open().ask(url)).text).toBe('by fetch');
      expect(platform).toHaveBeenCalledTimes(1);
      Reflect.set(globalThis, place, new Agent());
      expect(JSON.parse((await open().ask(url)).text)).toMatchObject({ method: 'POST' });
    } finally {
      Reflect.deleteProperty(globalThis, place);
      platform.mockRestore();
      await mock.close();
    }
    expect(sockets).toHaveLength(1);
  });

  it('drop a call whose signal fires, before and behind the first bytes', async () => {
    const { url, sockets } = await startServer((request, response) => {
      request.resume();
      response.write('half');
    });
    await expect(open().ask(url, AbortSignal.abort(new Error('not begun')))).rejects.toThrow('not begun');
    const { ask } = open();
    const stop = new AbortController();
    const answer = ask(url, stop.signal);
    setTimeout(() => stop.abort(new Error('enough')), 50);
    await expect(answer).rejects.toThrow('enough');
    for (const socket of sockets) if (!socket.closed) await once(socket, 'close');
    expect(sockets).not.toHaveLength(0);
  });
});
