/** Who may ask a server: pages stay outside, and callers prove who they are, on every path. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { type AuthParts, createAuthenticate } from '../../../src/adapters/http/auth/authenticate.js';
import { createVerifyJwt, jwtSettingsSchema } from '../../../src/adapters/http/auth/jwt.js';
import { createMcpEndpoint } from '../../../src/adapters/mcp/http-endpoint.js';
import { failureFacts } from '../../../src/agents/logging/logger.js';
import { toWinnowError } from '../../../src/core/errors.js';
import { createWorld } from '../mcp/setup.js';
import { startAgentServer } from './agents/setup.js';

type HeaderLines = Record<string, string | string[]>;

/** `fetch` sets Host and Sec-Fetch-Site itself, and sends no header twice. */
async function send(url: string, line: string, headers: HeaderLines = {}) {
  const [method = '', path = ''] = line.split(' ');
  const sent = httpRequest(`${url}${path}`, {
    method,
    headers: { accept: 'application/json, text/event-stream', ...headers },
  });
  sent.end(method === 'GET' || method === 'DELETE' ? undefined : '{}');
  const [response] = await once(sent, 'response');
  let text = '';
  for await (const chunk of response) text += chunk;
  const type = String(response.headers['content-type']);
  return { status: response.statusCode, body: type.includes('json') ? JSON.parse(text) : text };
}

const JSON_TYPE = { 'content-type': 'application/json' };

async function serve(parts: AuthParts = {}, more: { hostNames?: string[] } = {}) {
  const { parts: mcpParts } = await createWorld();
  const mcp = createMcpEndpoint({ ...mcpParts, allowedHosts: undefined });
  return startAgentServer({ mcp, authenticate: createAuthenticate(parts), ...more });
}

const PATHS = ['POST /v1/sessions', 'GET /v1/audit', 'POST /v1/plan', 'POST /mcp', 'GET /metrics', 'GET /openapi.json'];

