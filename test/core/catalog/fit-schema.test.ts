import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fitSchema } from '../../../src/core/catalog/fit-schema.js';
import type { JsonSchema } from '../../../src/core/catalog/tool.js';

const draft2020 = 'https://json-schema.org/draft/2020-12/schema';

/** The schema of one argument after fitting. */
function fitArgument(schema: unknown, more: JsonSchema = {}) {
  const { schema: fitted, notes } = fitSchema({ type: 'object', properties: { a: schema }, ...more });
  return { argument: Object(fitted.properties).a, notes, fitted };
}

describe('an argument found in the wild', () => {
  const node = { type: 'object', properties: { next: { $ref: '#' } } };
  it.each<[string, unknown, unknown, string]>([
    ['an empty enum', { type: 'string', enum: [] }, { type: 'string' }, 'an empty `enum`'],
    [
      'an enum that is a range',
      { type: 'number', enum: '1-100' },
      { type: 'number', minimum: 1, maximum: 100 },
      'enum "1-100" written as minimum and maximum',
    ],
    [
      'an enum that is text',
      { type: 'string', enum: 'asc, desc' },
      { type: 'string', enum: ['asc', 'desc'] },
      'written as a list',
    ],
    [
      'an enum of the elements',
      { type: 'array', enum: ['x', 'y'] },
      { type: 'array', items: { type: 'string', enum: ['x', 'y'] } },
      'moved to `items`',
    ],
    [
      'enum values of another type',
      { type: 'string', enum: ['x', null] },
      { type: 'string', enum: ['x'] },
      'left out: [null]',
    ],
    [
      'an enum of nothing but another type',
      { type: 'integer', enum: ['1', '2'] },
      { type: 'integer', enum: [1, 2] },
      'enum values written as integer',
    ],
    [
      'repeated enum values',
      { type: 'string', enum: ['x', 'x'] },
      { type: 'string', enum: ['x'] },
      'repeated enum values',
    ],
    ['no type, with an enum', { enum: ['x'] }, { type: 'string', enum: ['x'] }, 'no type given: read as string'],
    [
      'no type, with properties',
      { properties: {} },
      { type: 'object', properties: {} },
      'no type given: read as object',
    ],
    [
      'no type, with items',
      { items: { type: 'string' } },
      { type: 'array', items: { type: 'string' } },
      'read as array',
    ],
    [
      'a default of another type',
      { type: 'integer', default: 'soon' },
      { type: 'integer' },
      'default "soon" is not of type integer: left out',
    ],
    ['a default that can be read', { type: 'integer', default: '5' }, { type: 'integer', default: 5 }, 'written as 5'],
    [
      'a default outside of the enum',
      { type: 'string', enum: ['x'], default: 'y' },
      { type: 'string', enum: ['x'] },
      'none of the enum',
    ],
    [
      'draft-04 bounds',
      { type: 'number', minimum: 0, exclusiveMinimum: true },
      { type: 'number', exclusiveMinimum: 0 },
      'exclusiveMinimum: true',
    ],
    [
      'draft-04 bounds that say no',
      { type: 'number', maximum: 9, exclusiveMaximum: false },
      { type: 'number', maximum: 9 },
      'exclusiveMaximum: false',
    ],
    ['a draft-04 id', { id: 'http://x', type: 'string' }, { type: 'string' }, '`id` of draft-04'],
    [
      'a tuple of draft-07',
      { type: 'array', items: [{ type: 'string' }], additionalItems: false },
      { type: 'array', prefixItems: [{ type: 'string' }], items: false },
      'prefixItems',
    ],
    ['int', { type: 'int' }, { type: 'integer' }, 'type "int" read as "integer"'],
    ['float', { type: 'float' }, { type: 'number' }, 'type "float" read as "number"'],
    ['str', { type: 'str' }, { type: 'string' }, 'read as "string"'],
    [
      'dict',
      { type: 'dict', properties: { b: { type: 'STRING' } } },
      { type: 'object', properties: { b: { type: 'string' } } },
      'read as "object"',
    ],
    ['list', { type: 'list' }, { type: 'array' }, 'read as "array"'],
    [
      'tuple',
      { type: 'tuple', items: { type: 'bool' } },
      { type: 'array', items: { type: 'boolean' } },
      'read as "array"',
    ],
    ['any', { type: 'any', description: 'x' }, { description: 'x' }, 'read as any type'],
    ['a type nobody knows', { type: 'Widget' }, {}, 'type "Widget" read as any type'],
    [
      'generics',
      { type: 'List[Optional[int]]' },
      { type: 'array', items: { type: ['integer', 'null'] } },
      'List[Optional[int]]',
    ],
    ['a union in words', { type: 'string | null' }, { type: ['string', 'null'] }, 'string | null'],
    ['a list of types', { type: ['str', 'None'] }, { type: ['string', 'null'] }, 'read as ["string","null"]'],
    [
      'schemas as types',
      { type: [{ type: 'string' }, { type: 'null' }] },
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
      'written as `anyOf`',
    ],
    ['date as a type', { type: 'date' }, { type: 'string', format: 'date' }, 'type "date" read as "string"'],
    [
      'nullable',
      { type: 'string', enum: ['x'], nullable: true },
      { type: ['string', 'null'], enum: ['x', null] },
      '`nullable`',
    ],
    [
      'a format in other words',
      { type: 'string', format: 'datetime' },
      { type: 'string', format: 'date-time' },
      'written as "date-time"',
    ],
    [
      'a format unknown to models',
      { type: 'string', format: 'HH:mm' },
      { type: 'string', description: 'Format: HH:mm' },
      'moved to the description',
    ],
    ['a format that repeats the type', { type: 'integer', format: 'int32' }, { type: 'integer' }, 'adds nothing'],
    [
      'a pattern of another engine',
      { type: 'string', pattern: '(?P<x>a)' },
      { type: 'string', description: 'Pattern: (?P<x>a)' },
      'no regular expression',
    ],
    [
      'bounds in text',
      { type: 'integer', minimum: '0', maxLength: 'many' },
      { type: 'integer', minimum: 0 },
      '`minimum: "0"` written as 0',
    ],
    ['bounds that contradict', { type: 'integer', minimum: 9, maximum: 1 }, { type: 'integer' }, 'both left out'],
    ['a boolean schema', true, {}, 'the schema `true`'],
    ['a word for a schema', 'string', { type: 'string' }, 'read as a type'],
    ['no schema at all', 7, {}, '7 is no schema'],
    [
      'allOf',
      { allOf: [{ type: 'string' }, { minLength: 2, description: 'x' }] },
      { description: 'x', type: 'string', minLength: 2 },
      '`allOf` merged',
    ],
    ['anyOf of one', { anyOf: [{ type: 'string' }] }, { type: 'string' }, '`anyOf` merged'],
    [
      'a keyword of nobody',
      { type: 'string', widget: 'slider' },
      { type: 'string' },
      '"widget" is no keyword of JSON Schema: left out (was "slider")',
    ],
    [
      'a name that is not described',
      { type: 'object', properties: { b: {} }, required: ['b', 'c'] },
      { type: 'object', properties: { b: {}, c: {} }, required: ['b', 'c'] },
      'described as taking any value',
    ],
    [
      'a name that can not be',
      { type: 'object', properties: { b: {} }, required: ['b', 'c'], additionalProperties: false },
      { type: 'object', properties: { b: {} }, required: ['b'], additionalProperties: false },
      'taken off the list',
    ],
    [
      'required: true of draft-03',
      { type: 'object', properties: { b: { type: 'string', required: true } } },
      { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] },
      '`required: true` of b',
    ],
    [
      'arguments without properties',
      { b: { type: 'string', required: true } },
      { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] },
      'found outside of `properties`: b',
    ],
    ['a reference to nothing', { $ref: '#/definitions/none', description: 'x' }, { description: 'x' }, 'leads nowhere'],
    ['a reference out of the document', { $ref: 'https://x.test/s.json' }, {}, 'never fetched'],
    [
      'a reference to the root',
      node,
      { type: 'object', properties: { next: { $ref: '#/$defs/root' } } },
      '(definition root): moved to `$defs`',
    ],
  ])('is mended: %s', (_what, schema, expected, note) => {
    const { argument, notes } = fitArgument(schema);
    expect(argument).toEqual(expected);
    expect(notes.join('\n')).toContain(note);
  });

  it('names the path of each change', () => {
    const inner = { type: 'object', properties: { tags: { type: 'array', items: { type: 'str' } } } };
    expect(fitArgument(inner).notes).toEqual(['a.tags[]: type "str" read as "string"']);
  });

  it('keeps a long description and only notes it', () => {
    const { argument, notes } = fitArgument({ type: 'string', description: 'x'.repeat(9000) });
    expect(argument.description).toHaveLength(9000);
    expect(notes).toEqual([expect.stringContaining('a: the description has 9000 characters')]);
  });

  it('leaves conditions on names of the surrounding object alone', () => {
    const schema = {
      type: 'object',
      properties: { b: { type: 'string' }, c: { type: 'string' } },
      anyOf: [{ required: ['b'] }, { required: ['c'] }],
    };
    expect(fitArgument(schema)).toMatchObject({ argument: schema, notes: [] });
  });
});

