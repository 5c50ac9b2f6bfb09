import { describe, expect, it } from 'vitest';
import { findJsonProblem } from '../../../../src/core/catalog/schema/json.js';
import { parseReading, withoutTaken } from '../../../../src/core/catalog/sources/source.js';

describe('a schema', () => {
  it.each([
    ['an empty object', {}],
    ['an unknown type name', { type: 'dict' }],
    ['a list of types', { type: ['string', 'null'] }],
    ['a boolean schema inside', { type: 'object', properties: { any: true } }],
    ['properties named type and properties', { properties: { type: { type: 'string' }, properties: {} } }],
    ['old-style required', { properties: { a: { type: 'string', required: true } } }],
    ['unknown keywords', { 'x-order': 1, nullable: true }],
    ['an impossible form deep inside', { properties: { a: { type: 5 } } }],
  ])('is usable with %s', (_, inputSchema) => {
    const { tools } = parseReading({ origin: 'o', entries: [{ name: 'a', inputSchema }] });
    expect(tools).toMatchObject([{ tool: { inputSchema } }]);
  });
});

describe('a value that JSON can not hold', () => {
  const circle: Record<string, unknown> = {};
  circle.left = circle;
  circle.right = [circle];
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];

  it.each([
    ['a circle', circle],
    ['bottomless nesting', deep],
    ['a big integer', { a: 1n }],
  ])('is found: %s', (_, value) => {
    expect(findJsonProblem(value)).toContain('not JSON');
  });

  it('is not confused with a part that is used twice', () => {
    const shared = { type: 'string' };
    expect(findJsonProblem({ a: shared, b: [shared, shared] })).toBeUndefined();
  });
});

describe('a tool of another interface', () => {
  const inputSchema = { type: 'object', properties: { city: { type: 'string' } } };
  const named = { name: 'weather', description: 'The weather.' };
  const read = (entry: unknown) => parseReading({ origin: 'o', entries: [entry] }).tools[0]?.tool;

  it.each([
    ['of OpenAI', { type: 'function', risk: 'low', function: { ...named, strict: true, parameters: inputSchema } }],
    ['of OpenAI without its wrapping', { ...named, risk: 'low', strict: true, parameters: inputSchema }],
    ['of Anthropic', { ...named, risk: 'low', strict: true, input_schema: inputSchema }],
  ])('%s is read as a function of the caller, with what else it says', (_name, entry) => {
    const expected = { ...named, toolType: 'builtin', inputSchema, risk: 'low', metadata: { strict: true } };
    expect(read(entry)).toMatchObject(expected);
    expect(read({ ...entry, toolType: 'skill' })).toMatchObject({ ...expected, toolType: 'skill' });
  });

  it.each([
    ['a reference', { $ref: '#/$defs/q', $defs: { q: inputSchema } }],
    ['alternatives', { anyOf: [inputSchema, { type: 'object' }] }],
    ['a list of types', { type: ['object', 'null'] }],
  ])('keeps a schema whose root is %s', (_name, parameters) => {
    const entry = { type: 'function', function: { ...named, parameters } };
    expect(read(entry)).toMatchObject({ toolType: 'builtin', inputSchema: parameters });
  });

  it.each([
    ['with a schema of its own beside', { ...named, inputSchema, parameters: { type: 'object' } }, inputSchema],
    ['whose parameters are no schema', { ...named, parameters: ['city'] }, { type: 'object' }],
    ['whose type is something else', { ...named, type: 'function' }, { type: 'object' }],
  ])('%s stays as it is', (_name, { name, description: __, ...rest }, expected) => {
    const { inputSchema: ___, ...others } = { inputSchema, ...rest };
    expect(read({ name, ...rest })).toMatchObject({ inputSchema: expected, metadata: others });
  });
});

it('an entry of bottomless nesting is left out alone, with its place and name', () => {
  let deep: unknown = { type: 'string' };
  for (let level = 0; level < 20_000; level++) deep = { type: 'array', items: deep };
  const entries = [{ name: 'deep', inputSchema: deep }, { name: 'good' }];
  const { tools, issues } = parseReading({ origin: 'o', entries });
  expect(tools.map(({ tool }) => tool.name)).toEqual(['good']);
  expect(issues).toContainEqual(
    expect.objectContaining({
      entry: 'o[0]',
      name: 'deep',
      message: expect.stringContaining('nested'),
      isLeftOut: true,
    }),
  );
});

it('a source with any number of broken entries has so many issues at most, and the number of the others', () => {
  const { issues } = parseReading({ origin: 'o', entries: Array(10_003).fill({}) });
  expect(issues).toHaveLength(10_001);
  expect(issues.at(-1)).toMatchObject({ entry: 'o', message: '3 further problems are not listed' });
});

describe('an entry of a document of the network', () => {
  const entry = {
    name: 'read_file',
    toolType: 'builtin',
    risk: 'low',
    alwaysLoad: true,
    relatedTools: ['delete_all'],
    annotations: { readOnlyHint: true },
    origin: 'tools.json',
    server: 'files',
    scope: { user: 'ann' },
    mcp: { server: 'files', tool: 'read', trust: true },
    metadata: { mcp: { server: 'files', tool: 'read', trust: true }, http: { method: 'GET' } },
  };
  const read = (origin: string) => parseReading({ origin, entries: [entry] }).tools[0]?.tool;

  it('has high risk and says neither its origin, nor whose it is, nor that a server runs it', () => {
    expect(read('https://tools.test/all.json')).toMatchObject({
      risk: 'high',
      origin: 'https://tools.test/all.json',
      scope: 'system',
      alwaysLoad: false,
      relatedTools: [],
      metadata: { http: { method: 'GET' } },
    });
    expect(read('https://tools.test/all.json')?.metadata).not.toHaveProperty('mcp');
  });

  it('has no rules, of which a warning tells', () => {
    const rules = [{ name: 'first', when: { message: '.' }, include: ['read_file'] }];
    const read = (origin: string) => parseReading({ origin, entries: [entry], rules });
    expect(read('/srv/all.json').rules).toHaveLength(1);
    const { rules: none, issues } = read('https://tools.test/all.json');
    expect([none, issues.map(({ message }) => message)]).toEqual([
      [],
      ['left out: rules count in files of your own alone'],
    ]);
  });

  it('can not take the name of a tool of the operator', () => {
    const readings = ['https://tools.test/all.json', '/srv/all.json'].map((origin) =>
      parseReading({ origin, entries: [{ name: 'read_file' }] }),
    );
    const { placed, issues } = withoutTaken(readings);
    expect(placed.map(({ place }) => place)).toEqual(['/srv/all.json[0]']);
    expect(issues).toMatchObject([{ entry: 'https://tools.test/all.json[0]', isLeftOut: true }]);
  });

  it('is the word of its author in a file of the operator', () => {
    expect(read('/srv/all.json')).toMatchObject({ risk: 'low', origin: 'tools.json', alwaysLoad: true });
  });
});