describe('a page', () => {
  const PAGES: [string, HeaderLines][] = [
    ['whose name is bound to this machine', { host: 'evil.example' }],
    ['of an address that begins like this machine', { host: 'localhost.evil.example' }],
    ['that is no name', { host: '%' }],
    ['with this machine behind its name', { host: 'evil.example@localhost' }],
    ['with this machine before a path', { host: 'localhost/evil.example' }],
    ['from elsewhere', { origin: 'https://evil.example' }],
    ['without a place', { origin: 'null' }],
    ['of another program of this machine', { origin: 'http://localhost:6274' }],
    ['of another site, without an origin', { 'sec-fetch-site': 'cross-site' }],
    ['of a sister of this site', { 'sec-fetch-site': 'same-site' }],
  ];
  it.each(PAGES)('%s is refused on every path', async (_, headers) => {
    const { url } = await serve();
    for (const path of PATHS)
      expect([path, await send(url, path, { ...JSON_TYPE, ...headers })]).toMatchObject([path, { status: 403 }]);
  });

  it('of the server itself may ask, and a program that is no page', async () => {
    const { url } = await serve();
    const { host } = new URL(url);
    for (const headers of [
      { origin: `http://${host}`, 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
      {},
    ])
      expect((await send(url, 'POST /v1/sessions', { ...JSON_TYPE, ...headers })).status).toBe(201);
  });

  it('may be of a name that the operator gave, and of no other', async () => {
    const { url } = await serve({}, { hostNames: ['tools.example'] });
    const page = { ...JSON_TYPE, host: 'Tools.Example', origin: 'https://tools.example' };
    expect((await send(url, 'POST /v1/sessions', page)).status).toBe(201);
    expect((await send(url, 'POST /v1/sessions', { ...page, origin: 'https://other.example' })).status).toBe(403);
    expect((await send(url, 'POST /v1/sessions', { ...JSON_TYPE, host: 'other.example' })).status).toBe(403);
  });

  it('of another program on an address of this machine is refused, too, if the server is named by it', async () => {
    const { url } = await serve({}, { hostNames: ['127.0.0.2'] });
    const page = (origin: string) => ({ ...JSON_TYPE, host: '127.0.0.2:8000', origin });
    expect((await send(url, 'POST /v1/sessions', page('http://127.0.0.2:8000'))).status).toBe(201);
    expect((await send(url, 'POST /v1/sessions', page('http://127.0.0.2:9999'))).status).toBe(403);
  });

  it.each([[{}], [{ 'content-type': 'text/plain' }], [{ 'content-type': 'application/x-www-form-urlencoded' }]])(
    'can not send what a browser sends without asking ahead: %j',
    async (headers) => {
      const { url } = await serve();
      for (const path of ['POST /v1/sessions', 'POST /v1/index/rebuild', 'PUT /v1/rules/x', 'POST /mcp'])
        expect((await send(url, path, headers)).status).toBe(415);
    },
  );
});

it('a request without a body says all the same that it is JSON', async () => {
  const { url } = await serve();
  for (const path of ['/v1/sessions', '/v1/index/rebuild', '/v1/adaptation/learn', '/mcp'])
    expect([path, (await fetch(`${url}${path}`, { method: 'POST' })).status]).toEqual([path, 415]);
  expect((await fetch(`${url}/v1/sessions`, { method: 'POST', headers: JSON_TYPE })).status).toBe(201);
});

describe('a program of this machine', () => {
  it('is the operator, or says for whom it asks', async () => {
    const { url } = await serve();
    expect((await send(url, 'GET /v1/audit')).status).toBe(200);
    const opened = await send(url, 'POST /v1/sessions', { ...JSON_TYPE, 'x-winnow-user': 'ann' });
    expect(opened.body).toMatchObject({ user: 'ann', roles: [] });
    expect((await send(url, 'GET /v1/audit', { 'x-winnow-user': 'ann' })).status).toBe(404);
  });

  it.each<[string, HeaderLines, string]>([
    ['a user twice', { 'x-winnow-user': ['ann', 'bob'] }, 'x-winnow-user is there 2 times'],
    ['roles twice', { 'x-winnow-user': 'ann', 'x-winnow-roles': ['a', 'operator'] }, 'x-winnow-roles is there 2 times'],
    ['an empty user', { 'x-winnow-user': '' }, 'x-winnow-user is empty'],
    ['roles of nobody', { 'x-winnow-roles': 'operator' }, 'counts only beside x-winnow-user'],
  ])('is refused where it names %s', async (_, headers, detail) => {
    const { url } = await serve();
    for (const path of ['POST /v1/sessions', 'POST /mcp', 'GET /v1/tools'])
      expect(await send(url, path, { ...JSON_TYPE, ...headers })).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining(detail) },
      });
  });

  it.each(['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via', 'true-client-ip'])(
    'is none where its request came through a proxy, as %s says; a token is taken there, too',
    async (name) => {
      const { url } = await serve({ operatorToken: 'the-token-of-the-operator' });
      const proxied = { ...JSON_TYPE, [name]: '203.0.113.7' };
      for (const path of ['POST /v1/sessions', 'GET /v1/audit', 'POST /mcp'])
        expect(await send(url, path, proxied)).toMatchObject({
          status: 401,
          body: { detail: expect.stringContaining('through a proxy') },
        });
      const proven = { ...proxied, ...bearer('the-token-of-the-operator') };
      expect((await send(url, 'POST /v1/sessions', proven)).status).toBe(201);
    },
  );

  it('gets answers that no cache keeps for another', async () => {
    const { url } = await serve();
    for (const path of ['/v1/tools', '/v1/runs', '/v1/approvals/none'])
      expect((await fetch(`${url}${path}`)).headers.get('cache-control')).toBe('no-store');
  });

  it('decides on no approval without a proof, whatever it says', async () => {
    const { url, ask } = await serve({ operatorToken: 'the-token-of-the-operator' });
    const { body: session } = await ask('POST /v1/sessions', { user: 'ann' });
    await ask(`POST /v1/sessions/${session.id}/enable`, { names: ['file_delete'] });
    const call = { tool: 'file_delete', arguments: { path: 'a' } };
    const { body: waiting } = await ask(`POST /v1/sessions/${session.id}/call`, call);
    expect(waiting).toMatchObject({ code: 'needs_approval' });
    for (const verb of ['grant', 'refuse'])
      for (const who of [{}, { 'x-winnow-user': 'olga', 'x-winnow-roles': 'operator' }])
        expect(
          await send(url, `POST /v1/approvals/${waiting.approval}/${verb}`, { ...JSON_TYPE, ...who }),
        ).toMatchObject({
          status: 401,
          body: { code: 'unauthenticated', detail: expect.stringContaining('authorization: Bearer') },
        });
    const granted = await ask(`POST /v1/approvals/${waiting.approval}/grant`, { by: { user: 'olga' } });
    expect(granted.body).toMatchObject({ ok: true, approval: { decidedBy: 'olga' } });
  });

  it('is one by its address, whatever the server listens on', async () => {
    const from = (remoteAddress: string | undefined) =>
      createAuthenticate()({ headersDistinct: {}, socket: { remoteAddress } as never });
    for (const address of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1', undefined])
      expect(await from(address)).toEqual({ caller: undefined, isProven: false });
    for (const address of ['10.0.0.5', '::ffff:10.0.0.5', 'fe80::1', '8.8.8.8'])
      await expect(from(address)).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});

const ANN = { token: 'the-token-of-ann-1234', user: 'ann', roles: ['lead'] };
const bearer = (token: string) => ({ ...JSON_TYPE, authorization: `Bearer ${token}` });

describe('a server with tokens', () => {
  it('answers nobody else, on no path that is about callers', async () => {
    const { url } = await serve({ tokens: [ANN] });
    for (const path of PATHS.filter((one) => !one.endsWith('openapi.json')))
      for (const headers of [
        {},
        { 'x-winnow-user': 'ann', 'x-winnow-roles': 'operator' },
        bearer('another'),
        { authorization: 'Basic YTpi' },
      ])
        expect([path, await send(url, path, { ...JSON_TYPE, ...headers })]).toMatchObject([path, { status: 401 }]);
    expect((await send(url, 'GET /healthz')).status).toBe(200);
    for (const path of ['POST /%6dcp', 'POST /mcp?x', 'POST /%761/sessions'])
      expect((await send(url, path, JSON_TYPE)).status).toBe(401);
  });

  it('knows user and roles by the token, and takes no other name beside it', async () => {
    const { url } = await serve({
      tokens: [ANN, { ...ANN, token: 'the-token-of-olga-123', user: 'olga', roles: ['operator'] }],
    });
    const { body } = await send(url, 'POST /v1/sessions', bearer(ANN.token));
    expect(body).toMatchObject({ user: 'ann', roles: ['lead'] });
    expect((await send(url, 'GET /v1/audit', bearer(ANN.token))).status).toBe(404);
    expect((await send(url, 'GET /metrics', bearer(ANN.token))).status).toBe(404);
    for (const path of ['GET /v1/audit', 'GET /metrics'])
      expect((await send(url, path, bearer('the-token-of-olga-123'))).status).toBe(200);
    // Before the body is read, which may be much longer here than elsewhere.
    const noJson = { method: 'POST', body: '{', headers: { ...JSON_TYPE, authorization: `Bearer ${ANN.token}` } };
    expect((await fetch(`${url}/v1/index/snapshot`, noJson)).status).toBe(404);
    expect(await send(url, 'POST /v1/sessions', { ...bearer(ANN.token), 'x-winnow-user': 'bob' })).toMatchObject({
      status: 400,
    });
  });

  it('answers under any name, since a name proves nothing there', async () => {
    const { url } = await serve({ tokens: [ANN] });
    expect((await send(url, 'POST /v1/sessions', { ...bearer(ANN.token), host: 'tools.example' })).status).toBe(201);
    const page = { ...bearer(ANN.token), host: 'tools.example', origin: 'https://evil.example' };
    expect((await send(url, 'POST /v1/sessions', page)).status).toBe(403);
  });
});

describe('a server behind a gateway', () => {
  const SECRET = 'the-secret-of-the-gateway';

  it('believes the headers of the one that knows the secret', async () => {
    const { url } = await serve({ gatewaySecret: SECRET });
    const asked = (headers: HeaderLines) => send(url, 'POST /v1/sessions', { ...JSON_TYPE, ...headers });
    const user = { 'x-winnow-user': 'ann', 'x-winnow-roles': 'lead, night' };
    expect(await asked({ ...user, 'x-winnow-gateway': SECRET })).toMatchObject({
      body: { user: 'ann', roles: ['lead', 'night'] },
    });
    expect((await asked(user)).status).toBe(401);
    expect((await asked({ ...user, 'x-winnow-gateway': `${SECRET}x` })).status).toBe(401);
    expect((await asked({ 'x-winnow-gateway': SECRET })).status).toBe(401);
    for (const doubled of [
      { 'x-winnow-user': ['ann', 'bob'] },
      { 'x-winnow-user': '' },
      { 'x-winnow-gateway': [SECRET, SECRET] },
    ])
      expect((await asked({ ...user, 'x-winnow-gateway': SECRET, ...doubled })).status).toBe(400);
  });

  it('decides by the roles of now, not by those of the day when the session was opened', async () => {
    const rules = [{ name: 'suspended', match: { role: 'suspended' }, decision: 'deny' as const }];
    const { url } = await startAgentServer({
      policy: { rules },
      authenticate: createAuthenticate({ gatewaySecret: SECRET }),
    });
    const as = async (line: string, roles: string, body: object = {}) => {
      const [method = '', path = ''] = line.split(' ');
      const headers = { ...JSON_TYPE, 'x-winnow-gateway': SECRET, 'x-winnow-user': 'ann', 'x-winnow-roles': roles };
      return (await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) })).json() as Promise<
        Record<string, unknown>
      >;
    };
    const { id } = await as('POST /v1/sessions', 'lead');
    await as(`POST /v1/sessions/${id}/enable`, 'lead', { names: ['file_list'] });
    expect(await as(`POST /v1/sessions/${id}/call`, 'lead', { tool: 'file_list' })).toMatchObject({ ok: true });
    expect(await as(`POST /v1/sessions/${id}/call`, 'suspended', { tool: 'file_list' })).toMatchObject({
      ok: false,
      code: 'unknown_tool',
    });
  });
});

