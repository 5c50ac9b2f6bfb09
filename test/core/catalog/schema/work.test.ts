import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fillDefaults, fits } from '../../../../src/core/catalog/schema/paths.js';
import { createSafePattern } from '../../../../src/core/catalog/schema/safe-pattern.js';
import type { JsonSchema } from '../../../../src/core/catalog/tool.js';
import { createValidator } from '../../../../src/core/catalog/validate.js';

const when = 'then';
const node = { $ref: '#/$defs/node' };
const inside = (form: JsonSchema): JsonSchema => ({ ...node, $defs: { node: form } });
const nested = (levels: number): unknown => (levels === 0 ? { end: 1 } : { next: nested(levels - 1) });
const times = (count: number) => Array.from({ length: count }, (_, place) => place);
const issuesOf = (schema: JsonSchema, value: unknown) => {
  const result = createValidator(schema)(value);
  return result.ok ? [] : result.issues;
};

describe('a check that takes too much work ends', () => {
  const twice = [{ properties: { next: node } }, { properties: { next: node }, required: ['none'] }];
  it.each<[string, JsonSchema, unknown]>([
    ['since its forms double with each level of the value', inside({ anyOf: twice }), nested(40)],
    ['since its conditions double', inside({ if: twice[0], [when]: twice[0] }), nested(60)],
    [
      'since many values are compared with many',
      { items: { enum: times(8000).map((n) => ({ n })) } },
      times(8000).map((n) => ({ n: -n })),
    ],
    [
      'since many keys are tried on many patterns',
      { patternProperties: Object.fromEntries(times(600).map((n) => [`^k${n}$`, {}])) },
      Object.fromEntries(times(600).map((n) => [`k${n}`, n])),
    ],
    [
      'since names of many values demand many others',
      { items: { dependentRequired: { a: times(40).map(String) } } },
      times(5000).map(() => ({ a: 1 })),
    ],
    [
      'since many values fail many alternatives',
      { items: { anyOf: times(300).map((n) => ({ const: n })) } },
      times(300).map((n) => -n - 1),
    ],
    [
      'since a long text is measured often',
      { anyOf: times(300).map((n) => ({ type: 'string', maxLength: n })) },
      'x'.repeat(200_000),
    ],
  ])('%s', (_, schema, value) => {
    expect(issuesOf(schema, value)).toEqual([expect.stringMatching(/steps to be checked/u)]);
  });

  it('since it has no end', () => {
    const endless = issuesOf(inside({ anyOf: [{ type: 'null' }, node] }), {});
    expect(endless).toEqual(['(arguments): nested too deeply to be checked']);
  });

  it('but a check that comes by one place in many ways is', () => {
    expect(issuesOf(inside({ anyOf: twice }), nested(8))).toEqual([]);
  });
});

