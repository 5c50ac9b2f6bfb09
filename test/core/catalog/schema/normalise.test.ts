import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normaliseArguments, normaliseSchema } from '../../../../src/core/catalog/schema/normalise.js';
import type { JsonSchema } from '../../../../src/core/catalog/tool.js';

/** The schema of one argument, normalised. */
function argumentOf(schema: unknown, more: JsonSchema = {}) {
  const normalised = normaliseArguments({ type: 'object', properties: { a: schema }, ...more });
  return { ...normalised, argument: Object(normalised.schema.properties).a };
}

const notesOf = (schema: unknown) => argumentOf(schema).notes.join('\n');

describe('an argument of another dialect is written as 2020-12', () => {
  it.each<[string, unknown, unknown]>([
    [
      'draft-04 bounds',
      { type: 'number', minimum: 0, exclusiveMinimum: true },
      { type: 'number', exclusiveMinimum: 0 },
    ],
    [
      'draft-04 bounds that say no',
      { type: 'number', maximum: 9, exclusiveMaximum: false },
      { type: 'number', maximum: 9 },
    ],
    ['a draft-04 id', { $id: 'http://x', type: 'string' }, { type: 'string' }],
    [
      'a tuple of draft-07',
      { type: 'array', items: [{ type: 'string' }], additionalItems: false },
      { type: 'array', prefixItems: [{ type: 'string' }], items: false },
    ],
    ['nullable', { type: 'string', enum: ['x'], nullable: true }, { type: ['string', 'null'], enum: ['x', null] }],
    [
      'nullable around forms',
      { anyOf: [{ type: 'string' }, { type: 'number' }], nullable: true, description: 'x' },
      { anyOf: [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, { type: 'null' }], description: 'x' },
    ],
  ])('%s', (_what, schema, expected) => {
    expect(argumentOf(schema)).toMatchObject({ notes: [] });
    expect(argumentOf(schema).argument).toEqual(expected);
  });
});

describe('what the rest of the schema, or JSON Schema itself, contradicts', () => {
  it.each<[string, unknown, unknown, string]>([
    ['an empty enum', { type: 'string', enum: [] }, { type: 'string' }, 'enum [] is not of JSON Schema: left out'],
    ['an enum in text', { type: 'number', enum: '1-100' }, { type: 'number' }, 'enum "1-100" is not of JSON Schema'],
    ['required: true', { type: 'string', required: true }, { type: 'string' }, 'required true is not of JSON Schema'],
    ['a pattern of another engine', { pattern: '(?P<x>a)', title: 'x' }, { title: 'x' }, 'pattern "(?P<x>a)" is not'],
    ['a type against the enum', { type: 'boolean', enum: ['a'] }, { enum: ['a'] }, 'contradicts the enum: left out'],
    [
      'a default of another type',
      { type: 'integer', default: 'soon' },
      { type: 'integer' },
      '"soon" does not fit: left out',
    ],
    ['a default that can be read', { type: 'integer', default: '5' }, { type: 'integer', default: 5 }, 'written as 5'],
    ['a default outside the enum', { enum: ['x'], default: 'y' }, { enum: ['x'] }, '"y" does not fit'],
    ['no schema at all', 7, {}, '7 is no schema'],
    ['a reference to nothing', { $ref: '#/definitions/none', description: 'x' }, { description: 'x' }, 'leads nowhere'],
    ['a reference out of the document', { $ref: 'https://x.test/s.json' }, {}, 'leads nowhere'],
  ])('is left out, with its path: %s', (_what, schema, expected, note) => {
    expect(argumentOf(schema).argument).toEqual(expected);
    expect(notesOf(schema)).toContain(note);
    expect(notesOf(schema)).toMatch(/^a[:.]/u);
  });

  it('says nothing of a number in text, which is a number', () => {
    expect(argumentOf({ type: 'integer', minimum: '0' })).toMatchObject({ argument: { minimum: 0 }, notes: [] });
  });

  it('names the path of a fault deep inside', () => {
    const inner = { type: 'object', properties: { tags: { type: 'array', items: { anyOf: [{ type: 'str' }, {}] } } } };
    expect(argumentOf(inner).notes).toEqual(['a.tags[].anyOf[0]: type "str" is not of JSON Schema: left out']);
  });
});

