import { describe, expect, it } from '@jest/globals';
import type { JsonSchema } from '../../../src/core/catalog/tool.js';
import { createValidator } from '../../../src/core/catalog/validate.js';
import { fittedSchemas } from '../../../src/core/planning/fitted.js';
import { sampleValue } from '../../../src/core/planning/sample-value.js';
import { FIXTURES, loadFixture } from '../../support/fixtures.js';

/** Whether the value stands where an argument of this schema is asked for. */
function isValid(schema: JsonSchema): boolean {
  const check = createValidator({ type: 'object', properties: { value: schema }, required: ['value'] });
  return check({ value: sampleValue(schema) }).ok;
}

describe('sampleValue', () => {
  it.each<[string, JsonSchema]>([
    ['a text', { type: 'string' }],
    ['a text of some length', { type: 'string', minLength: 5 }],
    ['a date', { type: 'string', format: 'date' }],
    ['a date and time', { type: 'string', format: 'date-time' }],
    ['an address', { type: 'string', format: 'email' }],
    ['a number', { type: 'number' }],
    ['a number above one', { type: 'integer', minimum: 7 }],
    ['a number below one', { type: 'integer', maximum: -3 }],
    ['a switch', { type: 'boolean' }],
    ['nothing', { type: 'null' }],
    ['one value', { const: 4 }],
    ['one of some values', { enum: ['a', 'b'] }],
    ['a list', { type: 'array', items: { type: 'integer' } }],
    ['a list with elements', { type: 'array', items: { type: 'string', minLength: 2 }, minItems: 2 }],
    ['an object', { type: 'object', properties: { a: { type: 'string' }, b: { type: 'boolean' } }, required: ['b'] }],
    ['several types', { type: ['integer', 'null'] }],
    [
      'several forms',
      { anyOf: [{ type: 'object', properties: { a: { enum: [1] } }, required: ['a'] }, { type: 'string' }] },
    ],
    ['anything', {}],
  ])('fits %s', (_, schema) => {
    expect(isValid(schema)).toBe(true);
  });

  it.each(FIXTURES)('fits every argument of %s that asks for no pattern', async (name) => {
    const { catalog } = await loadFixture(name);
    const all = catalog.tools.flatMap((tool) => subschemasOf(fittedSchemas(tool).input, tool.name));
    // Many arguments are alike, and each check takes milliseconds to compile.
    const different = new Map(all.map((one) => [JSON.stringify(one.schema), one]));
    const wrong = [...different].filter(([text, { schema }]) => !text.includes('"pattern"') && !isValid(schema));
    expect(wrong.map(([, { place }]) => place)).toEqual([]);
    expect(all.length).toBeGreaterThan(100);
  });
});

function subschemasOf(schema: unknown, place: string): { place: string; schema: JsonSchema }[] {
  if (!isObject(schema)) return [];
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  return [
    { place, schema },
    ...properties.flatMap(([name, inner]) => subschemasOf(inner, `${place}.${name}`)),
    ...subschemasOf(schema.items, `${place}[]`),
  ];
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
