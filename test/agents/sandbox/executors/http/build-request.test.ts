import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildRequest, type HttpTarget } from '../../../../../src/agents/sandbox/executors/http/build-request.js';
import type { ArgumentTarget } from '../../../../../src/agents/sandbox/executors/http/serialize-parameter.js';

/** Also halves of characters. */
const anyText = fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes));
const SERVER = new URL('https://api.test/v1/');
const LIST = ['blue', 'a b', '/'];
const OBJECT = { R: 100, G: 'x&y' };

async function build(target: Partial<HttpTarget>, input: Record<string, unknown>, server = SERVER) {
  const built = await buildRequest({ method: 'GET', path: '/x', parameters: {}, ...target }, server, input);
  if (!built.ok) return built.issues;
  const { url, headers, body } = built.request;
  return { url: url.href.slice('https://api.test/v1'.length), headers, body: body && Buffer.from(body).toString() };
}

describe('the parameters of a request', () => {
  it.each<[string, Omit<ArgumentTarget, 'in'>, unknown, string]>([
    ['a text', {}, 'a&b=c#d', 'color=a%26b%3Dc%23d'],
    ['a number', {}, 7, 'color=7'],
    ['a list, repeated', {}, LIST, 'color=blue&color=a%20b&color=%2F'],
    ['a list in one', { explode: false }, LIST, 'color=blue,a%20b,%2F'],
    ['a list, spaces', { style: 'spaceDelimited', explode: false }, LIST, 'color=blue%20a%20b%20%2F'],
    ['a list, pipes', { style: 'pipeDelimited', explode: false }, LIST, 'color=blue%7Ca%20b%7C%2F'],
    ['an empty list', {}, [], ''],
    ['an object, spread', {}, OBJECT, 'R=100&G=x%26y'],
    ['an object in one', { explode: false }, OBJECT, 'color=R,100,G,x%26y'],
    [
      'a deep object',
      { style: 'deepObject', explode: true },
      { ...OBJECT, L: [1, 2] },
      'color%5BR%5D=100&color%5BG%5D=x%26y&color%5BL%5D=1&color%5BL%5D=2',
    ],
    ['reserved characters, allowed', { allowReserved: true }, 'a/b:c?d&e#f;g=h', 'color=a/b:c?d%26e%23f%3Bg=h'],
    ['JSON', { contentType: 'application/json' }, { a: [1] }, 'color=%7B%22a%22%3A%5B1%5D%7D'],
    ['null', {}, null, ''],
  ])('in the query are written as OpenAPI says: %s', async (_, target, value, query) => {
    const built = await build({ parameters: { color: { in: 'query', name: 'color', ...target } } }, { color: value });
    expect(built).toMatchObject({ url: query === '' ? '/x' : `/x?${query}` });
  });

  it.each<[string, Omit<ArgumentTarget, 'in'>, unknown, string]>([
    ['a text', {}, 'a/../b?c#d@e', 'a%2F..%2Fb%3Fc%23d%40e'],
    ['a list', {}, LIST, 'blue,a%20b,%2F'],
    ['an object', {}, OBJECT, 'R,100,G,x%26y'],
    ['an object, exploded', { explode: true }, OBJECT, 'R=100,G=x%26y'],
    ['a label', { style: 'label' }, LIST, '.blue,a%20b,%2F'],
    ['a label, exploded', { style: 'label', explode: true }, LIST, '.blue.a%20b.%2F'],
    ['a matrix', { style: 'matrix' }, LIST, ';color=blue,a%20b,%2F'],
    ['a matrix, exploded', { style: 'matrix', explode: true }, LIST, ';color=blue;color=a%20b;color=%2F'],
    ['a matrix of an object', { style: 'matrix', explode: true }, OBJECT, ';R=100;G=x%26y'],
  ])('in the path are written as OpenAPI says: %s', async (_, target, value, path) => {
    const parameters = { color: { in: 'path' as const, name: 'color', ...target } };
    expect(await build({ path: '/x/{color}/y', parameters }, { color: value })).toMatchObject({ url: `/x/${path}/y` });
  });

  it('in headers and cookies are written as OpenAPI says', async () => {
    const parameters: HttpTarget['parameters'] = {
      trace: { in: 'header', name: 'X-Trace' },
      lang: { in: 'cookie', name: 'lang' },
      theme: { in: 'cookie', name: 'theme' },
    };
    expect(await build({ parameters }, { trace: ['a', 'b'], lang: 'zh;x', theme: null })).toMatchObject({
      headers: { 'x-trace': 'a,b', cookie: 'lang=zh%3Bx' },
    });
  });

  it.each([
    ['a parent folder', '..'],
    ['the same folder', '.'],
    ['a parent folder, encoded', '%2e%2e'],
    ['nothing', ''],
    ['null', null],
    ['an empty list', []],
  ])('can not lead to another path: %s', async (_, id) => {
    const parameters = { id: { in: 'path' as const, name: 'id' } };
    const built = await build({ path: '/pets/{id}', parameters, method: 'DELETE' }, { id });
    if (id === '%2e%2e') expect(built).toMatchObject({ url: '/pets/%252e%252e' });
    else expect(built).toEqual(['id: must not be empty, "." or ".." in a path']);
  });

  it.each([
    ['another parameter', { all: true }, 'all'],
    ['what the base URL fixes', { tenant: 2 }, 'tenant'],
    ['a credential', { key: 'x' }, 'key'],
    ['another parameter, in the form of a field of it', { 'filter[a]': 'x' }, 'filter[a]'],
    // Many servers read these as the parameter `all`.
    ...['all[]', 'all[$ne]', 'all.x', 'All', ' all', 'all\0'].map((name): [string, object, string] => [
      'another parameter, in other words',
      { [name]: 1 },
      name,
    ]),
  ])('can not write %s from within an object', async (_, value, name) => {
    const query = { in: 'query' as const };
    const deep = { ...query, name: 'filter', style: 'deepObject' };
    const parameters = { scope: query, 'filter[a]': query, all: query, any: query, filter: deep };
    const security = [[{ scheme: 'k', in: 'query' as const, name: 'key' }]];
    const server = new URL('https://api.test/v1/?tenant=1');
    const refused = [`any: must not hold "${name}", which is a parameter of its own`];
    expect(await build({ parameters, security }, { scope: 'mine', any: value }, server)).toEqual(refused);
    expect(await build({ parameters }, { filter: { a: 'x' } })).toEqual([
      'filter: must not hold "filter[a]", which is a parameter of its own',
    ]);
    expect(await build({ parameters }, { any: { any: 1, other: 2 } })).toMatchObject({ url: '/x?any=1&other=2' });
  });

  it.each(['user.id', 'user id', 'user[id', ' User.Id', 'user.id[]', 'user_id[x]'])(
    'can not write another parameter in the words of servers that read "_" there: %j',
    async (name) => {
      const query = { in: 'query' as const };
      const refused = [`any: must not hold "${name}", which is a parameter of its own`];
      expect(await build({ parameters: { user_id: query, any: query } }, { any: { [name]: 1 } })).toEqual(refused);
    },
  );

  it('may hold what servers read as a parameter of their own alone', async () => {
    const query = { in: 'query' as const };
    const parameters = { 'user.id': query, 'user.name': query, any: { ...query, style: 'deepObject' } };
    expect(await build({ parameters }, { 'user.id': 1, 'user.name': 'x', any: { 'user.id': 2 } })).toMatchObject({
      url: '/x?user.id=1&user.name=x&any%5Buser.id%5D=2',
    });
    const underlined = ['any: must not hold "user_id", which is a parameter of its own'];
    expect(await build({ parameters: { 'user.id': query, any: query } }, { any: { user_id: 1 } })).toEqual(underlined);
  });

  it('never change host, port or the form of the path, whatever they are', async () => {
    const parameters = { id: { in: 'path' as const, name: 'id' }, q: { in: 'query' as const, name: 'q' } };
    await fc.assert(
      fc.asyncProperty(anyText, anyText, async (id, q) => {
        const built = await buildRequest({ method: 'GET', path: '/pets/{id}/x', parameters }, SERVER, { id, q });
        if (!built.ok) return void expect(['', '.', '..']).toContain(id);
        expect(built.request.url.origin).toBe('https://api.test');
        expect(built.request.url.pathname.split('/')).toHaveLength(5);
        expect(built.request.url.searchParams.get('q')).toBe(q.replace(/\p{Surrogate}/gu, '\uFFFD'));
        expect(built.request.url.hash).toBe('');
      }),
      { seed: 7 },
    );
  });

  it.each([
    ['another host', 'Host', 'evil.test', 'the header Host'],
    ['another length', 'Content-Length', '0', 'the header Content-Length'],
    ['another origin', 'X-Forwarded-For', '127.0.0.1', 'the header X-Forwarded-For'],
    ['a second header', 'X-A', 'a\r\nX-B: b', 'line break'],
  ])('can not set %s by a header', async (_, name, value, words) => {
    const built = await build({ parameters: { h: { in: 'header', name } } }, { h: value });
    expect(built).toEqual([expect.stringContaining(words)]);
  });
});

