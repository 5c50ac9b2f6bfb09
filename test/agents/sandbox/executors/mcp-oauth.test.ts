/** Servers that want tokens: the operator's client credentials become some, and neither goes to anybody else. */
import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMcpExecutor } from '../../../../src/agents/sandbox/executors/mcp.js';
import { createSandbox, type DecidedCall, type Sandbox } from '../../../../src/agents/sandbox/sandbox.js';
import { readMcpServers } from '../../../../src/core/catalog/sources/mcp.js';
import type { McpServer } from '../../../../src/core/catalog/sources/mcp-server.js';
import {
  CLIENT,
  type GuardedOptions,
  listen,
  sendJson,
  startAuthorizationServer,
  startGuardedServer,
} from '../../../support/authorization-server.js';
import { createTool } from '../../../support/create-tool.js';

const open: { close(): unknown }[] = [];
const opened = <One extends { close(): unknown }>(one: One): One => {
  open.push(one);
  return one;
};
const noise: unknown[] = [];
beforeEach(() => {
  vi.spyOn(console, 'warn').mockImplementation((...words) => void noise.push(words));
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  vi.restoreAllMocks();
  expect(noise.splice(0)).toEqual([]);
});

const startServer = async (given: GuardedOptions = {}) => opened(await startGuardedServer(given));

const startIssuer = async () => opened(await startAuthorizationServer());

/** A server whose tokens another one gives. */
async function startBoth() {
  const issuer = await startIssuer();
  const server = await startServer({ tokens: issuer.tokens, describes: { authorization_servers: [issuer.url] } });
  return { issuer, server, guarded: { url: server.url, oauth: { ...CLIENT, issuer: issuer.url } } };
}

async function list(guarded: McpServer): Promise<string> {
  const [read] = await readMcpServers({ servers: { guarded }, failures: [] }, 'mcp', { timeoutMs: 30_000 });
  return read && 'entries' in read ? `${read.entries.length} tools` : String(Object(read).error.message);
}

function callerOf(guarded: McpServer, decided?: DecidedCall) {
  const executor = createMcpExecutor({ guarded }, { now: () => 0 });
  const sandbox: Sandbox = opened(createSandbox({ executors: [executor], limits: { timeoutMs: 60_000 } }));
  const mcp = { server: 'guarded', tool: 'nod' };
  const tool = createTool('guarded__nod', {}, undefined, { toolType: 'mcp', risk: 'low', metadata: { mcp } });
  return { executor, call: async () => Object(await sandbox.run({ tool, arguments: {}, decided })) };
}

/** With a token that a first call has fetched. */
async function startCalled(decided?: DecidedCall) {
  const both = await startBoth();
  const called = callerOf(both.guarded, decided);
  expect(await called.call()).toMatchObject({ ok: true });
  return { ...both, ...called };
}

const APPROVED: DecidedCall = { risk: 'low', isApproved: true, findRefusal: async () => undefined };