describe('references', () => {
  const small = { type: 'string', minLength: 1 };
  const large = { type: 'object', properties: { text: { type: 'string', description: 'long '.repeat(200) } } };
  const tree = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#/definitions/tree' } } } };

  it('to small definitions are written out, with what stands beside them', () => {
    const { argument, fitted, notes } = fitArgument(
      { $ref: '#/$defs/s', description: 'mine' },
      { $defs: { s: small } },
    );
    expect(argument).toEqual({ description: 'mine', ...small });
    expect(fitted).not.toHaveProperty('$defs');
    expect(notes).toEqual(['(definition s): written out where it is used, 1 times']);
  });

  it('to large definitions are kept once, under $defs', () => {
    const { argument, fitted, notes } = fitArgument(
      { $ref: '#/definitions/l' },
      { definitions: { l: large, unused: {} } },
    );
    expect(argument).toEqual({ $ref: '#/$defs/l' });
    expect(fitted.$defs).toEqual({ l: large });
    expect(notes).toEqual([
      '(definition l): moved to `$defs` from #/definitions/l',
      '(arguments): 1 definitions that nothing refers to: left out',
    ]);
  });

  it('that recur are kept', () => {
    const { fitted } = fitArgument({ $ref: '#/definitions/tree' }, { definitions: { tree } });
    const children = { type: 'array', items: { $ref: '#/$defs/tree' } };
    expect(fitted.$defs).toEqual({ tree: { type: 'object', properties: { children } } });
  });

  it('that lead only to themselves end', () => {
    const { argument, fitted } = fitArgument(
      { $ref: '#/$defs/x' },
      { $defs: { x: { $ref: '#/$defs/y' }, y: { $ref: '#/$defs/x' } } },
    );
    expect(argument).toEqual({});
    expect(fitted).not.toHaveProperty('$defs');
  });

  it('that unfold without end are bounded', () => {
    const loop: Record<string, unknown> = { type: 'object' };
    loop.properties = { left: loop, right: loop };
    expect(fitSchema(loop).notes.join('\n')).toContain('nested too deeply, or too large: taken as any value');
  });
});

