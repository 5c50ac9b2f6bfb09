import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createHttpExecutor,
  type HttpExecutorOptions,
  type HttpExecutorParts,
} from '../../../../../src/agents/sandbox/executors/http/http.js';
import { createSandbox, type DecidedCall } from '../../../../../src/agents/sandbox/sandbox.js';
import type { Tool } from '../../../../../src/core/catalog/tool.js';
import { createTool } from '../../../../support/create-tool.js';
import { type PetApi, startPetApi } from './pet-api.js';

const SECRET = 'k3y/with+signs';

let api: PetApi;
beforeAll(async () => {
  api = await startPetApi();
  process.env.WINNOW_TEST_KEY = SECRET;
});
afterAll(async () => {
  delete process.env.WINNOW_TEST_KEY;
  await api.close();
});
beforeEach(() => {
  api.requests.length = 0;
});

const allSecrets = () => ({
  [api.base]: {
    key: 'WINNOW_TEST_KEY',
    login: 'WINNOW_TEST_KEY',
    inQuery: 'WINNOW_TEST_KEY',
    cookie: 'WINNOW_TEST_KEY',
  },
});

interface CallParts extends HttpExecutorParts {
  timeoutMs?: number;
  decided?: DecidedCall;
}

function call(name: string, input: object = {}, options: HttpExecutorOptions = {}, parts: CallParts = {}) {
  return runTool(toolOf(name), input, { privateAddresses: ['127.0.0.1'], ...options }, parts);
}

function toolOf(name: string): Tool {
  const tool = api.tools.get(name);
  if (!tool) throw new Error(`no tool ${name} among ${[...api.tools.keys()].join(', ')}`);
  return tool;
}

/** As in a catalogue that was loaded with this base URL. */
function toolAt(server: string, name: string): Tool {
  const tool = toolOf(name);
  return { ...tool, metadata: { ...tool.metadata, http: { ...Object(tool.metadata.http), server } } };
}

function runTool(
  tool: Tool,
  input: object,
  options: HttpExecutorOptions,
  { timeoutMs = 20_000, decided, ...parts }: CallParts = {},
) {
  const sandbox = createSandbox({
    executors: [createHttpExecutor(options, parts)],
    limits: { timeoutMs, maxOutputBytes: 20_000 },
  });
  return sandbox.run({ tool, arguments: input, decided });
}

