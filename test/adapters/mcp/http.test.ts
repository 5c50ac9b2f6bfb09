import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { Server } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import type { ServerParts } from '../../../src/adapters/http/app.js';
import { asUser, createWorld, openClient, serveHttp, type WorldOptions } from './setup.js';

/** MCP under `/mcp` of a real server, with real clients: whose session it is, who may ask at all, and how it ends. */
describe('MCP over HTTP', () => {
  const serve = async (options?: Parameters<typeof serveHttp>[1], world: WorldOptions = {}) =>
    serveHttp(await createWorld(world), options);

  async function join(url: string, user?: string) {
    const transport = new StreamableHTTPClientTransport(new URL(url), asUser(user));
    const client = await openClient(transport as Transport);
    return { ...client, transport, id: transport.sessionId ?? '' };
  }

  const INITIALIZE = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
  };
  const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' };

  function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const accept = 'application/json, text/event-stream';
    return fetch(url, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json', accept, ...headers },
    });
  }

  /** The session of a client that listens to nothing, by the headers of its further requests. */
  async function initialize(url: string, user?: string) {
    const who: Record<string, string> = user === undefined ? {} : { 'x-winnow-user': user };
    const opened = await post(url, INITIALIZE, who);
    await opened.text();
    return { status: opened.status, headers: { ...who, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' } };
  }
  async function statusOf(url: string, { headers }: { headers: Record<string, string> }) {
    const listed = await post(url, LIST, headers);
    await listed.text();
    return listed.status;
  }

  /** `fetch` sets Host itself. */
  async function statusWith(url: string, headers: Record<string, string>): Promise<number | undefined> {
    const accept = 'application/json, text/event-stream';
    const sent = httpRequest(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept, ...headers },
    });
    sent.end(JSON.stringify(INITIALIZE));
    const [response] = await once(sent, 'response');
    response.resume();
    await once(response, 'close');
    return response.statusCode;
  }

  describe('a client over HTTP', () => {
    it('that listens to nothing hears of a changed list with the answer that changed it', async () => {
      const { url } = await serve();
      const { headers } = await initialize(url);
      const params = { name: 'tool_enable', arguments: { names: ['file_read'] } };
      const answer = await (await post(url, { jsonrpc: '2.0', id: 2, method: 'tools/call', params }, headers)).text();
      expect(answer).toMatch(/notifications\/tools\/list_changed.*\n.*\n.*\n.*"id":2/u);
    });

    it('that leaves cancels its request', async () => {
      const { url, waiting } = await serve();
      const { ask, id } = await join(url, 'ann');
      await ask('tool_enable', { names: ['wait'] });
      const leaving = new AbortController();
      const body = JSON.stringify({ jsonrpc: '2.0', id: 77, method: 'tools/call', params: { name: 'wait' } });
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const own = { ...headers, 'mcp-session-id': id, 'x-winnow-user': 'ann' };
      const call = fetch(url, { method: 'POST', headers: own, body, signal: leaving.signal });
      await waiting.began;
      leaving.abort();
      await call.catch(() => undefined);
      await waiting.cancelled;
      expect(await ask('file_list')).toBeDefined();
    });

    it('takes a place with each request of a batch', async () => {
      const { url } = await serve({ server: { concurrency: 8 } });
      const { id } = await join(url, 'ann');
      const send = async (count: number) => {
        const requests = Array.from({ length: count }, (_, place) => ({ ...LIST, id: place + 10 }));
        return (await post(url, requests, { 'mcp-session-id': id, 'x-winnow-user': 'ann' })).status;
      };
      expect([await send(2), await send(3)]).toEqual([200, 429]);
    });

    it('is refused a turn that is long, since a turn is kept', async () => {
      const { url } = await serve();
      const { client } = await join(url, 'ann');
      const call = (turn: string) => client.callTool({ name: 'ask_user', _meta: { 'winnow/turn': turn } });
      expect(JSON.stringify(await call('x'.repeat(129)))).toContain('has 129 characters. Use at most 128.');
      expect(JSON.stringify(await call('x'.repeat(128)))).not.toContain('characters');
    });

    it('has in each request the roles of that request, whichever others are under way', async () => {
      const policy = { rules: [{ name: 'no', match: { tool: 'file_*', role: 'guest' }, decision: 'deny' as const }] };
      const world = await createWorld({ policy });
      let release: () => void = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const { createSession } = world.parts.router;
      const router = {
        ...world.parts.router,
        createSession: (...asked: Parameters<typeof createSession>) => released.then(() => createSession(...asked)),
      };
      const { url } = await serveHttp({ parts: { ...world.parts, router } });
      const opened = await initialize(url, 'ann');
      const ask = async (request: number, roles: string) => {
        const params = { name: 'tool_enable', arguments: { names: ['file_read'] } };
        const headers = { ...opened.headers, 'x-winnow-roles': roles };
        return post(url, { jsonrpc: '2.0', id: request, method: 'tools/call', params }, headers);
      };
      const asGuest = await ask(1, 'guest');
      const asLead = await ask(2, 'lead');
      release();
      expect(await asGuest.text()).toContain('"unknown_tool"');
      expect(await asLead.text()).not.toContain('"unknown_tool"');
    });

    it('whose first message is refused leaves nothing open', async () => {
      const closing = vi.spyOn(Server.prototype, 'close');
      const closed = new Promise<void>((resolve) => {
        closing.mockImplementation(async () => resolve());
      });
      const { url } = await serve();
      const refused = await post(url, INITIALIZE, { accept: 'application/json' });
      expect(refused.status).toBe(406);
      await closed;
      closing.mockRestore();
    });

    it('ends its session when it says so', async () => {
      const { url, agents } = await serve();
      const { ask, transport, id } = await join(url, 'ann');
      await ask('tool_enable', { names: ['file_read'] });
      await transport.terminateSession();
      expect((await post(url, LIST, { 'mcp-session-id': id, 'x-winnow-user': 'ann' })).status).toBe(404);
      const [session] = await agents.router.sessions();
      expect(session).toMatchObject({ endedAt: expect.any(String) });
    });
  });

  describe('two clients over HTTP', () => {
    it('can not use the session of another user, which looks like none', async () => {
      const { url } = await serve();
      const ann = await join(url, 'ann');
      const steal = (headers: Record<string, string>) => post(url, LIST, { 'mcp-session-id': ann.id, ...headers });
      const none = await post(url, LIST, { 'mcp-session-id': 'nothing', 'x-winnow-user': 'bob' });
      const real = await steal({ 'x-winnow-user': 'bob' });
      expect([real.status, await real.json()]).toEqual([none.status, await none.json()]);
      expect(real.status).toBe(404);
      expect((await steal({})).status).toBe(404);
      const headers = { 'mcp-session-id': ann.id, 'x-winnow-user': 'bob' };
      expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(404);
      expect((await fetch(url, { headers: { ...headers, accept: 'text/event-stream' } })).status).toBe(404);
      expect(await ann.names()).toContain('tool_search');
    });
  });

  it('keeps pages away also where no server around it does', async () => {
    const own = await serve({ http: { allowedHosts: ['tools.example'] }, hostNames: ['tools.example'] });
    expect(await statusWith(own.url, { host: 'Tools.Example', origin: 'https://tools.example' })).toBe(200);
    const other = await serve({ http: { allowedHosts: ['tools.example'] }, hostNames: ['other.example'] });
    expect(await statusWith(other.url, { host: 'other.example' })).toBe(403);
  });

  describe('a request that is not of the protocol', () => {
    it.each([
      ['too long', { ...INITIALIZE, extra: 'x'.repeat(2_000) }, {}, 413],
      ['no JSON', '{', {}, 400],
      ['another type', INITIALIZE, { 'content-type': 'text/html' }, 415],
      ['answers that it can not take', INITIALIZE, { accept: 'text/html' }, 406],
      ['no session', LIST, {}, 400],
      ['an unknown session', LIST, { 'mcp-session-id': 'x' }, 404],
      ['no message', { id: 1 }, {}, 400],
    ])('with %s is refused', async (_, body, headers, status) => {
      const { url } = await serve({ server: { bodyLimitBytes: 1_000 } });
      expect((await post(url, body, headers)).status).toBe(status);
    });

    it('by another method is told which there are', async () => {
      const { url } = await serve();
      const response = await fetch(url, { method: 'PUT' });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, DELETE, POST']);
      expect((await fetch(url)).status).toBe(400);
      expect((await fetch(url, { method: 'DELETE' })).status).toBe(400);
    });

    it('has an id under which the log knows it', async () => {
      const { url } = await serve();
      const response = await post(url, INITIALIZE, { 'x-request-id': 'mine' });
      expect(response.headers.get('x-request-id')).toBe('mine');
    });
  });

  describe('connections', () => {
    it('that wait for nothing make room for others, those that listen do not', async () => {
      const { url } = await serve({ http: { maxConnections: 2 } });
      const idle = await initialize(url);
      const first = await join(url, 'ann');
      await join(url, 'ann');
      expect(await statusOf(url, idle)).toBe(404);
      const refused = await post(url, INITIALIZE);
      expect([refused.status, await refused.json()]).toMatchObject([503, { error: { message: /Too many/u } }]);
      expect(await first.names()).toContain('tool_search');
    });

    it('of one user make room for their own alone, oldest first', async () => {
      const { url } = await serve({ http: { maxConnections: 9, maxUserConnections: 2 } });
      const ann = await initialize(url, 'ann');
      const own = [];
      for (const _ of [1, 2, 3]) own.push(await initialize(url, 'mallory'));
      const statuses = [];
      for (const one of own) statuses.push(await statusOf(url, one));
      expect([await statusOf(url, ann), ...statuses]).toEqual([200, 404, 200, 200]);
    });

    it('on which a user only listens make room for one more of that user', async () => {
      const { url } = await serve({ http: { maxUserConnections: 1 } });
      const listening = await join(url, 'mallory');
      expect((await initialize(url, 'mallory')).status).toBe(200);
      expect(await statusOf(url, { headers: { 'mcp-session-id': listening.id, 'x-winnow-user': 'mallory' } })).toBe(
        404,
      );
    });

    it('of who has most make room where all are taken', async () => {
      const { url } = await serve({ http: { maxConnections: 3 } });
      const ann = await initialize(url, 'ann');
      await initialize(url, 'mallory');
      await initialize(url, 'mallory');
      expect((await initialize(url, 'bob')).status).toBe(200);
      expect(await statusOf(url, ann)).toBe(200);
    });

    it('on which nothing happens are closed', async () => {
      const { url, agents } = await serve({ http: { idleMs: 1 } });
      const opened = await initialize(url);
      while ((await statusOf(url, opened)) !== 404);
      expect((await agents.router.sessions()).every(({ endedAt }) => endedAt !== undefined)).toBe(true);
    });

    async function stopWhileRunning(server: ServerParts['options'] = {}) {
      const world = await serve({ server });
      const listening = await join(world.url, 'bob');
      const { client, ask } = await join(world.url, 'ann');
      await ask('tool_enable', { names: ['wait'] });
      const running = client.callTool({ name: 'wait', arguments: {} });
      running.catch(() => {});
      await world.waiting.began;
      const closed = world.app.close();
      await expect(listening.client.listTools()).rejects.toThrow();
      expect((await world.agents.router.sessions({ user: 'ann' }))[0]).not.toHaveProperty('endedAt');
      return { ...world, running, closed };
    }

    it('end with the server: what listens is cut at once, what runs gets its answer', async () => {
      const { running, closed, waiting, agents } = await stopWhileRunning({ stopTimeoutMs: 20_000 });
      waiting.release();
      expect(await running).toMatchObject({ content: [{ text: 'done' }] });
      await closed;
      expect((await agents.router.sessions()).map(({ endedAt }) => typeof endedAt)).toEqual(['string']);
    });

    it('end with the server at its limit: what runs is cancelled', async () => {
      const { closed, waiting, agents } = await stopWhileRunning({ stopTimeoutMs: 200 });
      await waiting.cancelled;
      await closed;
      expect((await agents.router.sessions()).map(({ endedAt }) => typeof endedAt)).toEqual(['string']);
    });

    it('count among the requests at once while they ask, not while they listen', async () => {
      const { url, waiting } = await serve({ server: { concurrency: 1 } });
      const { client, ask } = await join(url, 'ann');
      await ask('tool_enable', { names: ['wait'] });
      const cancel = new AbortController();
      const running = client.callTool({ name: 'wait', arguments: {} }, undefined, { signal: cancel.signal });
      running.catch(() => {});
      await waiting.began;
      expect((await post(url, INITIALIZE)).status).toBe(503);
      cancel.abort();
      await waiting.cancelled;
    });
  });
});