describe('the root', () => {
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
      'in shorthand',
      { city: 'string', days: 'int' },
      { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } },
    ],
    [
      'with a list of properties',
      { properties: [{ name: 'a', type: 'string' }] },
      { type: 'object', properties: { a: { type: 'string' } } },
    ],
    [
      'with arguments named like keywords',
      { title: { type: 'string' }, id: { type: 'int' } },
      { type: 'object', properties: { title: { type: 'string' }, id: { type: 'integer' } } },
    ],
    [
      'that is a reference',
      {
        $schema: draft2020,
        $ref: '#/$defs/in',
        $defs: { in: { type: 'object', properties: { a: { type: 'string' } } } },
      },
      { type: 'object', properties: { a: { type: 'string' } } },
    ],
    [
      'that has forms',
      {
        type: 'object',
        properties: { c: { type: 'string' } },
        oneOf: [
          { properties: { a: { type: 'string' }, k: { const: 'x' } }, required: ['a', 'k'] },
          { properties: { b: { type: 'string' }, k: { const: 'y' } }, required: ['b', 'k'] },
        ],
      },
      {
        type: 'object',
        description: 'Give one of: a | b',
        properties: {
          c: { type: 'string' },
          a: { type: 'string' },
          k: {
            anyOf: [
              { type: 'string', const: 'x' },
              { type: 'string', const: 'y' },
            ],
          },
          b: { type: 'string' },
        },
        required: ['k'],
      },
    ],
  ])('becomes an object with properties: %s', (_what, schema, expected) => {
    const { schema: fitted } = fitSchema(schema);
    expect(fitted).toEqual(expected);
    expect(fitSchema(fitted)).toEqual({ schema: fitted, notes: [] });
  });
});

describe('fitSchema', () => {
  const words = ['string', 'int', 'dict', 'list', 'any', 'Optional[str]', 'null', 'Widget', 'tuple'];
  const wild = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { depthSize: 'small', maxDepth: 3 },
      fc.constantFrom<unknown[]>(
        true,
        false,
        'string',
        3,
        {},
        { $ref: '#' },
        { $ref: '#/$defs/d' },
        { $ref: '#/$defs/e' },
      ),
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
          anyOf: fc.array(tie('node'), { maxLength: 3 }),
          oneOf: fc.array(tie('node'), { maxLength: 2 }),
          allOf: fc.array(tie('node'), { maxLength: 3 }),
          not: tie('node'),
          $ref: fc.constantFrom('#', '#/$defs/d', '#/$defs/e', '#/definitions/d', 'https://x.test/a'),
          description: fc.constantFrom<unknown[]>('text', 5, ['a', 'b'], 'long '.repeat(100)),
        },
        { requiredKeys: [] },
      ),
    ),
  })).node;
  const document = fc
    .tuple(wild, wild, wild)
    .map(([root, d, e]): JsonSchema => ({ ...Object(root), $defs: { d, e }, definitions: { d: e } }));

  it('finds nothing more to change in its own result, and changes nothing in what it is given, whatever that is', () => {
    fc.assert(
      fc.property(document, (schema) => {
        const before = JSON.stringify(schema);
        const first = fitSchema(schema);
        const second = fitSchema(first.schema);
        expect(JSON.stringify(schema)).toBe(before);
        expect(JSON.stringify(second.schema, null, 1)).toBe(JSON.stringify(first.schema, null, 1));
        expect(second.notes).toEqual([]);
      }),
      { numRuns: 120 },
    );
  });
});
