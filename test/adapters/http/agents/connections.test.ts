/** Users who connect an MCP server to their own accounts there, over HTTP: a small issuer, a server behind it, and browsers. */
import { randomBytes } from 'node:crypto';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { createUserTokens } from '../../../../src/agents/connections/user-tokens.js';
import {
  type AuthorizationServer,
  CLIENT,
  sendJson,
  startAuthorizationServer,
} from '../../../support/authorization-server.js';
import { answeringPlanner, startServer } from '../setup.js';
import { comeBack, OLGA, opened, startConnections } from './connections-setup.js';

const ANN = { user: 'ann' };
const EVE = { user: 'eve' };

const withQuery = (address: string, change: Record<string, string | undefined>) => {
  const url = new URL(address);
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url.href;
};

const refreshesOf = ({ asked }: AuthorizationServer) =>
  asked.filter(({ fields }) => fields.grant_type === 'refresh_token').length;

const UNCONNECTED = {
  ok: false,
  code: 'not_connected',
  reason: expect.stringContaining('You have not connected the MCP server "notes"'),
  next: expect.stringContaining('POST /v1/connections/notes'),
};

describe('a server that users authorize', () => {
  it('gives its tools when an operator has connected it, and is reached by each user as themselves', async () => {
    const { connect, call, ask, server, issuer, listed, audited, logged, url } = await startConnections();
    const { body: session } = await ask('POST /v1/sessions', {}, ANN);
    const { body: found } = await ask(`POST /v1/sessions/${session.id}/search`, { query: 'nod' }, ANN);
    const reason = expect.stringContaining('is not connected: an operator connects it');
    expect(found).toMatchObject({ matches: [], down: [{ server: 'notes', reason }] });
    await connect(ANN);
    expect((await ask('GET /v1/index', undefined, OLGA)).body.tools).toBe(0);
    await connect(OLGA);
    await connect({ user: 'bob' });
    for (const user of ['ann', 'bob', 'ann', 'bob']) expect(await call({ user })).toMatchObject({ output: user });
    expect([server.connections, server.calls]).toEqual([['olga', 'ann', 'bob'], 4]);
    expect(await call({ user: 'carl' })).toMatchObject(UNCONNECTED);
    expect(server.calls).toBe(4);
    expect(await audited('call')).toContainEqual({ user: 'carl', code: 'not_connected', reason: UNCONNECTED.reason });
    expect(await listed(ANN)).toEqual([
      { server: 'notes', isConnected: true, since: expect.stringMatching(/Z$/u), scope: 'notes:read' },
    ]);
    expect(await listed({ user: 'carl' })).toEqual([{ server: 'notes', isConnected: false }]);
    expect(await listed({ user: 'guest' })).toEqual([]);
    expect((await ask('POST /v1/connections/notes', {}, { user: 'guest' })).status).toBe(404);
    expect(await audited('connection_made')).toEqual(['bob', 'olga', 'ann'].map((user) => ({ user, reason: 'notes' })));
    const { body: trail } = await ask('GET /v1/audit', undefined, OLGA);
    const document = await (await fetch(`${url}/openapi.json`)).text();
    expect(await new Validator().validate(JSON.parse(document))).toMatchObject({ valid: true });
    for (const secret of [...issuer.tokens, ...issuer.accounts.keys(), CLIENT.clientSecret])
      expect(JSON.stringify(trail) + logged() + document).not.toContain(secret);
  });

  it('is let go of: its connection is closed, its tokens are taken back and forgotten', async () => {
    const { connect, call, ask, server, issuer, listed, audited, store } = await startConnections();
    await connect(OLGA);
    await connect(ANN);
    await call(ANN);
    const removed = await ask('DELETE /v1/connections/notes', undefined, ANN);
    expect([removed.status, removed.body]).toEqual([200, { removed: 'notes', isRevoked: true }]);
    expect([server.closed, await listed(ANN)]).toEqual([2, [{ server: 'notes', isConnected: false }]]);
    expect([await call(ANN), server.calls]).toMatchObject([UNCONNECTED, 1]);
    expect((await ask('DELETE /v1/connections/notes', undefined, ANN)).status).toBe(404);
    expect(await audited('connection_removed')).toEqual([{ user: 'ann', reason: 'notes' }]);
    expect((await store.connections.list()).map(({ owner }) => owner)).toEqual(['olga']);
    issuer.metadata = { revocation_endpoint: undefined };
    expect((await ask('DELETE /v1/connections/notes', undefined, OLGA)).body.isRevoked).toBe(false);
  });

  it('refuses a row of another user, of another key, and of a server that has moved', async () => {
    const { connect, call, store, server, tokens, place, notes, clock } = await startConnections();
    await connect(OLGA);
    await connect(ANN);
    const row = await store.connections.get('ann', 'notes');
    await store.connections.put({ owner: 'bob', name: 'notes', content: row?.content, updatedAt: '' });
    expect(await call({ user: 'bob' })).toMatchObject(UNCONNECTED);
    expect(server.calls).toBe(0);
    expect(await tokens.find(place('ann'))).toMatchObject({ byOperator: false });
    for (const other of [
      { ...notes, url: 'https://elsewhere.example/mcp' },
      { ...notes, oauth: { ...notes.oauth, issuer: 'https://other.example' } },
    ])
      expect(await tokens.find({ ...place('ann'), server: other })).toBeUndefined();
    const ofOtherKey = createUserTokens({ store: store.connections, key: randomBytes(32), clock });
    expect(await ofOtherKey.find(place('ann'))).toBeUndefined();
    expect(JSON.stringify(await store.connections.list())).not.toMatch(/token-number|127\.0\.0\.1/u);
  });

  it('needs callers who prove who they are', async () => {
    const { agents } = await startConnections();
    await expect(startServer({ planner: answeringPlanner(), agents })).rejects.toThrow(/^connections: .*Set auth/u);
  });
});