describe('an operation of an OpenAPI document', () => {
  it('is called as the document says, and its JSON comes back', async () => {
    expect(await call('get_pet', { id: 'a/b', tag: ['x', 'y'] })).toMatchObject({
      ok: true,
      output: { id: 'a/b' },
      notes: [],
    });
    expect(await call('put_pet', { id: '1', name: 'Rex' })).toMatchObject({ ok: true });
    expect(api.requests.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['GET', '/pets/a%2Fb?tag=x&tag=y', ''],
      ['PUT', '/pets/1', '{"name":"Rex"}'],
    ]);
    expect(api.requests[1]?.headers).toMatchObject({
      'content-type': 'application/json',
      'accept-encoding': 'identity',
    });
  });

  it.each([
    ['text', { ok: true, output: '水' }],
    [
      'bytes',
      { ok: true, output: { contentType: 'image/png', base64: 'AQID' }, notes: [expect.stringContaining('base64')] },
    ],
    ['nothing', { ok: true, output: null }],
    ['broken-json', { ok: true, output: '{"a":', notes: [expect.stringContaining('given as text')] }],
    ['poison', { ok: true, output: { a: 1 }, notes: [expect.stringContaining('__proto__')] }],
    ['huge', { ok: false, code: 'output_too_large' }],
    ['404', { ok: false, code: 'tool_failed', reason: 'The server answered with HTTP 404: {"error":"no 404"}.' }],
    ['429', { ok: false, code: 'tool_unavailable' }],
    ['503', { ok: false, code: 'tool_unavailable' }],
    ['wait', { ok: false, reason: 'The server answered with HTTP 503. It asks to wait 7 s.' }],
    ['504', { ok: false, code: 'connection_lost' }],
    ['reset', { ok: false, code: 'connection_lost' }],
  ])('may answer in any way: %s', async (what, expected) => {
    expect(await call('answer', { what })).toMatchObject(expected);
  });

  it.each([
    ['answer', { what: '429' }, 'connection_lost'],
    ['answer', { what: '503' }, 'connection_lost'],
    ['redirect', { to: 'http://127.0.0.1:9/' }, 'connection_lost'],
    ['redirect', { to: 'http://gone.test/' }, 'connection_lost'],
  ])('that used an approval may have run, whatever the server says: %s %j', async (name, input, code) => {
    const options = { hosts: ['http://127.0.0.1:9', 'http://gone.test'], secrets: allSecrets() };
    const resolve = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }));
    const decided = { risk: 'low', isApproved: true, findRefusal: async () => undefined } as const;
    expect(await call(name, input, options, { resolve, decided })).toMatchObject({ ok: false, code });
    expect(api.requests).toHaveLength(1);
  });

  it('is decided again once the address is known, and is not sent where it is refused by then', async () => {
    const refusal = { ok: false, code: 'session_ended', reason: 'The session has ended.', next: 'Open one.' } as const;
    const decided = { risk: 'low', isApproved: false, findRefusal: async () => refusal } as const;
    expect(await call('answer', { what: 'text' }, {}, { decided })).toEqual(refusal);
    expect(api.requests).toEqual([]);
  });

  it('is stopped at the time-out, and its connection is closed', async () => {
    const closed = new Promise<void>((resolve) =>
      api.server.once('connection', (socket) => socket.once('close', () => resolve())),
    );
    expect(await call('answer', { what: 'hang' }, {}, { timeoutMs: 100 })).toMatchObject({
      ok: false,
      code: 'timeout',
    });
    await closed;
  });

  it('of a server that is not there is unavailable', async () => {
    const tool = toolAt('http://127.0.0.1:9', 'answer');
    expect(await runTool(tool, { what: 'x' }, { privateAddresses: ['127.0.0.1'] })).toMatchObject({
      ok: false,
      code: 'tool_unavailable',
    });
  });

  it('of a name that can not be resolved now is unavailable', async () => {
    const tool = toolAt('http://pets.test', 'answer');
    const resolve = () => Promise.reject(Object.assign(new Error('no'), { code: 'EAI_AGAIN' }));
    expect(await runTool(tool, { what: 'x' }, {}, { resolve })).toMatchObject({ code: 'tool_unavailable' });
  });

  it('that fails says so on one line, without hidden characters', async () => {
    const reason = 'The server answered with HTTP 400: no. Approval: 1 Granted: {}.';
    expect(await call('answer', { what: 'lines' })).toMatchObject({ code: 'tool_failed', reason });
  });

  it('needs a whole server URL, from the document or the catalogue', async () => {
    const http = { method: 'GET', path: '/x', server: '/api', parameters: {} };
    const tool = createTool('x', {}, undefined, { metadata: { http } });
    expect(await runTool(tool, {}, {})).toMatchObject({
      code: 'not_runnable',
      reason: expect.stringContaining('http.servers'),
    });
  });
});

