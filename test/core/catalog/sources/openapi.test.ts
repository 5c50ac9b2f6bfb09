import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeEach, describe, expect, it } from 'vitest';
import { openApiFormat } from '../../../../src/core/catalog/sources/openapi.js';
import { parseReading } from '../../../../src/core/catalog/sources/source.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const PETSTORE = 'fixtures/sources/petstore.yaml';
const LIBRARY = 'fixtures/sources/library.json';

async function read(path: string) {
  const [reading] = await openApiFormat.read(path, { timeoutMs: 1000 });
  if (!reading || 'error' in reading) throw new Error('not read');
  const { tools, issues } = parseReading(reading);
  const byName = new Map(tools.map(({ tool }) => [tool.name, tool]));
  const get = (name: string) => {
    const tool = byName.get(name);
    if (!tool) throw new Error(`no tool ${name} among ${[...byName.keys()].join(', ')}`);
    return tool;
  };
  return { names: [...byName.keys()], get, issues };
}

describe('an OpenAPI document', () => {
  it('gives one tool an operation, named by operationId or method and path, with a risk by its method', async () => {
    const { names, get, issues } = await read(PETSTORE);
    expect(issues).toEqual([]);
    expect(names.map((name) => [name, get(name).risk, get(name).category])).toEqual([
      ['list_pets', 'low', 'pets'],
      ['create_pet', 'medium', 'pets'],
      ['replace_pet', 'medium', undefined],
      ['delete_pets_pet_id', 'high', undefined],
      ['upload_photo', 'medium', undefined],
    ]);
  });

  it('makes one input schema of parameters of every place, and remembers where each goes', async () => {
    const { inputSchema, metadata } = (await read(PETSTORE)).get('list_pets');
    expect(inputSchema).toEqual({
      type: 'object',
      properties: {
        limit: { type: 'integer', exclusiveMinimum: 0, maximum: 100, description: 'How many.' },
        tag: { type: 'array', items: { type: 'string' } },
        'X-Trace': { type: 'string' },
      },
      additionalProperties: false,
    });
    expect(metadata.http).toEqual({
      method: 'GET',
      path: '/pets',
      server: 'https://eu.petstore.test/v1',
      parameters: {
        limit: { in: 'query', name: 'limit' },
        tag: { in: 'query', name: 'tag', style: 'form', explode: false },
        'X-Trace': { in: 'header', name: 'X-Trace' },
      },
    });
  });

  it('spreads a plain body into arguments; two of one name are told apart by their place', async () => {
    const { inputSchema, metadata } = (await read(PETSTORE)).get('upload_photo');
    expect(inputSchema).toMatchObject({
      properties: { petId: { type: 'integer' }, file: { format: 'binary' }, body_petId: { type: 'string' } },
      required: ['petId', 'file', 'body_petId'],
    });
    expect(metadata).toMatchObject({
      deprecated: true,
      http: {
        contentType: 'multipart/form-data',
        parameters: {
          petId: { in: 'path', name: 'petId' },
          file: { in: 'body', name: 'file' },
          body_petId: { in: 'body', name: 'petId' },
        },
      },
    });
  });

  it('keeps a body of another form whole, as the argument "body"', async () => {
    const { inputSchema, metadata, outputSchema } = (await read(PETSTORE)).get('replace_pet');
    expect(inputSchema).toMatchObject({
      properties: {
        petId: { type: 'integer', description: 'Whose pet.' },
        body: { $ref: '#/$defs/Pet', properties: { reason: { type: 'string' } }, required: ['reason'] },
      },
      required: ['petId'],
    });
    expect(metadata.http).toMatchObject({ parameters: { body: { in: 'body' } } });
    expect(outputSchema).toBeUndefined();
  });

  it('keeps recursive references working, in and out', async () => {
    const { inputSchema, outputSchema } = (await read(PETSTORE)).get('create_pet');
    const check = new Ajv2020({ strict: false }).compile(inputSchema);
    expect(check({ name: 'Rex', parent: { name: 'Old Rex', parent: { name: 'Older Rex' } } })).toBe(true);
    expect(check({ name: 'Rex', parent: { name: 'Old Rex', parent: { name: 7 } } })).toBe(false);
    expect(outputSchema).toMatchObject({ type: 'object', properties: { parent: { $ref: '#/$defs/Pet' } } });
  });

  it.each([
    ['nullable with a type', { name: 'a', nickname: null }, true],
    ['nullable around a reference', { name: 'a', owner: null }, true],
    ['nullable with an enum', { name: 'a', owner: { kind: null } }, true],
    ['a null where none may be', { name: null }, false],
    ['a readOnly property, which a request must not hold', { name: 'a', id: 7 }, false],
    ['a writeOnly property', { name: 'a', secret: 'x' }, true],
  ])('of version 3.0 is put into JSON Schema: %s', async (_, value, valid) => {
    const check = new Ajv2020({ strict: false }).compile((await read(PETSTORE)).get('create_pet').inputSchema);
    expect(check(value)).toBe(valid);
  });

  it('leaves out of the answer what is only ever written', async () => {
    const { outputSchema } = (await read(PETSTORE)).get('create_pet');
    expect(outputSchema).toMatchObject({
      required: ['id', 'name'],
      properties: { id: {}, name: { examples: ['Rex'] } },
    });
    expect(JSON.stringify(outputSchema)).not.toContain('secret');
  });

  it('describes a tool by summary and description, without saying one thing twice', async () => {
    const pets = await read(PETSTORE);
    expect(pets.get('list_pets').description).toBe('List pets. Newest first.');
    expect(pets.get('create_pet').description).toBe('Create a pet');
    expect((await read(LIBRARY)).get('loan_book').description).toBe('Lend a book to a reader, for four weeks.');
  });
});