describe('what needs no word', () => {
  it.each<[string, unknown, unknown]>([
    ['a schema `true`', true, {}],
    ['arguments beside properties', { b: { type: 'string' } }, {}],
    ['a keyword of nobody', { type: 'string', widget: 'slider', $comment: 'x' }, { type: 'string' }],
    [
      'allOf that is plain',
      { type: 'string', allOf: [{ minLength: 2 }, { maxLength: 3 }] },
      { type: 'string', minLength: 2, maxLength: 3 },
    ],
    [
      'a long description',
      { type: 'string', description: 'x'.repeat(9_000) },
      { type: 'string', description: 'x'.repeat(9_000) },
    ],
  ])('is written without a note: %s', (_, schema, expected) => {
    expect(argumentOf(schema)).toMatchObject({ notes: [] });
    expect(argumentOf(schema).argument).toEqual(expected);
  });

  it('stays: conditions on names of the surrounding object', () => {
    const schema = {
      type: 'object',
      properties: { b: { type: 'string' }, c: { type: 'string' } },
      anyOf: [{ required: ['b'] }, { required: ['c'] }],
    };
    expect(argumentOf(schema)).toMatchObject({ argument: schema, notes: [] });
  });
});

describe('a root that is no object', () => {
  const noObject = 'but arguments are always an object';
  it.each<[string, object, string[]]>([
    ['a list', { type: 'array' }, [`(arguments): the root is of type array, ${noObject}: any is taken`]],
    [
      'behind a reference',
      { $ref: '#/$defs/a', $defs: { a: { type: 'string' } } },
      [`(arguments): the root is of type string, ${noObject}: any is taken`],
    ],
    [
      'of a type that is none',
      { type: 'dict' },
      [`(arguments): the root is of type "dict", ${noObject}: taken as one`],
    ],
    [
      'an enum',
      { enum: ['a'] },
      ['(arguments): the values that the root lists are not shown to a model; they are checked all the same'],
    ],
    [
      'a constant',
      { const: 5 },
      ['(arguments): the values that the root lists are not shown to a model; they are checked all the same'],
    ],
    ['without a type, which is one', { properties: {} }, []],
  ])('is told: %s', (_, schema, notes) => {
    expect(normaliseArguments({ ...schema }).notes).toEqual(notes);
  });
});

describe('references', () => {
  const tree = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/definitions/tree' } } } };

  it('lead to definitions under $defs, normalised once, those alone that something refers to', () => {
    const definitions = { small: { type: 'string' }, unused: {}, tree };
    const { schema, argument } = argumentOf({ $ref: '#/definitions/small', description: 'mine' }, { definitions });
    expect(argument).toEqual({ description: 'mine', $ref: '#/$defs/small' });
    expect(schema.$defs).toEqual({ small: { type: 'string' } });
    expect(schema).not.toHaveProperty('definitions');
  });

  it.each([
    ['to itself', { $ref: '#/definitions/tree' }, 'tree', tree],
    ['to the root', { $ref: '#' }, 'root', undefined],
  ])('may lead back: %s', (_, argument, name, target) => {
    const { schema } = argumentOf(argument, { definitions: { tree: target } });
    expect(Object.keys(Object(schema.$defs))).toEqual([name]);
    expect(JSON.stringify(schema.$defs)).toContain(`"$ref":"#/$defs/${name}"`);
  });

  it('that lead only to each other stand for any value', () => {
    const { argument, schema } = argumentOf(
      { $ref: '#/$defs/x' },
      { $defs: { x: { $ref: '#/$defs/y' }, y: { $ref: '#/$defs/x' } } },
    );
    expect(argument).toEqual({});
    expect(schema).not.toHaveProperty('$defs');
  });

  it('of two places with one name stay apart', () => {
    const $defs = { x: { type: 'string' }, in: { $defs: { x: { type: 'number' } } } };
    const { schema } = normaliseArguments({
      type: 'object',
      properties: { a: { $ref: '#/$defs/x' }, b: { $ref: '#/$defs/in/$defs/x' } },
      $defs,
    });
    expect(schema.$defs).toEqual({ x: { type: 'string' }, x_2: { type: 'number' } });
  });

  it('may have the name of what every object inherits', () => {
    const $defs = JSON.parse('{"__proto__": {"type": "integer"}}');
    const { schema } = argumentOf({ $ref: '#/$defs/__proto__' }, { $defs });
    expect(Object.keys(Object(schema.$defs))).toEqual(['__proto__']);
  });
});