describe('an MCP server with oauth', () => {
  it('is listed and called with a token, which is fetched once for all calls', async () => {
    const { issuer, server, guarded } = await startBoth();
    const withMore = { ...guarded, headers: { 'x-key': 'of-the-server' }, oauth: { ...guarded.oauth, scope: 'a b' } };
    expect(await list(withMore)).toBe('1 tools');
    const { call } = callerOf(withMore);
    expect(await Promise.all([call(), call(), call()])).toMatchObject(Array(3).fill({ ok: true, output: 'done' }));
    expect(issuer.asked.map(({ fields }) => fields)).toEqual(
      Array(2).fill({ grant_type: 'client_credentials', scope: 'a b', resource: server.url }),
    );
    expect(issuer.asked.filter(({ headers }) => 'x-key' in headers)).toEqual([]);
    expect(server.seen.every(({ 'x-key': key }) => key === 'of-the-server')).toBe(true);
    expect(JSON.stringify(server.seen)).not.toMatch(/Basic|the-secret/u);
    expect(server.seen.filter(({ authorization = '' }) => !issuer.tokens.has(authorization.slice(7)))).toEqual([]);
  });

  it('may be its own issuer without being named so, and over SSE', async () => {
    const server = await startServer();
    expect(await list({ url: server.url, oauth: CLIENT })).toBe('1 tools');
    server.describes = undefined;
    expect(await list({ url: server.url, oauth: CLIENT })).toBe('1 tools');
    const { call } = callerOf({ url: `${server.origin}/sse`, type: 'sse', oauth: CLIENT });
    expect(await call()).toMatchObject({ ok: true });
    server.issuer.tokens.clear();
    expect(await call()).toMatchObject({ ok: true });
  });

  it('gets a new token once where it refuses the old one, for all who wait for it', async () => {
    const { issuer, server, call } = await startCalled();
    issuer.tokens.clear();
    expect(await Promise.all([call(), call(), call()])).toMatchObject(Array(3).fill({ ok: true }));
    expect([issuer.asked.length, server.calls]).toEqual([2, 4]);
  });

  it.each(['', '/sse'])('gets an approved call once, also where it refuses the token: %s', async (path) => {
    const { issuer, server, guarded } = await startBoth();
    if (path === '/sse') server.describes = undefined;
    const way = path === '' ? guarded : { ...guarded, url: `${server.origin}${path}`, type: 'sse' as const };
    const { call } = callerOf(way, APPROVED);
    expect(await call()).toMatchObject({ ok: true });
    issuer.tokens.clear();
    const before = server.seen.length;
    const reason = 'The MCP server "guarded" can\'t be used: HTTP 401, and this call is not sent twice';
    expect(await call()).toMatchObject({ code: 'connection_lost', reason });
    expect([server.seen.length - before, server.calls]).toEqual([1, 1]);
    // The new token is there.
    expect(await call()).toMatchObject({ ok: true });
  });

  it('that refuses an approved call may have run it, whatever it says and whatever becomes of the token', async () => {
    const { issuer, server, call } = await startCalled(APPROVED);
    for (const challenge of ['Bearer', 'Bearer error="insufficient_scope"']) {
      Object.assign(server, { refuse: challenge === 'Bearer' ? 401 : 403, challenge });
      expect(await call()).toMatchObject({ code: 'connection_lost' });
    }
    issuer.tokens.clear();
    issuer.close();
    expect(await call()).toMatchObject({ code: 'connection_lost' });
  });

  it('is sent no call that is refused while a token is fetched for it', async () => {
    const { issuer, server, guarded } = await startBoth();
    issuer.expiresIn = 0;
    let asked = 0;
    const refusal = { ok: false, code: 'session_ended', reason: 'The session has ended.', next: 'Open one.' } as const;
    const findRefusal = async () => {
      asked = issuer.asked.length;
      return refusal;
    };
    const { call } = callerOf(guarded, { ...APPROVED, findRefusal });
    expect(await call()).toEqual(refusal);
    expect([asked, server.calls]).toEqual([issuer.asked.length, 0]);
  });

  it('gets no token that is over', async () => {
    const { issuer, server, guarded } = await startBoth();
    issuer.expiresIn = 0;
    const { call } = callerOf(guarded);
    await call();
    const before = issuer.asked.length;
    const { length } = server.seen;
    await call();
    expect(issuer.asked.length).toBeGreaterThan(before);
    const sent = ({ authorization }: IncomingMessage['headers']) => authorization;
    expect(server.seen.slice(0, length).map(sent)).not.toContain(sent(server.seen.at(-1) ?? {}));
  });

  it('that refuses a new token, too, runs nothing, and the failure says where to look', async () => {
    const { server, guarded, call, executor } = await startCalled();
    server.refuse = 401;
    const advice = 'It refuses a new token, too. Check "oauth" of the server in the configuration.';
    for (let time = 0; time < 5; time++)
      expect(await call()).toMatchObject({
        code: 'tool_unavailable',
        reason: `The MCP server "guarded" can't be used: HTTP 401. ${advice}`,
      });
    expect(executor.health?.()).toEqual(new Map([['guarded', undefined]]));
    expect(await list(guarded)).toBe(`The source mcp#guarded failed (HTTP 401). ${advice}`);
    expect(server.calls).toBe(1);
    server.refuse = undefined;
    expect(await call()).toMatchObject({ ok: true });
  });

  it('that sends its callers to another origin sends no token there', async () => {
    const other = await startIssuer();
    const { issuer, server, guarded, call } = await startCalled();
    for (const refuse of [302, 307, 308]) {
      Object.assign(server, { refuse, location: `${other.url}/mcp` });
      expect(await call()).toMatchObject({ ok: false });
      expect(await list(guarded)).toContain(`HTTP ${refuse}`);
    }
    expect([other.lines, issuer.asked.length]).toEqual([[], 4]);
  });

  it('that wants a scope which the token has not says so', async () => {
    const { server, call } = await startCalled();
    Object.assign(server, { refuse: 403, challenge: 'Bearer error="insufficient_scope", scope="notes:write"' });
    expect(await call()).toMatchObject({
      code: 'tool_unavailable',
      reason: expect.stringMatching(/notes:write.*Check "oauth\.scope" of the server in the configuration\.$/u),
    });
  });

  it('has no token in what its tools answer, also one that was fetched for the call', async () => {
    const { issuer, server, call } = await startCalled();
    server.isEcho = true;
    expect(await call()).toMatchObject({ ok: true, output: 'Bearer [masked]' });
    issuer.tokens.clear();
    expect(await call()).toMatchObject({ ok: true, output: 'Bearer [masked]' });
    expect(issuer.asked).toHaveLength(2);
  });

  it('has no token and no secret in what it says when it fails', async () => {
    const { issuer, server, guarded, call } = await startCalled();
    server.refuse = 500;
    const told = [await list(guarded), JSON.stringify(await call())];
    expect(told).toEqual(Array(2).fill(expect.stringContaining('no, Bearer [masked]')));
    for (const token of issuer.tokens) expect(told.join()).not.toContain(token);
  });
});