describe('the secret of an operation', () => {
  it('comes from the environment by its name, and is in no result', async () => {
    const results = [
      await call('echo', {}, { secrets: allSecrets() }),
      await call('basic', {}, { secrets: allSecrets() }),
      await call('query_key', {}, { secrets: allSecrets() }),
    ];
    expect(api.requests.map(({ url, headers }) => [url, headers.authorization, headers.cookie])).toEqual([
      ['/secret', `Bearer ${SECRET}`, undefined],
      ['/basic', `Basic ${Buffer.from(SECRET).toString('base64')}`, undefined],
      [
        `/query?api_key=${new URLSearchParams({ k: SECRET }).toString().slice(2)}`,
        undefined,
        `sid=${encodeURIComponent(SECRET)}`,
      ],
    ]);
    expect(results).toMatchObject([{ ok: true }, { ok: true }, { ok: true }]);
    const shown = JSON.stringify(results);
    expect(shown).toContain('[masked]');
    for (const form of [SECRET, encodeURIComponent(SECRET), Buffer.from(SECRET).toString('base64')])
      expect(shown).not.toContain(form);
  });

  it.each(['200', '401'])('comes back in no escapes of JSON, and no password alone: %s', async (what) => {
    process.env.WINNOW_TEST_LOGIN = 'svc:hunter-2/horse';
    const secrets = { [api.base]: { key: 'WINNOW_TEST_KEY', login: 'WINNOW_TEST_LOGIN' } };
    const results = [await call('escaped', { what }, { secrets }), await call('login', { what }, { secrets })];
    delete process.env.WINNOW_TEST_LOGIN;
    const said = [{ 'Bearer [masked]': 'Bearer [masked]' }, { error: '[masked] is wrong' }];
    expect(results).toMatchObject(
      said.map((output) =>
        what === '200' ? { output, notes: [] } : { reason: expect.stringContaining(JSON.stringify(output)) },
      ),
    );
  });

  it('that is missing is told by the names of scheme and variable', async () => {
    expect(await call('echo')).toMatchObject({
      code: 'secret_missing',
      reason: expect.stringMatching(
        /needs key; .*http: \{ secrets: \{ "http:\/\/127\.0\.0\.1:\d+": \{ key: MY_SECRET \} \} \}/u,
      ),
    });
    const secrets = { [api.base]: { key: 'WINNOW_TEST_NO_SUCH_KEY' } };
    expect(await call('echo', {}, { secrets })).toMatchObject({
      code: 'secret_missing',
      reason: expect.stringContaining('WINNOW_TEST_NO_SUCH_KEY (http.secrets, for key) is not set'),
    });
    expect(api.requests).toEqual([]);
  });

  it.each(['busy', 'typed'])('comes back in no header, body or place of a redirect: %s', async (what) => {
    const echoed = await call('redirect', { to: `/answer/${what}` }, { secrets: allSecrets() });
    const sentOn = await call('redirect', { to: `http://x.test/${SECRET}` }, { secrets: allSecrets() });
    const shown = JSON.stringify([echoed, sentOn]);
    for (const form of [
      SECRET,
      Buffer.from(SECRET).toString('base64'),
      Buffer.from(`0Bearer ${SECRET}`).toString('base64'),
    ])
      expect(shown).not.toContain(form);
    expect(sentOn).toMatchObject({ code: 'redirect_refused' });
  });

  it('leaves the rest of the query as the document wants it', async () => {
    await call('list', { ids: ['a', 'b'] }, { secrets: allSecrets() });
    expect(api.requests[0]?.url).toMatch(/^\/list\?ids=a,b&api_key=k3y/u);
  });

  it('that is optional is sent where it is configured, wherever the document names it', async () => {
    for (const name of ['open', 'free']) await call(name, {}, { secrets: allSecrets() });
    expect(api.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${SECRET}`, `Bearer ${SECRET}`]);
  });

  it('that is optional may be missing', async () => {
    expect(await call('open')).toMatchObject({ ok: true });
    expect(api.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('is bound to its origin: another server does not get it', async () => {
    const secrets = { 'https://other.test': { key: 'WINNOW_TEST_KEY' } };
    expect(await call('echo', {}, { secrets })).toMatchObject({ code: 'secret_missing' });
  });
});

describe('attacks by where a request goes', () => {
  const of = (url: string, scope?: { user: string }) =>
    createTool('x', {}, undefined, {
      metadata: { http: { method: 'GET', path: '/', server: url, parameters: {} } },
      ...(scope ? { scope } : {}),
    });

  it.each([
    ['loopback', 'http://127.0.0.1'],
    ['a name for loopback', 'http://localhost'],
    ['IPv6 loopback', 'http://[::1]'],
    ['metadata of a cloud', 'http://169.254.169.254/latest'],
    ['hexadecimal', 'http://0x7f000001'],
    ['one number', 'http://2130706433'],
    ['a private network', 'http://10.0.0.1'],
    ['IPv4-mapped', 'http://[::ffff:127.0.0.1]'],
    ['user information before loopback', 'http://good.test@127.0.0.1'],
    ['user and password', 'http://a:b@example.com'],
    ['a file', 'file:///etc/passwd'],
    ['another protocol', 'ftp://example.com'],
  ])('are refused before anything is sent: %s', async (_, url) => {
    expect(await runTool(of(url), {}, {})).toMatchObject({ ok: false, code: 'address_refused' });
  });

  it('are refused when a name has a private address', async () => {
    const resolve = async () => [{ address: '192.168.0.1' }];
    expect(await runTool(of('http://innocent.test'), {}, {}, { resolve })).toMatchObject({ code: 'address_refused' });
  });

  it.each([
    ['a private network', () => api.base],
    ['a public host', () => 'http://93.184.216.34'],
  ])('do not leave the machine by a private tool, to %s', async (_, url) => {
    const result = await runTool(of(url(), { user: 'anna' }), {}, { privateAddresses: ['127.0.0.1'] });
    expect(result).toMatchObject({ ok: false, code: 'not_runnable' });
    expect(api.requests).toEqual([]);
  });

  it('can not use a name that changes its address: the one that was checked is connected to', async () => {
    let asked = 0;
    const resolve = async () => {
      asked += 1;
      return [{ address: asked === 1 ? '127.0.0.1' : '10.0.0.1' }];
    };
    const named = api.base.replace('127.0.0.1', 'rebinding.test');
    const options = { privateAddresses: ['127.0.0.1'] };
    expect(await runTool(toolAt(named, 'get_pet'), { id: '7' }, options, { resolve })).toMatchObject({
      ok: true,
      output: { id: '7' },
    });
    expect(asked).toBe(1);
    expect(api.requests[0]?.headers.host).toBe(named.replace('http://', ''));
  });

  it.each([
    ['to loopback by a name', 'http://localhost:1/', 'not allowed'],
    ['to metadata of a cloud', 'http://169.254.169.254/latest/meta-data', 'not allowed'],
    ['to another port', 'http://127.0.0.1:1/', 'not allowed'],
    ['to a file', 'file:///etc/passwd', 'not allowed'],
    ['with user information', 'http://good.test@127.0.0.1/', 'with a user name'],
    ['to nowhere', 'http://[', 'no URL'],
  ])('by a redirect are refused: %s', async (_, to, words) => {
    const result = await call('redirect', { to }, { secrets: allSecrets() });
    expect(result).toMatchObject({ ok: false, code: 'redirect_refused', reason: expect.stringContaining(words) });
  });

  it('by a redirect to a host that is allowed by name and private by address are refused', async () => {
    const addresses: Record<string, string> = { 'api.test': '127.0.0.1', 'partner.test': '10.9.9.9' };
    const resolve = async (name: string) => [{ address: addresses[name] ?? '0.0.0.0' }];
    const named = api.base.replace('127.0.0.1', 'api.test');
    const options = {
      privateAddresses: ['127.0.0.1'],
      hosts: ['http://partner.test'],
      secrets: { [named]: { key: 'WINNOW_TEST_KEY' } },
    };
    expect(
      await runTool(toolAt(named, 'redirect'), { to: 'http://partner.test/x' }, options, { resolve }),
    ).toMatchObject({
      code: 'redirect_refused',
      reason: expect.stringContaining('partner.test is not a public address'),
    });
  });

  it('by a redirect in a circle come to an end', async () => {
    const result = await call('redirect', { to: '/redirect/%2Fredirect%2Fx' }, { secrets: allSecrets() });
    expect(result).toMatchObject({
      ok: false,
      code: 'redirect_refused',
      reason: expect.stringContaining('more than 5 times'),
    });
  });

  it('by a redirect of a call that writes are refused', async () => {
    const result = await call('redirect_post', { to: '/pets/1' });
    expect(result).toMatchObject({
      ok: false,
      code: 'redirect_refused',
      reason: expect.stringContaining('calls that read'),
    });
  });

  it('gain no secret: one redirected within its host keeps it, one to an allowed host does not', async () => {
    expect(await call('redirect', { to: '/secret' }, { secrets: allSecrets() })).toMatchObject({ ok: true });
    expect(api.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${SECRET}`, `Bearer ${SECRET}`]);
    const result = await call(
      'redirect',
      { to: `${api.elsewhere}/` },
      { secrets: allSecrets(), hosts: [api.elsewhere] },
    );
    expect(result).toMatchObject({ ok: true, output: { host: api.elsewhere.replace('http://', '') } });
    expect(result.ok && result.output).not.toHaveProperty('authorization');
  });
});

describe('the options of HTTP calls', () => {
  it.each([
    ['a host without a scheme', { hosts: ['example.com'] }, 'http.hosts.0'],
    ['an unknown name', { host: [] }, 'http: Unrecognized key "host"; nearest: "hosts".'],
    ['a host with a path', { hosts: ['https://example.com/a'] }, 'http.hosts.0'],
    ['a network that is none', { privateAddresses: ['local'] }, 'privateAddresses'],
    ['a secret for no origin', { secrets: { petstore: { key: 'A' } } }, 'http.secrets'],
    ['a base URL beside that of the tool', { servers: { a: 'https://example.com' } }, 'servers'],
  ])('are refused with the name of what is wrong: %s', (_, options, name) => {
    expect(() => createHttpExecutor(Object(options))).toThrow(name);
  });
});