describe('the root of arguments', () => {
  it.each<[string, JsonSchema, JsonSchema]>([
    ['without anything', {}, { type: 'object', properties: {}, additionalProperties: true }],
    [
      'with empty properties',
      { type: 'object', properties: {} },
      { type: 'object', properties: {}, additionalProperties: false },
    ],
    [
      'of another type',
      { type: 'string', description: 'x' },
      { type: 'object', description: 'x', properties: {}, additionalProperties: true },
    ],
    [
      'that is a reference',
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $ref: '#/$defs/in',
        $defs: { in: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } },
      },
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    ],
    [
      'that has forms, which a model is not shown',
      { type: 'object', oneOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { type: 'string' } } }] },
      { type: 'object', properties: {}, additionalProperties: true },
    ],
    [
      'that has forms beside its properties',
      { properties: { a: {} }, required: ['a'], allOf: [{ required: ['a'] }] },
      { type: 'object', properties: { a: {} }, required: ['a'] },
    ],
  ])('is an object with properties: %s', (_what, schema, expected) => {
    const { schema: normalised } = normaliseArguments(schema);
    expect(normalised).toMatchObject(expected);
    expect(Object.keys(normalised).sort()).toEqual(Object.keys(expected).sort());
    expect(normaliseArguments(normalised)).toEqual({ schema: normalised, notes: [] });
  });

  it('is only that of arguments: a result may be a list', () => {
    const { schema } = normaliseSchema({
      type: 'array',
      items: { $ref: '#/definitions/x' },
      definitions: { x: { type: 'integer' } },
    });
    expect(schema).toEqual({ type: 'array', items: { $ref: '#/$defs/x' }, $defs: { x: { type: 'integer' } } });
  });
});

describe('any schema at all', () => {
  const words = ['string', 'int', 'dict', 'list', 'any', 'Optional[str]', 'null', 'Widget', 'tuple'];
  const reference = fc.constantFrom('#', '#/$defs/d', '#/$defs/e', '#/definitions/d', 'https://x.test/a');
  const wild = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { depthSize: 'small', maxDepth: 3 },
      fc.constantFrom<unknown[]>(true, false, 'string', 3, {}, { $ref: '#' }, { $ref: '#/$defs/d' }),
      fc.record(
        {
          type: fc.oneof(fc.constantFrom(...words), fc.array(fc.constantFrom(...words), { maxLength: 3 })),
          enum: fc.array(fc.oneof(fc.integer(), fc.string(), fc.constant(null)), { maxLength: 3 }),
          default: fc.jsonValue({ maxDepth: 1 }),
          format: fc.constantFrom('date', 'int32', 'HH:mm', 'url'),
          minimum: fc.oneof(fc.integer(), fc.constant('3')),
          exclusiveMinimum: fc.oneof(fc.integer(), fc.boolean()),
          pattern: fc.constantFrom('^a+$', '(?P<x>)'),
          nullable: fc.boolean(),
          required: fc.oneof(fc.boolean(), fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 })),
          properties: fc.dictionary(fc.constantFrom('a', 'b', 'type', '__proto__'), tie('node'), { maxKeys: 3 }),
          city: tie('node'),
          items: fc.oneof(tie('node'), fc.array(tie('node'), { maxLength: 2 })),
          additionalProperties: fc.oneof(fc.boolean(), tie('node')),
          anyOf: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
          oneOf: fc.array(tie('node'), { minLength: 1, maxLength: 2 }),
          allOf: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
          not: tie('node'),
          $ref: reference,
          description: fc.constantFrom('text', 'long '.repeat(100)),
        },
        { requiredKeys: [] },
      ),
    ),
  })).node;
  const document = fc
    .tuple(wild, wild, wild)
    .map(([root, d, e]): JsonSchema => ({ ...Object(root), $defs: { d, e }, definitions: { d: e } }));
  const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false });

  it('becomes one that a validator takes, with an object at the root', () => {
    fc.assert(
      fc.property(document, (schema) => {
        const before = JSON.stringify(schema);
        const normalised = normaliseArguments(schema).schema;
        expect(JSON.stringify(schema)).toBe(before);
        expect(normalised).toMatchObject({ type: 'object', properties: {} });
        expect(() => ajv.compile(normalised)).not.toThrow();
      }),
      { numRuns: 40 },
    );
  });
});
