import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonSchema } from '../../../../src/core/catalog/tool.js';
import { toStrictSchema } from '../../../../src/core/model/openai/strict-schema.js';
import { withoutNulls } from '../../../../src/core/planning/fitted.js';
import { compileSchema } from '../../../support/compile-schema.js';
import { strictModeIssues } from '../../../support/openai-strict-mode.js';
import { objectSample } from '../../../support/schema-arbitraries.js';
import { valuesOf } from '../../../support/schema-values.js';

const text = { type: 'string' };
const integer = { type: 'integer' };
const closed = (properties: Record<string, unknown>, required: string[] = Object.keys(properties)): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const strictOf = (schema: JsonSchema) => toStrictSchema(schema)?.schema;
/** What becomes of one required property. */
const propertyOf = (property: unknown, more: JsonSchema = {}) =>
  Object(strictOf({ ...closed({ a: property }), ...more })?.properties).a;
const NULL = { type: 'null' };

describe('the checker that stands for OpenAI', () => {
  it.each<[string, JsonSchema, string]>([
    ['a root of forms', { anyOf: [closed({ a: text })] }, 'type: "None"'],
    ['an optional property', closed({ a: text, b: text }, ['a']), "Missing 'b'"],
    ['an open object', { type: 'object', properties: {}, required: [] }, 'additionalProperties'],
    ['oneOf', closed({ a: { oneOf: [text] } }), "'oneOf' is not permitted"],
    ['a default', closed({ a: { type: 'string', default: 'x' } }), "'default' is not permitted"],
    ['no type', closed({ a: { enum: ['x'] } }), "must have a 'type' key"],
    [
      'words beside a reference',
      { ...closed({ a: { $ref: '#/$defs/b', description: 'x' } }), $defs: { b: text } },
      '$ref',
    ],
    ['forms that begin alike', closed({ a: { anyOf: [closed({ b: text }), closed({ b: integer })] } }), 'first keys'],
    ['lookaround', closed({ a: { type: 'string', pattern: '^(?!a)' } }), 'lookaround'],
    ['a list of anything', closed({ a: { type: 'array' } }), "missing 'items'"],
    [
      'too many values',
      closed({ a: { type: 'integer', enum: Array.from({ length: 1001 }, (_, index) => index) } }),
      '1000',
    ],
  ])('refuses %s', (_, schema, words) => {
    expect(strictModeIssues(schema).join('\n')).toContain(words);
  });

  it('takes what is of the documented form', () => {
    const schema = closed({
      a: { anyOf: [text, NULL] },
      b: { type: 'array', items: closed({ c: integer }), minItems: 1 },
    });
    expect(strictModeIssues(schema)).toEqual([]);
  });
});

