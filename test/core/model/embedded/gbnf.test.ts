import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../../../src/core/catalog/tool.js';
import { gbnfFromSchema } from '../../../../src/core/model/embedded/gbnf.js';
import { createGbnfMatcher } from '../../../support/gbnf-matcher.js';
import { objectSample } from '../../../support/schema-arbitraries.js';

function matcherOf(schema: JsonSchema) {
  return createGbnfMatcher(gbnfFromSchema(schema));
}

const closed = (properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema => {
  return { type: 'object', properties, required, additionalProperties: false };
};
const integer = { type: 'integer' };

describe('the interpreter that judges grammars', () => {
  it.each([
    ['root ::= "a" [0-9]{2,3}', 'a12', 'a1'],
    ['root ::= ("a" | "bc")+ "d"?', 'abcad', 'ad d'],
    [String.raw`root ::= "\"" [^"\\\x00-\x1F]* "\""`, '"盘😀"', '"\n"'],
    ['root ::= "(" root ")" | "x"', '((x))', '((x)'],
  ])('follows %s', (grammar, right, wrong) => {
    const matcher = createGbnfMatcher(grammar);
    expect(matcher.accepts(right)).toBe(true);
    expect(matcher.accepts(wrong)).toBe(false);
  });

  it.each(['root ::= nowhere', 'root ::= "a', 'root ::= ("a"', 'root = "a"'])('refuses %s', (grammar) => {
    expect(() => createGbnfMatcher(grammar)).toThrow();
  });
});

describe('a grammar for random schemas', () => {
  it('takes every valid value, written compactly in the order of the properties', () => {
    fc.assert(
      fc.property(objectSample, ({ schema, value }) => {
        expect(matcherOf(schema).accepts(writeInOrder(schema, value))).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it('refuses the value without a required property', () => {
    fc.assert(
      fc.property(objectSample, fc.nat(), ({ schema, value }, choice) => {
        fc.pre(schema.required.length > 0);
        const missing = schema.required[choice % schema.required.length];
        const rest = Object.fromEntries(Object.entries(value).filter(([key]) => key !== missing));
        expect(matcherOf(schema).accepts(writeInOrder(schema, rest))).toBe(false);
      }),
    );
  });

  it('refuses a property that the schema does not have', () => {
    fc.assert(
      fc.property(objectSample, ({ schema, value }) => {
        const text = writeInOrder(schema, value);
        const more = `${text.slice(0, -1)}${text === '{}' ? '' : ','}"unknown_one":1}`;
        expect(matcherOf(schema).accepts(more)).toBe(false);
      }),
    );
  });

  it('refuses white space between the parts', () => {
    fc.assert(
      fc.property(objectSample, ({ schema, value }) => {
        expect(matcherOf(schema).accepts(`{ ${writeInOrder(schema, value).slice(1)}`)).toBe(false);
      }),
    );
  });
});

/** JavaScript puts names like "0" first, so the order of the schema is written by hand. */
function writeInOrder(schema: JsonSchema, value: Record<string, unknown>): string {
  const names = Object.keys(schema.properties ?? {}).filter((name) => Object.hasOwn(value, name));
  return `{${names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(value[name])}`).join(',')}}`;
}

describe('gbnfFromSchema', () => {
  const colour = { enum: ['red', 'a "quoted" one', 3] };
  const node = {
    type: 'object',
    properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
    required: ['name'],
    additionalProperties: false,
  };
  const variants = {
    type: 'object',
    properties: { id: integer },
    anyOf: [
      { properties: { a: integer }, required: ['a'] },
      { properties: { b: integer }, required: ['b'] },
    ],
  };
  it.each<[string, JsonSchema, string[], string[]]>([
    ['an enum', colour, ['"red"', '"a \\"quoted\\" one"', '3'], ['"blue"', '"3"', 'red']],
    ['a const', { const: { a: [1, null] } }, ['{"a":[1,null]}'], ['{"a":[1]}']],
    ['a date', { type: 'string', format: 'date' }, ['"2024-02-29"'], ['"2024-13-01"', '"tomorrow"']],
    [
      'a time',
      { type: 'string', format: 'time' },
      ['"09:30"', '"09:30:15Z"', '"23:59:59.5+08:00"'],
      ['"25:00"', '"9"'],
    ],
    [
      'a date with time',
      { type: 'string', format: 'date-time' },
      ['"2024-05-01T08:00:00Z"', '"2024-05-01T08:00"'],
      ['"2024-05-01"'],
    ],
    ['a text with escapes', { type: 'string' }, ['"a\\n\\u4f60\\""', '"你😀"'], ['"\n"', '"\\x"', '"a']],
    ['numbers', { type: 'number' }, ['0', '-1.5', '1e+21', '5e-324'], ['01', '1.', '+1', '"1"']],
    ['whole numbers', { type: 'integer' }, ['7', '-7'], ['7.5']],
    [
      'a list',
      { type: 'array', items: integer, minItems: 1, maxItems: 2 },
      ['[1]', '[1,2]'],
      ['[]', '[1,2,3]', '[1,]'],
    ],
    [
      'a list of places, whose order is left to the check',
      { type: 'array', prefixItems: [integer, { type: 'string' }], minItems: 2 },
      ['[1,"a"]', '["a",1]'],
      ['[true,1]', '[1]'],
    ],
    ['an open object', { type: 'object' }, ['{}', '{"a":{"b":[1,null,"x"]}}'], ['[]', '{"a" :1}']],
    ['a map', { type: 'object', additionalProperties: integer }, ['{}', '{"a":1,"b":2}'], ['{"a":"1"}']],
    ['an object of nothing', closed({}), ['{}'], ['{"a":1}']],
    [
      'only optional properties',
      closed({ a: integer, b: integer, c: integer }),
      ['{}', '{"b":1}', '{"a":1,"c":2}'],
      ['{,"b":1}', '{"b":1,"a":2}', '{"a":1,}'],
    ],
    ['a required one last', closed({ a: integer, b: integer }, ['b']), ['{"b":1}', '{"a":1,"b":2}'], ['{}', '{"a":1}']],
    [
      'a required one between',
      closed({ a: integer, b: integer, c: integer }, ['b']),
      ['{"b":1}', '{"b":1,"c":2}', '{"a":1,"b":2,"c":3}'],
      ['{"a":1,"c":2}', '{"b":1"c":2}'],
    ],
    ['forms beside properties', variants, ['{"id":1,"a":2}', '{"b":2}'], ['{"id":1}', '{"a":1,"b":2}']],
    [
      'a recursion',
      { $ref: '#/$defs/node', $defs: { node } },
      ['{"name":"a","children":[{"name":"b","children":[]}]}'],
      ['{"name":"a","children":[{}]}'],
    ],
    [
      'a recursion at the root',
      closed({ value: integer, next: { $ref: '#' } }, ['value']),
      ['{"value":1,"next":{"value":2}}'],
      ['{"value":1,"next":{}}'],
    ],
    [
      'parts that must all hold',
      {
        $defs: { named: closed({ name: { type: 'string' } }, ['name']) },
        allOf: [{ $ref: '#/$defs/named' }, closed({ id: integer }, ['id'])],
      },
      ['{"name":"a","id":1}'],
      ['{"name":"a"}', '{"id":1}'],
    ],
    [
      'types beside forms',
      { type: ['string', 'null'], anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }] },
      ['null', '"2024-02-29"'],
      ['"ab"', '1'],
    ],
  ])('writes %s', (_what, schema, right, wrong) => {
    const matcher = matcherOf(schema);
    expect(right.filter((text) => !matcher.accepts(text))).toEqual([]);
    expect(wrong.filter((text) => matcher.accepts(text))).toEqual([]);
  });

  it('grows with the number of optional properties, not with that of their combinations', () => {
    const many = (count: number) => {
      return closed(Object.fromEntries(Array.from({ length: count }, (_, index) => [`argument${index}`, integer])));
    };
    const grammar = gbnfFromSchema(many(200));
    expect(grammar.split('\n').length).toBeLessThan(200 * 3);
    expect(grammar.length).toBeLessThan(200 * 120);
    expect(createGbnfMatcher(grammar).accepts('{"argument3":1,"argument199":2}')).toBe(true);
  });

  it('gives the same bytes for the same schema', () => {
    const pair = closed({ x: integer, y: { type: 'string' } });
    const schema = closed({ from: pair, to: structuredClone(pair) });
    const grammar = gbnfFromSchema(schema);
    expect(gbnfFromSchema(structuredClone(schema))).toBe(grammar);
    expect(grammar).toMatchInlineSnapshot(`
"root ::= r0
r0 ::= "{" r11 "}"
r1 ::= "{" r4 "}"
r2 ::= ("," "\\"y\\":" str)?
r3 ::= ("\\"y\\":" str)?
r4 ::= "\\"x\\":" int r2 | r3
r5 ::= "{" r8 "}"
r6 ::= ("," "\\"y\\":" str)?
r7 ::= ("\\"y\\":" str)?
r8 ::= "\\"x\\":" int r6 | r7
r9 ::= ("," "\\"to\\":" r1)?
r10 ::= ("\\"to\\":" r1)?
r11 ::= "\\"from\\":" r5 r9 | r10

any ::= str | num | bool | "null" | map | list
map ::= "{" (str ":" any ("," str ":" any)*)? "}"
list ::= "[" (any ("," any)*)? "]"
chr ::= [^"\\\\\\x00-\\x1F] | "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F]{4})
str ::= "\\"" chr* "\\""
nat ::= "0" | [1-9] [0-9]{0,20}
int ::= "-"? nat
num ::= int ("." [0-9]{1,25})? ([eE] [+-]? [0-9]{1,3})?
bool ::= "true" | "false"
year ::= [0-9]{4} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | [12] [0-9] | "3" [01])
clock ::= ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] (":" [0-5] [0-9] ("." [0-9]{1,9})?)? zone?
zone ::= "Z" | [+-] ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9]
date ::= "\\"" year "\\""
time ::= "\\"" clock "\\""
moment ::= "\\"" year "T" clock "\\""
"
`);
  });

  const text = (more: JsonSchema) => closed({ a: { type: 'string', ...more } });
  it.each<[string, JsonSchema, string]>([
    ['not', text({ not: { const: 'x' } }), '"x"'],
    ['a pattern', text({ pattern: '^\\d+$' }), '"x"'],
    ['a range', closed({ a: { type: 'integer', minimum: 0 } }), '-1'],
    ['a reference to nothing', closed({ a: { $ref: '#/$defs/none' } }), '[1]'],
    ['a reference to itself', { ...closed({ a: { $ref: '#/$defs/a' } }), $defs: { a: { $ref: '#/$defs/a' } } }, '[1]'],
    [
      'references in a circle',
      {
        ...closed({ a: { $ref: '#/$defs/a' } }),
        $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { allOf: [{ $ref: '#/$defs/a' }] } },
      },
      '[1]',
    ],
  ])('takes more than the schema says where it must: %s', (_keyword, schema, value) => {
    expect(matcherOf(schema).accepts(`{"a":${value}}`)).toBe(true);
  });

  it('leaves large counts to the check of the answer', () => {
    const schema = { type: 'array', items: { type: 'string' }, maxItems: 5000 };
    expect(matcherOf(schema).accepts(JSON.stringify(Array(300).fill('x')))).toBe(true);
    expect(gbnfFromSchema(schema)).not.toContain('5000');
  });

  it('takes values of any type, however deep they nest', () => {
    expect(matcherOf({}).accepts('[[[[[{"a":[null]}]]]]]')).toBe(true);
    expect(matcherOf({}).accepts('[[1]')).toBe(false);
  });
});