describe('an issuer', () => {
  it('that does not know the secret is named with the key to look at, and nobody is told the secret', async () => {
    const { issuer, server, guarded } = await startBoth();
    const wrong = { ...guarded, oauth: { ...guarded.oauth, clientSecret: 'a-wrong-secret' } };
    const said = `${issuer.url} gave no token: invalid_client, not [masked]`;
    const advice = 'Check "oauth.clientSecret" of the server in the configuration.';
    expect(await list(wrong)).toBe(`The source mcp#guarded failed (${said}). ${advice}`);
    expect(await callerOf(wrong).call()).toMatchObject({
      code: 'tool_unavailable',
      reason: `The MCP server "guarded" failed (${said}). ${advice}`,
    });
    expect([server.seen, issuer.asked.length]).toEqual([[], 2]);
  });

  it.each<[string, string, object]>([
    ['no scope of that name', 'oauth.scope', { error: 'invalid_scope', error_description: 'what?' }],
    ['no such client for it', 'oauth.clientId', { error: 'unauthorized_client' }],
    ['neither token nor error', 'oauth.issuer', {}],
  ])('that has %s leads to the key %s', async (_, key, body) => {
    const { issuer, guarded } = await startBoth();
    issuer.answer = (_request, response) => sendJson(response, 400, body);
    expect(await list(guarded)).toContain(`Check "${key}" of the server in the configuration`);
  });

  it('that is down is named, and what runs meanwhile goes on', async () => {
    const { issuer, server, call } = await startCalled();
    issuer.tokens.clear();
    issuer.close();
    const said = expect.stringMatching(
      /can't be used: http:\S+ gave no token: .*fetch failed.*Check "oauth\.issuer" of/u,
    );
    expect(await call()).toMatchObject({ code: 'tool_unavailable', reason: said });
    const kept = [...server.seen].reverse().find(({ authorization }) => authorization)?.authorization ?? '';
    issuer.tokens.add(kept.slice(7));
    expect(await call()).toMatchObject({ ok: true });
  });

  it.each<[string, (told: Told) => void]>([
    [
      'is at another origin',
      ({ server, other }) => Object.assign(server.describes ?? {}, { authorization_servers: [other] }),
    ],
    [
      'has tokens at another origin',
      ({ server, other }) => Object.assign(server.issuer, { metadata: { token_endpoint: `${other}/token` } }),
    ],
    [
      'says that it is another one',
      ({ server, other }) => Object.assign(server.issuer, { metadata: { issuer: other } }),
    ],
  ])('that nobody configured and that %s is asked for nothing', async (_, tell) => {
    const other = await startIssuer();
    const server = await startServer();
    tell({ server, other: other.url });
    expect(await list({ url: server.url, oauth: CLIENT })).toMatch(/gave no token: .*Check "oauth\.issuer" of/u);
    expect([other.lines, server.issuer.asked, server.seen]).toEqual([[], [], []]);
  });
  interface Told {
    server: Awaited<ReturnType<typeof startServer>>;
    other: string;
  }

  it('that is configured is the one that is asked, whatever the server says', async () => {
    const other = await startIssuer();
    const { issuer, server, guarded } = await startBoth();
    server.describes = { authorization_servers: [other.url] };
    server.challenge = `Bearer resource_metadata="${other.url}/metadata"`;
    const { call } = callerOf(guarded);
    await call();
    issuer.tokens.clear();
    expect(await call()).toMatchObject({ ok: true });
    expect([other.lines, server.issuer.asked]).toEqual([[], []]);
    expect(issuer.asked).toHaveLength(2);
  });

  it('that is configured may have its tokens at another origin, but for one without TLS', async () => {
    const { issuer, server, guarded } = await startBoth();
    const tokensAt = await startIssuer();
    issuer.metadata = { token_endpoint: `${tokensAt.url}/token` };
    tokensAt.answer = (_, response) => {
      issuer.tokens.add('from-the-other-place');
      sendJson(response, 200, { access_token: 'from-the-other-place', token_type: 'Bearer' });
    };
    expect(await list(guarded)).toBe('1 tools');
    issuer.metadata = { token_endpoint: 'http://tokens.example/token' };
    expect(await list(guarded)).toContain('Check "oauth.issuer"');
    const unsafe = { ...guarded, oauth: { ...CLIENT, issuer: 'http://issuer.example' } };
    expect(await list(unsafe)).toContain('http://issuer.example gave no token: it is at another place');
    expect(server.seen.length).toBeGreaterThan(0);
  });

  it('whose metadata is a redirect to another origin is not followed', async () => {
    const other = await startIssuer();
    const moved = opened(
      await listen(
        (request, response) => void response.writeHead(302, { location: `${other.url}${request.url}` }).end(),
      ),
    );
    const { server } = await startBoth();
    expect(await list({ url: server.url, oauth: { ...CLIENT, issuer: moved.url } })).toContain('Check "oauth.issuer"');
    expect(other.lines).toEqual([]);
  });

  it('whose endpoint of tokens is a redirect to another origin gets no secret there', async () => {
    const { issuer, guarded } = await startBoth();
    const other = await startIssuer();
    issuer.answer = (_, response) => void response.writeHead(307, { location: `${other.url}/token` }).end();
    expect(await list(guarded)).toContain('Check "oauth.issuer"');
    expect([other.lines, other.asked]).toEqual([[], []]);
  });

  it("is found where the server's refusal names its description, at its own origin alone", async () => {
    const { issuer, server, guarded } = await startBoth();
    Object.assign(server, { isHidden: true, challenge: `Bearer resource_metadata="${server.origin}/description"` });
    const { call } = callerOf(guarded);
    await call();
    issuer.tokens.clear();
    expect(await call()).toMatchObject({ ok: true });
    expect(issuer.asked.map(({ fields }) => fields.resource)).toEqual([undefined, server.url]);
  });
});
