import { describe, expect, it } from 'vitest';
import { findSizeProblem, MOST } from '../../../../src/core/catalog/schema/bounds.js';
import { parseReading } from '../../../../src/core/catalog/sources/source.js';
import type { JsonSchema } from '../../../../src/core/catalog/tool.js';

/** Definitions `d0` to `d<levels>`, each made by `form` of a reference to the next. */
function chain(levels: number, form: (next: JsonSchema) => JsonSchema): JsonSchema {
  const names = Array.from({ length: levels }, (_, level) => `d${level}`);
  const $defs = Object.fromEntries(names.map((name, level) => [name, form({ $ref: `#/$defs/d${level + 1}` })]));
  return { $ref: '#/$defs/d0', $defs: { ...$defs, [`d${levels}`]: { type: 'string' } } };
}

/** Each definition leads to one that is being looked at, so that none of them looks large. */
const crossed = {
  $ref: '#/$defs/d29',
  $defs: Object.fromEntries(
    Array.from({ length: 30 }, (_, level) => {
      const next = { $ref: `#/$defs/d${level + 1}` };
      return [`d${level}`, { properties: { back: { $ref: `#/$defs/d${level - 1}` } }, allOf: [next, next] }];
    }),
  ),
};

/** So many names, each of which demands so many others. */
function dependent(names: number, others: number): Record<string, string[]> {
  const demanded = Array.from({ length: others }, (_, place) => `q${place}`);
  return Object.fromEntries(Array.from({ length: names }, (_, place) => [`p${place}`, demanded]));
}

describe('a schema is refused', () => {
  it.each<[string, JsonSchema, string]>([
    ['that doubles by anyOf', chain(26, (next) => ({ anyOf: [next, next] })), 'nodes'],
    ['that doubles by allOf', chain(30, (next) => ({ allOf: [next, next] })), 'nodes'],
    ['that doubles by properties', chain(24, (next) => ({ properties: { a: next, b: next } })), 'nodes'],
    ['that doubles by dependencies', chain(24, (next) => ({ dependencies: { a: next, b: next } })), 'nodes'],
    ['that doubles round circles', crossed, 'nodes'],
    ['that is deep by references', chain(80, (next) => ({ items: next })), 'levels deep'],
    ['that is long', { description: 'x'.repeat(MOST.bytes) }, 'bytes'],
    [
      'that judges a value by itself',
      { $defs: { a: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' },
      'back to itself',
    ],
    [
      'whose reference means one place by an $id and another from the root',
      {
        $defs: { a: { type: 'string' } },
        properties: { p: { $id: 'p.json', $ref: '#/$defs/a', $defs: { a: { type: 'number' } } } },
      },
      'inside a schema with an',
    ],
    [
      'whose reference to another $id means one place by its own $id and none from the root',
      {
        $id: 'https://e.test/root',
        $defs: { a: { type: 'string', $id: 'https://e.test/of/a' } },
        properties: { p: { $id: 'https://e.test/of/p', allOf: [{ $ref: 'a' }] } },
      },
      'inside a schema with an',
    ],
    [
      'with several checks of many values',
      {
        properties: Object.fromEntries(
          Array.from({ length: 900 }, (_, i) => [`p${i}`, { minLength: 1, maxLength: 9, format: 'date' }]),
        ),
      },
      'checks',
    ],
    ['that requires many names', { required: Array.from({ length: 9_000 }, (_, i) => `p${i}`) }, 'checks'],
    [
      'with many patterns',
      {
        properties: Object.fromEntries(
          Array.from({ length: 50 }, (_, i) => [`p${i}`, { pattern: `^(a${i}|b){900}$` }]),
        ),
      },
      'nodes',
    ],
    [
      'with many short patterns',
      { properties: Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`p${i}`, { pattern: '^a' }])) },
      'nodes',
    ],
    [
      'with patterns of many wide classes',
      {
        properties: Object.fromEntries(
          Array.from({ length: 4 }, (_, i) => [`p${i}`, { pattern: String.raw`\p{L}`.repeat(45) }]),
        ),
      },
      'nodes',
    ],
    ['with many names that depend on others', { dependentRequired: dependent(300, 80) }, 'nodes'],
    ['with them in the words of an older draft', { dependencies: dependent(300, 80) }, 'nodes'],
  ])('%s', (_, schema, word) => {
    expect(findSizeProblem(schema)).toContain(word);
    const input = parseReading({ origin: 'o', entries: [{ name: 'a', inputSchema: schema }, { name: 'b' }] });
    expect(input.tools.map(({ tool }) => tool.name)).toEqual(['b']);
    expect(input.issues.filter(({ level }) => level === 'warning')).toMatchObject([
      { name: 'a', isLeftOut: true, message: expect.stringMatching(new RegExp(`^inputSchema: .*${word}`, 'u')) },
    ]);
  });

  it('where it describes a result: the tool is taken without it', () => {
    const outputSchema = chain(26, (next) => ({ anyOf: [next, next] }));
    const { tools, issues } = parseReading({
      origin: 'o',
      entries: [{ name: 'a', toolType: 'builtin', outputSchema }],
    });
    expect(tools.map(({ tool }) => [tool.name, tool.outputSchema])).toEqual([['a', undefined]]);
    expect(issues).toMatchObject([{ message: expect.stringContaining('taken without it') }]);
  });
});

describe('a schema is taken', () => {
  it.each<[string, JsonSchema]>([
    [
      'with a tree inside itself',
      {
        $defs: { node: { properties: { left: { $ref: '#/$defs/node' }, right: { $ref: '#/$defs/node' } } } },
        $ref: '#/$defs/node',
      },
    ],
    [
      'with one definition at many places',
      {
        $defs: { id: { type: 'string' } },
        properties: Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`p${i}`, { $ref: '#/$defs/id' }])),
      },
    ],
    ['with definitions that nothing refers to', { $defs: chain(30, (next) => ({ allOf: [next, next] })).$defs }],
  ])('%s', (_, schema) => {
    expect(findSizeProblem(schema)).toBeUndefined();
  });
});
