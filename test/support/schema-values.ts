/** Random values of a schema, for schemas that are fitted: what a model may write when its answer is decoded under one. */
import fc from 'fast-check';
import { resolveReference } from '../../src/core/catalog/schema/references.js';
import type { JsonSchema } from '../../src/core/catalog/tool.js';

/** Stands where a reference may stand; the test puts a right one there. */
export const REFERENCE_PLACE = '<a reference>';

const FORMATS: Record<string, fc.Arbitrary<string>> = {
  date: fc.constantFrom('2026-11-22', '2024-02-29'),
  'date-time': fc.constantFrom('2026-11-22T08:00:00Z', '2026-11-22T08:00:00+08:00'),
  time: fc.constantFrom('08:00:00Z', '23:59:59Z'),
  uri: fc.constantFrom('https://example.org/', 'http://example.org/a?b=c'),
  email: fc.constantFrom('a@example.org', 'b.c@example.org'),
};
const words = fc
  .array(fc.constantFrom('a', 'Straße', '水库', ' ', '"', '\\', '7', '.'), { minLength: 1, maxLength: 8 })
  .map((parts) => parts.join(''));

export function valuesOf(schema: unknown, root: JsonSchema): fc.Arbitrary<unknown> {
  if (!isObject(schema)) return fc.jsonValue({ maxDepth: 1 });
  if (isReference(schema)) return fc.constant(REFERENCE_PLACE);
  if (typeof schema.$ref === 'string') return valuesOf(resolveReference(root, schema.$ref), root);
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if (Array.isArray(schema.anyOf)) return fc.oneof(...schema.anyOf.map((form) => valuesOf(form, root)));
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => valuesOf({ ...schema, type }, root)));
  return valueOfType(schema, root);
}

function valueOfType(schema: JsonSchema, root: JsonSchema): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min: lowest(schema), max: highest(schema) });
    case 'number':
      return fc.integer({ min: lowest(schema), max: highest(schema) });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return listOf(schema, root);
    case 'object':
      return objectOf(schema, root);
    default:
      return fc.jsonValue({ maxDepth: 1 });
  }
}

function textOf({ pattern, format, minLength, maxLength }: JsonSchema): fc.Arbitrary<string> {
  if (typeof pattern === 'string')
    return fc.stringMatching(new RegExp(pattern, 'u')).filter((text) => !text.includes('${'));
  const known = typeof format === 'string' ? FORMATS[format] : undefined;
  if (known) return known;
  const least = numberOr(minLength, 0);
  return words.map((text) => [...text.padEnd(least, 'x')].slice(0, numberOr(maxLength, 1000)).join(''));
}

function listOf(schema: JsonSchema, root: JsonSchema): fc.Arbitrary<unknown[]> {
  const least = numberOr(schema.minItems, 0);
  const bounds = { minLength: least, maxLength: Math.max(least, Math.min(least + 2, numberOr(schema.maxItems, 100))) };
  const item = valuesOf(schema.items, root);
  return schema.uniqueItems === true
    ? fc.uniqueArray(item, { ...bounds, selector: (value) => JSON.stringify(value) })
    : fc.array(item, bounds);
}

function objectOf(schema: JsonSchema, root: JsonSchema): fc.Arbitrary<unknown> {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const members = Object.fromEntries(properties.map(([name, inner]) => [name, valuesOf(inner, root)]));
  return fc.record(members, { requiredKeys: required.filter((name) => name in members) });
}

function lowest({ minimum, exclusiveMinimum }: JsonSchema): number {
  return Math.ceil(Math.max(numberOr(minimum, -50), numberOr(exclusiveMinimum, -51) + 1));
}

function highest(schema: JsonSchema): number {
  const { maximum, exclusiveMaximum } = schema;
  return Math.floor(Math.min(numberOr(maximum, lowest(schema) + 100), numberOr(exclusiveMaximum, Infinity) - 1));
}

function isReference(schema: JsonSchema): boolean {
  return typeof schema.pattern === 'string' && schema.pattern.startsWith('^\\$\\{s');
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
