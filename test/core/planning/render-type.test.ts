import { describe, expect, it } from '@jest/globals';
import type { JsonSchema } from '../../../src/core/catalog/tool.js';
import { renderType } from '../../../src/core/planning/render-type.js';

const render = (schema: JsonSchema) => renderType(schema, schema);
const field = (schema: JsonSchema) => render({ type: 'object', properties: { a: schema } });

const integer = { type: 'integer', maximum: Number.MAX_SAFE_INTEGER };

describe('renderType', () => {
  it.each<[string, JsonSchema, string]>([
    ['no arguments', { type: 'object' }, 'object'],
    [
      'required and optional ones',
      { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } }, required: ['a'] },
      '{a: string, b?: integer}',
    ],
    [
      'names that are no words',
      { type: 'object', properties: { 'start-date': {}, 水位: {}, '2nd': {} } },
      '{"start-date"?: any, 水位?: any, "2nd"?: any}',
    ],
    ['a map', { type: 'object', additionalProperties: { type: 'number' } }, '{[key]: number}'],
    [
      'an object in an object',
      { type: 'object', properties: { a: { type: 'object', properties: { b: { type: 'boolean' } } } } },
      '{a?: {b?: boolean}}',
    ],
  ])('of %s', (_, schema, text) => {
    expect(render(schema)).toBe(text);
  });

  it.each<[string, JsonSchema, string]>([
    ['one value', { const: 'x' }, '"x"'],
    ['some values', { enum: ['a', 2, null] }, '"a"|2|null'],
    ['several types', { type: ['string', 'null'] }, 'string|null'],
    ['several forms', { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'string' }] }, 'string|integer'],
    ['one of several forms', { oneOf: [{ type: 'boolean' }, { const: 'auto' }] }, 'boolean|"auto"'],
    ['a list', { type: 'array', items: { type: 'string' } }, 'string[]'],
    ['a list of several types', { type: 'array', items: { type: ['string', 'integer'] } }, '(string|integer)[]'],
    ['a list of lists', { type: 'array', items: { type: 'array', items: { type: 'number' } } }, 'number[][]'],
    ['a list of anything', { type: 'array' }, 'any[]'],
    ['an object of anything', { type: 'object' }, 'object'],
    ['anything', {}, 'any'],
  ])('of an argument with %s', (_, schema, text) => {
    expect(field(schema)).toBe(`{a?: ${text}}`);
  });

  it.each<[string, JsonSchema, string]>([
    ['its description, on one line', { type: 'string', description: ' What\n to find. ' }, 'What to find.'],
    ['its bounds, but not those of numbers themselves', { ...integer, minimum: 1 }, 'minimum 1'],
    ['its format', { type: 'string', format: 'date' }, 'format date'],
    ['its pattern', { type: 'string', pattern: '^\\d+$' }, 'pattern ^\\d+$'],
    ['its default', { type: 'integer', default: 0 }, 'default 0'],
    ['a default that says no', { type: 'boolean', default: false }, 'default false'],
    ['its bounds', { type: 'integer', minimum: 0, maximum: 9 }, 'minimum 0; maximum 9'],
    ['how long a list may be', { type: 'array', minItems: 1, maxItems: 3 }, 'minItems 1; maxItems 3'],
    [
      'all of it, in one order',
      { type: 'string', default: 'x', format: 'date', description: 'D.' },
      'D.; format date; default "x"',
    ],
  ])('tells of an argument %s', (_, schema, comment) => {
    expect(field(schema)).toMatch(new RegExp(`^\\{a\\?: \\S+ /\\* ${escapeText(comment)} \\*/\\}$`, 'u'));
  });

  it('tells what is said of the elements of a list', () => {
    const schema = {
      type: 'array',
      description: 'Whom to invite',
      items: { type: 'string', format: 'email', description: 'Address' },
    };
    expect(field(schema)).toContain('Whom to invite; each: Address; format email');
  });

  it('leaves a description as it is, also a glob that looks like the end of a comment', () => {
    expect(field({ type: 'string', description: 'For example **/*.test.ts' })).toContain('For example **/*.test.ts');
  });

  it('follows references, and ends where they go round', () => {
    const node = { type: 'object', properties: { name: { type: 'string' }, next: { $ref: '#/$defs/node' } } };
    const text = render({ type: 'object', properties: { tree: { $ref: '#/$defs/node' } }, $defs: { node } });
    expect(text).toBe('{tree?: {name?: string, next?: node}}');
  });
});

function escapeText(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/gu, '\\$&');
}