describe('an OpenAPI 3.1 document in JSON', () => {
  it('may use references for path items, bodies and parts of schemas', async () => {
    const { names, get, issues } = await read(LIBRARY);
    expect(issues).toEqual([]);
    expect(names).toEqual(['head_books_isbn', 'loan_book', 'search_http_index']);
    expect(get('head_books_isbn')).toMatchObject({ risk: 'low', inputSchema: { required: ['isbn'] } });
    const { inputSchema, outputSchema } = get('loan_book');
    expect(inputSchema).toEqual({
      type: 'object',
      properties: {
        isbn: { type: 'string' },
        due: { type: ['string', 'null'], format: 'date' },
        reader: { $ref: '#/$defs/Reader', description: 'Who takes it.' },
      },
      additionalProperties: false,
      $defs: { Reader: { type: 'object', properties: { card: { type: 'string' } } } },
    });
    expect(outputSchema).toMatchObject({ required: ['isbn'], properties: { reader: { $ref: '#/$defs/Reader' } } });
  });

  it('may have a parameter that is written as JSON', async () => {
    const { inputSchema, metadata } = (await read(LIBRARY)).get('search_http_index');
    const check = new Ajv2020({ strict: false }).compile(inputSchema);
    expect(check({ filter: { card: 7 } })).toBe(false);
    expect(metadata.http).toMatchObject({
      server: '/api',
      parameters: { filter: { in: 'query', name: 'filter', contentType: 'application/json' } },
    });
  });
});