describe('a JSON Web Token', () => {
  const CLAIMS = { iss: 'https://issuer.example', aud: 'winnow', sub: 'ann', roles: ['lead'] };
  const settings = jwtSettingsSchema.parse({
    issuer: CLAIMS.iss,
    audience: CLAIMS.aud,
    jwksUrl: 'https://issuer.example/jwks',
  });

  async function issuer() {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' };
    const sign = (
      claims: object,
      { key = privateKey as Parameters<SignJWT['sign']>[0], alg = 'ES256', exp = '5m' as string | number } = {},
    ) => new SignJWT({ ...CLAIMS, ...claims }).setProtectedHeader({ alg, kid: 'k1' }).setExpirationTime(exp).sign(key);
    return { jwk, sign, keys: createLocalJWKSet({ keys: [jwk] }) };
  }

  it('says who asks, as its issuer knows it', async () => {
    const { sign, keys } = await issuer();
    const verifyJwt = createVerifyJwt(settings, keys);
    const { url } = await serve({ verifyJwt });
    const { body } = await send(url, 'POST /v1/sessions', bearer(await sign({})));
    expect(body).toMatchObject({ user: 'ann', roles: ['lead'] });
    const other = createVerifyJwt({ ...settings, userClaim: 'email', rolesClaim: 'scope' }, keys);
    expect(await other(await sign({ email: 'ann@x.example', scope: 'lead night' }))).toEqual({
      user: 'ann@x.example',
      roles: ['lead', 'night'],
    });
  });

  it('is refused where anything of it is not right', async () => {
    const { sign, keys, jwk } = await issuer();
    const stranger = await issuer();
    const verifyJwt = createVerifyJwt(settings, keys);
    const { url } = await serve({ verifyJwt });
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify(CLAIMS)).toString('base64url')}.`;
    const tokens = await Promise.all([
      stranger.sign({}),
      sign({ iss: 'https://other.example' }),
      sign({ aud: 'other' }),
      sign({}, { exp: 1 }),
      sign({ sub: '' }),
      sign({ sub: undefined }),
      sign({ roles: { operator: true } }),
      // The public key as a shared secret.
      sign({}, { alg: 'HS256', key: new TextEncoder().encode(JSON.stringify(jwk)) }),
    ]);
    for (const token of [...tokens, unsigned, 'a.b.c', 'abc'])
      expect([token, await send(url, 'POST /v1/sessions', bearer(token))]).toMatchObject([token, { status: 401 }]);
  });

  it('is not refused for good while the keys of its issuer can not be read', async () => {
    const { sign } = await issuer();
    const verifyJwt = createVerifyJwt({ ...settings, jwksUrl: 'http://127.0.0.1:9/jwks' });
    const failure = await verifyJwt(await sign({})).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'overloaded', message: expect.stringContaining('auth.jwt.jwksUrl') });
    expect(failureFacts(toWinnowError(failure)).reason).toContain('fetch failed');
  });
});