describe('a schema for the strict mode', () => {
  it('stays as it is where it is of that form', () => {
    const schema = closed({ a: text, b: { type: 'array', items: closed({ c: integer }) } });
    expect(strictOf(schema)).toEqual(schema);
  });

  it('requires every property, of which the optional ones may be null, and closes the object', () => {
    const { required: _, additionalProperties: _open, ...loose } = closed({ a: text, b: integer });
    expect(strictOf({ ...loose, required: ['a'] })).toEqual(closed({ a: text, b: { anyOf: [integer, NULL] } }));
  });

  it.each<[string, unknown, unknown]>([
    ['oneOf', { oneOf: [text, integer] }, { anyOf: [text, integer] }],
    [
      'several types',
      { type: ['string', 'null'], minLength: 2, pattern: '^a' },
      { anyOf: [{ ...text, pattern: '^a' }, NULL] },
    ],
    [
      'an enum without a type',
      { enum: ['x', 2, null] },
      { anyOf: [{ ...text, const: 'x' }, { ...integer, const: 2 }, NULL] },
    ],
    ['an enum', { type: 'string', enum: ['x', 'y', 3] }, { ...text, enum: ['x', 'y'] }],
    ['a constant', { const: 'x' }, { ...text, const: 'x' }],
    ['a choice of one', { anyOf: [text], description: 'a text' }, { ...text, description: 'a text' }],
    ['allOf', { allOf: [{ ...integer, minimum: 1 }, { maximum: 9 }] }, { ...integer, minimum: 1, maximum: 9 }],
    ['a known format', { ...text, format: 'uuid' }, { ...text, format: 'uuid' }],
    ['a format that it does not know', { ...text, format: 'uri' }, text],
    [
      'a pattern with lookaround',
      { ...text, pattern: '^(?!a)', description: 'no a' },
      { ...text, description: 'no a' },
    ],
    ['a default and a title', { ...text, default: 'x', title: 'A', examples: ['y'] }, text],
    [
      'conditions on numbers',
      { type: 'number', exclusiveMinimum: 0, multipleOf: 2 },
      { type: 'number', exclusiveMinimum: 0, multipleOf: 2 },
    ],
    [
      'conditions that it has no word for',
      { type: 'array', items: text, uniqueItems: true, maxItems: 3 },
      { type: 'array', items: text, maxItems: 3 },
    ],
    [
      'places of a list',
      { type: 'array', prefixItems: [text, integer] },
      { type: 'array', items: { anyOf: [text, integer] } },
    ],
    ['a property that must not be', { ...closed({ b: text, c: false }, ['b']) }, closed({ b: text })],
    [
      'forms beside a type',
      { type: 'object', description: 'one of two', anyOf: [closed({ b: text }), closed({ c: text })] },
      { anyOf: [closed({ b: text }), closed({ c: text })], description: 'one of two' },
    ],
    [
      'what is required in this or that case',
      { ...closed({ b: text, c: text }, []), anyOf: [{ required: ['b'] }, { required: ['c'] }] },
      closed({ b: { anyOf: [text, NULL] }, c: { anyOf: [text, NULL] } }),
    ],
    ['an object without properties', closed({}), closed({})],
  ])('writes %s', (_, property, expected) => {
    const made = propertyOf(property);
    expect(made).toEqual(expected);
    expect(strictModeIssues(strictOf(closed({ a: property })))).toEqual([]);
  });

  it('puts constants first, so that the forms of a choice can be told apart', () => {
    const form = (tool: string) => closed({ id: text, tool: { const: tool } });
    const made = propertyOf({ anyOf: [form('one'), form('other')] });
    expect(made.anyOf.map(({ properties }: JsonSchema) => Object.keys(Object(properties)))).toEqual([
      ['tool', 'id'],
      ['tool', 'id'],
    ]);
  });

  it('keeps definitions that are used, recursive ones too, and writes nothing beside a reference', () => {
    const node = { type: 'object', properties: { name: text, next: { $ref: '#/$defs/node', description: 'more' } } };
    const made = strictOf({ ...closed({ a: { $ref: '#/$defs/node' } }), $defs: { node, unused: { type: 'object' } } });
    expect(made?.$defs).toEqual({
      node: closed({ name: { anyOf: [text, NULL] }, next: { anyOf: [{ $ref: '#/$defs/node' }, NULL] } }),
    });
    expect(strictModeIssues(made)).toEqual([]);
  });

  it.each<[string, JsonSchema]>([
    ['a value of any form', closed({ a: {} })],
    ['an open object', closed({ a: { type: 'object' } })],
    ['an object of any names', closed({ a: { type: 'object', additionalProperties: text } })],
    ['a list of anything', closed({ a: { type: 'array' } })],
    ['a required property without a schema', closed({}, ['a'])],
    ['a constant object', closed({ a: { const: { b: 1 } } })],
    ['a reference to elsewhere', closed({ a: { $ref: '#/properties/b' }, b: text })],
    ['forms that begin alike', closed({ a: { anyOf: [closed({ b: text }), closed({ b: integer })] } })],
    [
      'forms that begin alike with what stands beside them',
      closed({ a: { properties: { id: integer }, anyOf: [{ properties: { b: text } }, { properties: { c: text } }] } }),
    ],
    ['allOf of patterns', closed({ a: { allOf: [{ ...text, pattern: 'x' }, { pattern: 'y' }] } })],
    ['a choice of nothing', closed({ a: { anyOf: [false] } })],
    ['too many values', closed({ a: { enum: Array.from({ length: 1001 }, (_, index) => index) } })],
    [
      'an enum that is too long',
      closed({ a: { enum: Array.from({ length: 251 }, (_, index) => `${index}`.padEnd(60)) } }),
    ],
    ['too deep an object', Array.from({ length: 70 }).reduce<JsonSchema>((inner) => closed({ a: inner }), closed({}))],
    [
      'a form that holds itself',
      {
        ...closed({ a: { $ref: '#/$defs/b' } }),
        $defs: { b: { ...closed({ c: text }), anyOf: [{ $ref: '#/$defs/b' }] } },
      },
    ],
  ])('is not there for %s', (_, schema) => {
    expect(toStrictSchema(schema)).toBeUndefined();
  });

  it.each<[string, string, string]>([
    ['whole', '{"answer":{"kind":"plan","a":"}"}}', '{"kind":"plan","a":"}"}'],
    ['with white space', ' { "answer" : [1] } ', '[1]'],
    ['cut', '{"answer":{"kind":"pl', '{"answer":{"kind":"pl'],
    ['a refusal', "I can't.", "I can't."],
    ['another object', '{"kind":"plan"}', '{"kind":"plan"}'],
  ])('wraps a root that is no object, and unwraps the answer again: %s', (_, written, expected) => {
    const strict = toStrictSchema({ anyOf: [closed({ a: text }), closed({ b: text })] });
    expect(strict?.schema).toMatchObject({ type: 'object', required: ['answer'], additionalProperties: false });
    expect(strict?.unwrap(written)).toBe(expected);
    expect(toStrictSchema(closed({ answer: text }))?.unwrap(written)).toBe(written);
  });

  it('is taken by OpenAI, and an answer under it without its nulls by the schema it was made of', () => {
    const seen = { expressed: 0, values: 0 };
    const expressed = objectSample.map(({ schema }) => ({ schema, strict: toStrictSchema(schema) }));
    fc.assert(
      fc.property(
        expressed.chain(({ schema, strict }) =>
          fc.record({
            schema: fc.constant(schema),
            strict: fc.constant(strict?.schema),
            values: fc.array(strict ? valuesOf(strict.schema, strict.schema) : fc.constant({}), {
              minLength: 3,
              maxLength: 3,
            }),
          }),
        ),
        ({ schema, strict, values }) => {
          if (strict === undefined) return;
          seen.expressed += 1;
          expect(strictModeIssues(strict)).toEqual([]);
          const [isStrict, isOriginal] = [compileSchema(strict), compileSchema(withEase(schema))];
          for (const value of values) {
            expect({ value, taken: isStrict(value) }).toEqual({ value, taken: true });
            const kept = withoutNulls(Object(value), withEase(schema));
            expect({ kept, taken: isOriginal(kept) }).toEqual({ kept, taken: true });
            seen.values += 1;
          }
        },
      ),
      { numRuns: 60, seed: 20261122 },
    );
    expect(Math.min(seen.expressed, seen.values / 3)).toBeGreaterThan(15);
  });
});

/** The schema without what strict mode leaves to the check: lengths of texts and the places of a list. */
function withEase(schema: unknown): JsonSchema {
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(visit);
    if (typeof node !== 'object' || node === null) return node;
    const { minLength: _min, maxLength: _max, prefixItems, items, ...rest } = Object(node);
    const inner = Object.fromEntries(
      Object.entries(rest).map(([key, value]) => [key, LITERAL.includes(key) ? value : visit(value)]),
    );
    if (prefixItems === undefined) return items === undefined ? inner : { ...inner, items: visit(items) };
    return { ...inner, items: { anyOf: [...prefixItems, items].map(visit) } };
  };
  return Object(visit(schema));
}
const LITERAL = ['enum', 'const', 'required'];