describe('the body of a request', () => {
  const parameters: HttpTarget['parameters'] = { a: { in: 'body', name: 'a' }, b: { in: 'body', name: 'B' } };

  it.each([
    ['application/json', { a: [1], b: null }, '{"a":[1],"B":null}'],
    ['application/vnd.api+json', { a: 'x' }, '{"a":"x"}'],
    ['application/x-www-form-urlencoded', { a: ['x y', '&'], b: { c: 1 } }, 'a=x+y&a=%26&B=%7B%22c%22%3A1%7D'],
  ])('is made of its arguments: %s', async (contentType, input, body) => {
    expect(await build({ method: 'POST', contentType, parameters }, input)).toMatchObject({
      body,
      headers: { 'content-type': contentType },
    });
  });

  it('is one argument where the document says so', async () => {
    const whole: HttpTarget['parameters'] = { body: { in: 'body' } };
    expect(
      await build({ method: 'PUT', contentType: 'application/json', parameters: whole }, { body: [1] }),
    ).toMatchObject({ body: '[1]' });
    expect(await build({ method: 'PUT', contentType: 'text/plain', parameters: whole }, { body: 'hi' })).toMatchObject({
      body: 'hi',
    });
    expect(await build({ method: 'PUT', contentType: 'image/png', parameters: whole }, { body: { a: 1 } })).toEqual([
      'body: must be a text, since the operation takes image/png',
    ]);
  });

  it('may be a form of several parts', async () => {
    const built = await build({ method: 'POST', contentType: 'multipart/form-data', parameters }, { a: 'x', b: 2 });
    expect(built).toMatchObject({
      headers: { 'content-type': expect.stringContaining('boundary=') },
      body: expect.stringMatching(/name="a"\r\n\r\nx\r\n[\s\S]*name="B"\r\n\r\n2\r\n/u),
    });
  });

  it('is not there when nothing is given for it', async () => {
    expect(await build({ method: 'POST', contentType: 'application/json', parameters }, {})).toMatchObject({
      body: undefined,
    });
  });
});