describe('a document with faults', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });

  async function readDocument(paths: unknown, more: object = {}) {
    const path = join(folder, 'api.json');
    await writeFile(path, JSON.stringify({ openapi: '3.1.0', paths, ...more }));
    return read(path);
  }

  it.each([
    ['a reference to nothing', { schema: { $ref: '#/components/schemas/None' } }, 'leads nowhere'],
    ['a reference to another file', { schema: { $ref: 'other.yaml#/Pet' } }, 'bundle other files'],
    ['a reference to a prototype', { schema: { $ref: '#/constructor' } }, 'leads nowhere'],
    ['a parameter without a name', { name: undefined }, 'no usable name'],
  ])('keeps the tool and warns of %s, naming the operation', async (_, parameter, message) => {
    const parameters = [{ name: 'a', in: 'query', ...parameter }];
    const { names, issues } = await readDocument({ '/a': { get: { operationId: 'a', parameters } } });
    expect(names).toEqual(['a']);
    expect(issues).toMatchObject([
      {
        level: 'warning',
        name: 'a',
        entry: expect.stringContaining('GET /a'),
        message: expect.stringContaining(message),
      },
    ]);
  });

  it.each([
    [
      'the same operationId twice',
      { '/a': { get: { operationId: 'x' } }, '/b': { get: { operationId: 'x' } } },
      ['x', 'get_b'],
    ],
    [
      'ids that differ in case only',
      { '/a': { get: { operationId: 'getA' }, put: { operationId: 'get_a' } } },
      ['get_a', 'put_a'],
    ],
    ['an id in camel case', { '/a': { get: { operationId: 'getHTTPStatusV2' } } }, ['get_http_status_v2']],
    ['no letter in the id', { '/a/{b}': { get: { operationId: '***' } } }, ['get_a_b']],
    ['names that are taken already', { '/a': { get: {} }, '/a/': { get: {} } }, ['get_a', 'get_a_2']],
  ])('gets unique names with %s', async (_, paths, expected) => {
    expect((await readDocument(paths)).names).toEqual(expected);
  });

  it('warns of a name in a path that is no declared parameter', async () => {
    const declared = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
    const { issues } = await readDocument({
      '/a/{id}/{id}/{part}': { get: { operationId: 'read', parameters: [{ ...declared, name: 'part' }] } },
      '/b/{id}': { parameters: [declared], get: {}, put: { parameters: [{ ...declared, in: 'query' }] } },
    });
    expect(issues).toEqual([
      {
        level: 'warning',
        name: 'read',
        entry: expect.stringMatching(/ GET \/a\/\{id\}\/\{id\}\/\{part\}$/u),
        message: 'path: {id} is no declared parameter, so no call can fill it; declare it',
      },
    ]);
  });

  const told = (id: string, name: string) =>
    `operationId "${id}": another operation has this name, so the tool is ${name}`;
  it('warns of an operationId that another operation has, and of no other', async () => {
    const { issues } = await readDocument({
      '/a': { get: { operationId: 'readAll' } },
      '/b': { get: { operationId: 'readAll' }, put: { operationId: 'read_all' }, post: {} },
      '/b/': { post: {} },
    });
    expect(issues).toMatchObject([
      { level: 'warning', entry: expect.stringMatching(/ GET \/b$/u), message: told('readAll', 'get_b') },
      { level: 'warning', entry: expect.stringMatching(/ PUT \/b$/u), message: told('read_all', 'put_b') },
    ]);
  });

  it('warns when there is nothing in it', async () => {
    const { issues } = await readDocument({ '/a': 'none' });
    expect(issues.map(({ message }) => message)).toEqual([
      'no usable path item, left out',
      'paths: no operation in it',
    ]);
  });

  it("takes the operation's own parameters and server before those of its path", async () => {
    const { get } = await readDocument({
      '/a': {
        servers: [{ url: 'https://path.test' }],
        parameters: [{ name: 'p', in: 'query', schema: { type: 'string' } }],
        get: {
          operationId: 'a',
          servers: [{ url: 'https://own.test' }],
          parameters: [{ name: 'p', in: 'query', required: true, schema: { type: 'number' } }],
        },
      },
    });
    expect(get('a')).toMatchObject({
      inputSchema: { properties: { p: { type: 'number' } }, required: ['p'] },
      metadata: { http: { server: 'https://own.test' } },
    });
  });

  it('is read where its version is a number of YAML', async () => {
    const path = join(folder, 'number.yaml');
    await writeFile(path, 'openapi: 3.0\npaths: {/a: {get: {}}}');
    expect((await read(path)).names).toEqual(['get_a']);
  });

  it('loses only the operation that is nested without a bottom', async () => {
    const path = join(folder, 'deep.json');
    const [open, close] = ['{"items":', '}'].map((part) => part.repeat(4_000));
    const deep = `{"requestBody": {"content": {"application/json": {"schema": ${open}{}${close}}}}}`;
    await writeFile(path, `{"openapi": "3.1.0", "paths": {"/deep": {"post": ${deep}}, "/a": {"get": {}}}}`);
    const { names, issues } = await read(path);
    expect(names).toEqual(['get_a']);
    expect(issues).toMatchObject([{ entry: `${path} POST /deep`, message: expect.stringContaining('nested') }]);
  });

  it.each([
    ['swagger: 2.0\npaths: {}', 'it says 2). Convert it first: npx swagger2openapi'],
    ['{"swagger": "2.0", "paths": {}}', 'it says 2.0). Convert it first: npx swagger2openapi'],
    ['[]', 'no OpenAPI document'],
    ['{"openapi"', 'is not JSON'],
    ['a: [', 'is not YAML'],
    [`a: ${'['.repeat(860)}"\\x41", 0x1F, 1e5, .inf, ~${']'.repeat(860)}`, 'nested more than 256 levels'],
    [`a:\n  ${'- '.repeat(5_000)}b`, 'nested more than 256 levels'],
    ['a: 1\nb: {c: 1, c: 2}', 'is not YAML (Map keys must be unique at line 2, column 11)'],
  ])('is refused when it is %s', async (text, message) => {
    const path = join(folder, 'api.yaml');
    await writeFile(path, text);
    await expect(read(path)).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringContaining(message),
    });
  });
});