describe('the way back from the issuer', () => {
  type Begun = Awaited<ReturnType<Awaited<ReturnType<typeof startConnections>>['begin']>>;
  type Started = Awaited<ReturnType<typeof startConnections>>;

  type Way = readonly [address: string, cookie: string];

  it.each<[string, number, (begun: Begun, world: Started) => Promise<Way> | Way]>([
    ['with a forged state', 403, ({ back, cookie }) => [withQuery(back, { state: 'forged' }), cookie]],
    ['without a state', 400, ({ back, cookie }) => [withQuery(back, { state: undefined }), cookie]],
    ['in another browser', 403, ({ back }) => [back, '']],
    ['in the browser of another user', 403, async ({ back }, { begin }) => [back, (await begin(EVE)).cookie]],
    [
      "with another user's state",
      403,
      async ({ back, cookie }, { begin }) => {
        const { searchParams } = new URL((await begin(EVE)).back);
        return [withQuery(back, { state: searchParams.get('state') ?? '' }), cookie];
      },
    ],
    [
      'after it was begun anew',
      403,
      async ({ back, cookie }, { begin }) => {
        await begin(ANN);
        return [back, cookie];
      },
    ],
    [
      'after ten minutes',
      403,
      ({ back, cookie }, { state }) => {
        state.time += 600_001;
        return [back, cookie];
      },
    ],
    [
      'without agreement',
      403,
      ({ back, cookie }) => [withQuery(back, { code: undefined, error: 'access_denied' }), cookie],
    ],
    ['from another issuer', 502, ({ back, cookie }) => [withQuery(back, { iss: 'https://evil.example' }), cookie]],
    [
      'from an issuer that does not name itself as it promised',
      502,
      ({ back, cookie }, { issuer }) => {
        issuer.metadata = { authorization_response_iss_parameter_supported: true };
        return [withQuery(back, { iss: undefined }), cookie];
      },
    ],
  ])('%s connects nothing, and nobody is shown the code', async (_, status, change) => {
    const world = await startConnections();
    const begun = await world.begin(ANN);
    const came = await comeBack(...(await change(begun, world)));
    expect([came.status, came.headers['cache-control'], world.issuer.asked]).toEqual([status, 'no-store', []]);
    expect(came.page + world.logged()).not.toMatch(/evil|forged|code-number/u);
    for (const who of [ANN, EVE]) expect(await world.listed(who)).toEqual([{ server: 'notes', isConnected: false }]);
  });

  it('with a code that is none connects nothing', async () => {
    const { begin, listed, logged } = await startConnections();
    const { back, cookie } = await begin(ANN);
    expect((await comeBack(withQuery(back, { code: 'guessed-code' }), cookie)).status).toBe(502);
    expect(await listed(ANN)).toEqual([{ server: 'notes', isConnected: false }]);
    expect(logged()).toContain('gave no token: invalid_grant');
  });

  it('counts once, also for two servers of a store at the same moment', async () => {
    const { begin, issuer, agents, listed } = await startConnections();
    const { back, cookie } = await begin(ANN);
    const { state = '', ...answer } = Object.fromEntries(new URL(back).searchParams);
    const both = [1, 2].map(() => agents.connections?.end({ state, ...answer }, cookie));
    const outcomes = (await Promise.allSettled(both)).map(({ status }) => status);
    expect([outcomes, issuer.asked.length]).toEqual([['fulfilled', 'rejected'], 1]);
    expect((await comeBack(back, cookie)).status).toBe(403);
    expect(await listed(ANN)).toMatchObject([{ isConnected: true }]);
  });

  it('goes to the public address alone, with a cookie that no script and no other site gets', async () => {
    const { begin, url, ask } = await startConnections({ publicUrl: 'https://winnow.example/app/' });
    const { begun, setCookie } = await begin(ANN);
    const { searchParams } = new URL(begun.url);
    expect(searchParams.get('redirect_uri')).toBe('https://winnow.example/app/v1/connections/callback');
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    expect(setCookie).toMatch(
      /^winnow-connection-\S{8}=\S{43}; Max-Age=600; HttpOnly; SameSite=Lax; Path=\/app\/v1\/connections\/callback; Secure$/u,
    );
    expect(url).toMatch(/^http:\/\/127/u);
    expect((await ask('POST /v1/connections/other', {}, ANN)).status).toBe(404);
  });

  it('leads to no place that nobody configured', async () => {
    const { issuer, server, ask, notes } = await startConnections({ oauth: { issuer: undefined } });
    const other = opened(await startAuthorizationServer());
    const begin = async () => (await ask('POST /v1/connections/notes', {}, ANN)).status;
    expect([notes.oauth.issuer, await begin()]).toEqual([undefined, 502]);
    server.describes = {};
    for (const metadata of [
      { authorization_endpoint: `${other.url}/authorize` },
      { issuer: other.url },
      { authorization_endpoint: 'javascript:alert(1)' },
    ]) {
      server.issuer.metadata = metadata;
      expect(await begin()).toBe(502);
    }
    server.issuer.metadata = {};
    expect([await begin(), issuer.lines, other.lines]).toEqual([200, [], []]);
  });
});

