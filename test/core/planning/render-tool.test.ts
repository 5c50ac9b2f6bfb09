import { describe, expect, it } from 'vitest';
import { fittedSchemas } from '../../../src/core/catalog/schema/normalise.js';
import type { JsonSchema } from '../../../src/core/catalog/tool.js';
import { renderTool, renderTools, renderType } from '../../../src/core/planning/render-tool.js';
import { createTool } from '../../support/create-tool.js';
import { FIXTURES, loadFixture } from '../../support/fixtures.js';
import { factsOf } from '../../support/schema-facts.js';

const read = createTool(
  'read_level',
  { properties: { stcd: { type: 'string', description: 'Code of the station.' } }, required: ['stcd'] },
  { type: 'object', properties: { level: { type: 'number', description: 'In metres.' } } },
  {
    description: 'Read the\nwater level.',
    preconditions: ['the station is known'],
    instructions: 'First this.\nThen that.\n',
  },
);

describe('renderTool', () => {
  it('shows all that planning needs of a tool', () => {
    expect(renderTool(read)).toBe(
      [
        'read_level: Read the water level.',
        '   arguments: {stcd: string /* Code of the station. */}',
        '   returns: {level?: number /* In metres. */}',
        '   before: the station is known',
        '   instructions:',
        '   | First this.',
        '   | Then that.',
      ].join('\n'),
    );
  });

  it('says so where the result is not described', () => {
    expect(renderTool(createTool('stop'))).toBe('stop: \n   arguments: object\n   returns: not described');
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    [
      'apart from the required ones',
      { required: ['stcd'] },
      ['   arguments: {stcd: string}', '   optional, only where the request asks for it: {days: integer}'],
    ],
    [
      'as what the request speaks of, where nothing is required',
      {},
      ['   arguments, each where the request speaks of it: {stcd: string, days: integer}'],
    ],
  ])('shows optional arguments %s', (_, required, expected) => {
    const properties = { stcd: { type: 'string' }, days: { type: 'integer' } };
    const lines = renderTool(createTool('read', { properties, ...required })).split('\n');
    expect(lines.filter((line) => !line.startsWith('read') && !line.includes('returns'))).toEqual(expected);
  });

  it('numbers tools in the order of the selection', () => {
    const lines = renderTools([createTool('b'), createTool('a')]).split('\n');
    expect(lines.filter((line) => /^\d/u.test(line))).toEqual(['1. b: ', '2. a: ']);
  });

  it.each(FIXTURES)('loses nothing that the schemas of %s say', async (name) => {
    const { catalog } = await loadFixture(name);
    const lost = catalog.tools.flatMap((tool) => {
      const text = renderTool(tool);
      const { input, output } = fittedSchemas(tool);
      const facts = [...factsOf(input, `${tool.name} arguments`), ...factsOf(output, `${tool.name} returns`)];
      return facts
        .filter((fact) => !text.includes(fact.text))
        .map(({ place, kind, text: said }) => `${place} ${kind}: ${said}`);
    });
    expect(lost).toEqual([]);
  });

  it.each(FIXTURES)('needs at most three quarters of the characters of the JSON for %s', async (name) => {
    const { catalog } = await loadFixture(name);
    const json = catalog.tools.reduce(
      (sum, tool) => sum + JSON.stringify([tool.inputSchema, tool.outputSchema]).length,
      0,
    );
    const text = catalog.tools.reduce((sum, tool) => sum + renderTool(tool).length, 0);
    expect(text).toBeLessThan(json * 0.75);
  });
});

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