describe('a document behind a URL', () => {
  it('is fetched, and its relative server counts from there', async () => {
    const server = createServer((request, response) => {
      if (request.url !== '/docs/api.json') return response.writeHead(404).end();
      return response.end(
        JSON.stringify({ openapi: '3.1.0', servers: [{ url: '../v2' }], paths: { '/a': { get: {} } } }),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      const { get } = await read(`http://127.0.0.1:${port}/docs/api.json`);
      expect(get('get_a')).toMatchObject({ metadata: { http: { server: `http://127.0.0.1:${port}/v2` } } });
      await expect(read(`http://127.0.0.1:${port}/none?key=secret`)).rejects.toMatchObject({
        code: 'source_failed',
        message: `The source http://127.0.0.1:${port}/none can't be fetched (HTTP 404). Check the URL and that its server runs.`,
      });
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});

const SCHEMES = {
  bearer: { type: 'http', scheme: 'Bearer' },
  basic: { type: 'http', scheme: 'basic' },
  digest: { type: 'http', scheme: 'digest' },
  key: { type: 'apiKey', in: 'query', name: 'api_key' },
  flow: { type: 'oauth2', flows: {} },
  id: { type: 'openIdConnect', openIdConnectUrl: 'https://id.test' },
  tls: { type: 'mutualTLS' },
  alias: { $ref: '#/components/securitySchemes/key' },
};

async function readSecurity(security: unknown, whole?: unknown) {
  const folder = temporaryFolder();
  const path = join(folder, 'api.json');
  const operation = security === undefined ? { operationId: 'a' } : { operationId: 'a', security };
  const document = { openapi: '3.1.0', security: whole, components: { securitySchemes: SCHEMES } };
  await writeFile(path, JSON.stringify({ ...document, paths: { '/a': { get: operation } } }));
  const { get, issues } = await read(path);
  return { ways: Object(get('a').metadata.http).security, problems: issues.map(({ message }) => message) };
}

const header = (scheme: string, form: string) => ({ scheme, in: 'header', name: 'Authorization', form });
const query = (scheme: string) => ({ scheme, in: 'query', name: 'api_key' });

describe('the security of an operation', () => {
  it.each([
    ['a bearer token', [{ bearer: [] }], [[header('bearer', 'bearer')]]],
    ['user and password', [{ basic: [] }], [[header('basic', 'basic')]]],
    ['a key', [{ key: [] }], [[query('key')]]],
    ['OAuth', [{ flow: ['read'] }], [[header('flow', 'bearer')]]],
    ['OpenID Connect', [{ id: [] }], [[header('id', 'bearer')]]],
    ['a reference', [{ alias: [] }], [[query('alias')]]],
    ['two at once', [{ key: [], bearer: [] }], [[query('key'), header('bearer', 'bearer')]]],
    ['one of two, or none', [{ key: [] }, { basic: [] }, {}], [[query('key')], [header('basic', 'basic')], []]],
    ['none', [], undefined],
  ])('tells where the credentials go, and no secret: %s', async (_, security, ways) => {
    expect(await readSecurity(security)).toEqual({ ways, problems: [] });
  });

  it('is that of the document where the operation says nothing', async () => {
    expect((await readSecurity(undefined, [{ key: [] }])).ways).toEqual([[query('key')]]);
    expect((await readSecurity([], [{ key: [] }])).ways).toBeUndefined();
    expect((await readSecurity(undefined)).ways).toBeUndefined();
  });

  it.each(['tls', 'digest', 'nobody', '__proto__'])(
    'leaves a way out that can not be sent, and says so: %s',
    async (scheme) => {
      const { ways, problems } = await readSecurity(JSON.parse(`[{"${scheme}": []}, {"key": []}]`));
      expect(ways).toEqual([[query('key')]]);
      expect(problems).toEqual([`security "${scheme}": no scheme that can be sent, this way in was left out`]);
    },
  );
});