describe('a check of a large value', () => {
  it('finds what stands twice among very many, whatever the order of keys', () => {
    const many = times(25_000).map((id) => ({ id, tags: ['a'] }));
    const schema = { uniqueItems: true };
    expect(issuesOf(schema, many)).toEqual([]);
    expect(issuesOf(schema, [...many, { tags: ['a'], id: 7 }])).toEqual([
      expect.stringContaining('duplicate items (7 and 25000'),
    ]);
    expect(issuesOf({ uniqueItems: false }, [1, 1])).toEqual([]);
  });

  it('takes a result of a megabyte as interfaces give it', () => {
    const names = times(12).map((n) => `field_${n}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string', maxLength: 500 }]));
    const item = { type: 'object', properties: { ...properties, kind: { enum: ['a', 'b', 'c'] } }, required: names };
    const values = Object.fromEntries(names.map((name) => [name, 'some text of usual size']));
    const list = times(2_500).map(() => ({ ...values, kind: 'b' }));
    expect(JSON.stringify(list).length).toBeGreaterThan(2 ** 20);
    expect(issuesOf({ items: item }, list)).toEqual([]);
  });

  it('tells the first of very many problems and how many there are', () => {
    const issues = issuesOf({ items: { type: 'string' } }, times(5_000));
    expect(issues).toHaveLength(21);
    expect(issues.at(-1)).toBe('and 4980 problems more');
  });

  it('tries all its patterns with the steps of one', () => {
    const texts = times(400).map(() => 'a'.repeat(256));
    const schema = { items: { pattern: '^(a|b){200}' } };
    expect(issuesOf(schema, texts.slice(0, 2))).toEqual([]);
    expect(issuesOf(schema, texts)).not.toEqual([]);
  });
});

it.each(['\\p{L}{900}'.repeat(500), '((ab){30}){30}'.repeat(9), 'a'.repeat(6000), '['.repeat(4000)])(
  'a pattern that is too large is none: %#',
  (text) => {
    expect(() => createSafePattern(text)).toThrow();
  },
);

describe('defaults', () => {
  it('are filled in once a node, however often it is referred to', () => {
    const names = times(30);
    const $defs = Object.fromEntries(
      names.map((n) => [`d${n}`, { allOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] }]),
    );
    const schema = { $ref: '#/$defs/d0', $defs: { ...$defs, d30: { properties: { a: { default: 1 } } } } };
    expect(fillDefaults(schema, {})).toEqual({ a: 1 });
  });

  it('that lack defaults of their own get them, too, from all nodes, and nothing is left for a second time', () => {
    const inner = { properties: { deep: { default: {}, properties: { end: { default: 1 } } } } };
    const schema = {
      properties: { a: { default: {}, ...inner }, b: { default: [{}], items: inner }, c: { properties: { x: {} } } },
      allOf: [{ properties: { c: inner } }, { properties: { c: { default: { given: 1 } } } }],
    };
    const deep = { deep: { end: 1 } };
    expect(fillDefaults(schema, {})).toEqual({ a: deep, b: [deep], c: { given: 1, ...deep } });
  });

  const part = fc.constantFrom('a', 'b', 'c');
  const { form } = fc.letrec<{ form: JsonSchema }>((tie) => ({
    form: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.constant({ default: 1 }),
      fc.record(
        {
          default: fc.constantFrom<unknown>({}, null, 1, [{}, { b: {} }], { a: {} }),
          $ref: fc.constantFrom('#/nowhere', '#/properties/a', '#/properties/b/items'),
          properties: fc.dictionary(part, tie('form'), { maxKeys: 3 }),
          items: tie('form'),
          allOf: fc.array(tie('form'), { maxLength: 2 }),
        },
        { requiredKeys: ['properties'] },
      ),
    ),
  }));

  it('are all filled in at once: a second time changes nothing', () => {
    const value = fc.dictionary(part, fc.constantFrom<unknown>({}, 1, [{}], { a: {} }), { maxKeys: 2 });
    fc.assert(
      fc.property(form, value, (schema, given) => {
        const filled = fillDefaults(schema, given);
        if (filled !== undefined) expect(fillDefaults(schema, filled)).toEqual(filled);
      }),
      { numRuns: 300 },
    );
  });

  it('without end come to an end', () => {
    const self = { $ref: '#', default: {} };
    const chain = { properties: { next: self } };
    const filled = fillDefaults(chain, {});
    expect(JSON.stringify(filled).length).toBeLessThan(1_000);
    expect(fillDefaults(chain, filled)).toEqual(filled);
    expect(fillDefaults({ properties: { left: self, right: self } }, {})).toBeUndefined();
  });

  it('are not filled in where they would be too many', () => {
    const schema = { properties: { list: { items: { properties: { a: { default: times(1000) } } } } } };
    const filled = times(10).map(() => ({ a: times(1000) }));
    expect(fillDefaults(schema, { list: times(10).map(() => ({})) })).toEqual({ list: filled });
    expect(fillDefaults(schema, { list: times(1000).map(() => ({})) })).toBeUndefined();
  });
});

it('lists of lists in many forms are compared once a pair', () => {
  const lists = (end: string) =>
    inside({ anyOf: [...times(6).map(() => ({ type: 'array', items: node })), { type: end }] });
  expect(fits(lists('string'), lists('number'))).toBe(true);
});