describe('the tokens of a user', () => {
  async function connected() {
    const world = await startConnections();
    await world.connect(OLGA);
    await world.connect(ANN);
    return world;
  }

  it('are renewed once for all servers of a store and all calls, as their refresh token counts once', async () => {
    const { issuer, store, key, clock, tokens, place, call } = await connected();
    issuer.expiresIn = 0;
    issuer.tokens.clear();
    await call(ANN);
    issuer.expiresIn = undefined;
    const before = refreshesOf(issuer);
    expect(before).toBeGreaterThan(0);
    const others = [1, 2].map(() => createUserTokens({ store: store.connections, key, clock }));
    const all = [tokens, tokens, ...others].map((one) => one.of(place('ann')).token());
    const [first, ...rest] = await Promise.all(all);
    expect([rest, refreshesOf(issuer)]).toEqual([Array(3).fill(first), before + 1]);
    expect(await call(ANN)).toMatchObject({ output: 'ann' });
  });

  it('are over where the issuer says so: the user is told to connect, and no call is made', async () => {
    const { issuer, server, call, listed, audited } = await connected();
    issuer.tokens.clear();
    issuer.accounts.clear();
    expect([await call(ANN), await call(ANN), server.calls]).toMatchObject([UNCONNECTED, UNCONNECTED, 0]);
    expect(await listed(ANN)).toEqual([{ server: 'notes', isConnected: false }]);
    expect(await audited('connection_ended')).toEqual([{ user: 'ann', reason: 'notes' }]);
  });

  it.each<[string, (issuer: AuthorizationServer) => void]>([
    ['is down', (issuer) => issuer.close()],
    ['answers nonsense', (issuer) => Object.assign(issuer, { answer: answerNonsense })],
    ['is overloaded', (issuer) => Object.assign(issuer, { answer: answerBusy })],
  ])('stay where the issuer %s', async (_, change) => {
    const { issuer, server, call, listed } = await connected();
    const kept = new Set(issuer.tokens);
    issuer.tokens.clear();
    change(issuer);
    expect(await call(ANN)).toMatchObject({
      ok: false,
      code: 'tool_unavailable',
      reason: expect.stringContaining('gave no token'),
    });
    expect([await listed(ANN), server.calls]).toMatchObject([[{ isConnected: true }], 0]);
    for (const token of kept) issuer.tokens.add(token);
    expect(await call(ANN)).toMatchObject({ output: 'ann' });
  });

  it('are not put back by a renewal while the user disconnects', async () => {
    const { issuer, tokens, place, ask, store } = await connected();
    let answer: () => void = () => {};
    const asked = new Promise<void>((resolve) => {
      issuer.answer = (_, response) => {
        answer = () => void sendJson(response, 200, { access_token: 'late', token_type: 'Bearer' });
        resolve();
      };
    });
    const [held] = await Promise.all([
      renewalOf(),
      asked.then(() => ask('DELETE /v1/connections/notes', undefined, ANN)),
    ]);
    expect([held, await store.connections.get('ann', 'notes')]).toEqual(['refused', undefined]);

    async function renewalOf(): Promise<string> {
      const own = tokens.of(place('ann'));
      await own.token();
      const renewal = own.onUnauthorized({ response: new Response(), serverUrl: new URL(issuer.url), fetchFn: fetch });
      await asked;
      while (await store.connections.get('ann', 'notes')) await new Promise((resolve) => setImmediate(resolve));
      answer();
      return renewal.then(
        () => 'renewed',
        () => 'refused',
      );
    }
  });
});

const answerNonsense: AuthorizationServer['answer'] = (_, response) => void response.writeHead(200).end('<html>');
const answerBusy: AuthorizationServer['answer'] = (_, response) => void response.writeHead(503).end();
