import { describe, expect, it } from 'vitest';
import { type JsonSchema, parseTool, type Tool } from '../../../src/core/catalog/tool.js';
import { createValidator, validatorFor } from '../../../src/core/catalog/validate.js';

function toolOf(inputSchema: JsonSchema): Tool {
  const parsed = parseTool({ name: 'sample', toolType: 'builtin', inputSchema }, { origin: 'test', index: 0 });
  if (!parsed.ok) throw new Error('the sample tool is not usable');
  return parsed.tool;
}

function issuesOf(schema: JsonSchema, value: unknown): string[] {
  const result = createValidator(schema)(value);
  return result.ok ? [] : result.issues;
}

const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...more });
const closed = { additionalProperties: false };

describe('issues', () => {
  const text = { type: 'string' };
  const kinds = { anyOf: [text, { type: 'null' }] };
  const shapes = {
    oneOf: [
      object({ kind: { const: 'circle' }, radius: { type: 'number' } }, { required: ['kind', 'radius'] }),
      object({ kind: { const: 'box' }, side: { type: 'number' } }, { required: ['kind', 'side'] }),
    ],
  };
  it.each<[string, JsonSchema, unknown, string[]]>([
    ['a missing argument', object({ a: {} }, { required: ['a'] }), {}, ['a: is required']],
    ['a missing field below', object({ a: object({ b: {} }, { required: ['b'] }) }), { a: {} }, ['a.b: is required']],
    [
      'an unknown argument',
      object({ a: {}, b: {} }, closed),
      { foo: 1 },
      ['(arguments): unknown argument "foo"; known: a, b'],
    ],
    [
      'an unknown field below',
      object({ f: object({ a: {} }, closed) }),
      { f: { x: 1 } },
      ['f: unknown argument "x"; known: a'],
    ],
    [
      'an unknown argument where none is taken',
      object({}, closed),
      { x: 1 },
      ['(arguments): unknown argument "x"; known: none'],
    ],
    ['a wrong type', object({ n: { type: 'integer' } }), { n: '5' }, ['n: must be integer, not string']],
    [
      'a wrong element',
      object({ t: { type: 'array', items: text } }),
      { t: ['x', 5] },
      ['t[1]: must be string, not number'],
    ],
    ['a wrong choice', object({ u: { enum: ['c', 'f'] } }), { u: 'k' }, ['u: must be one of "c", "f", not "k"']],
    ['a wrong constant', object({ u: { const: 'c' } }), { u: 'k' }, ['u: must be "c", not "k"']],
    [
      'a wrong format',
      object({ date: { ...text, format: 'date' } }),
      { date: 'soon' },
      ['date: must match format "date"'],
    ],
    ['a wrong pattern', object({ p: { pattern: '^a$' } }), { p: 'b' }, ['p: must match pattern "^a$"']],
    ['a number out of bounds', object({ n: { minimum: 1 } }), { n: 0 }, ['n: must be >= 1']],
    [
      'a text that is too short',
      object({ s: { minLength: 2 } }),
      { s: 'x' },
      ['s: must not have fewer than 2 characters'],
    ],
    ['an excluded value', object({ s: { not: { const: 'x' } } }), { s: 'x' }, ['s: must not be valid']],
    ['a value of none of several kinds', object({ s: kinds }), { s: 5 }, ['s: must be string or null, not number']],
    ['the nearest of several forms', object({ s: shapes }), { s: { kind: 'box' } }, ['s.side: is required']],
    ['arguments that are no object', object({}), 'text', ['(arguments): must be object, not string']],
    ['names that are no plain words', object({ 'a b': text }), { 'a b': 5 }, ['"a b": must be string, not number']],
    [
      'several problems, one a line',
      object({ a: text, b: {} }, { required: ['b'] }),
      { a: 1 },
      ['b: is required', 'a: must be string, not number'],
    ],
  ])('tell %s', (_what, schema, value, issues) => {
    expect(issuesOf(schema, value)).toEqual(issues);
  });
});

describe('issues about a secret', () => {
  const mark = { 'x-secret': true };
  const forms = [{ const: 'a' }, { type: 'object', properties: { key: {} }, required: ['key'] }];
  it.each<[string, JsonSchema, unknown, string[]]>([
    ['a choice', { ...mark, enum: ['a', 'b'] }, 'hunter-22', ['pin: must be one of "a", "b"']],
    ['a constant', { ...mark, const: 'a' }, 'hunter-22', ['pin: must be "a"']],
    ['a form', { ...mark, anyOf: forms }, 'hunter-22', ['pin: must be "a"', 'pin: must be object, not string']],
    ['a marked form', { oneOf: [{ ...mark, const: 'a' }] }, 'hunter-22', ['pin: must be "a"']],
    [
      'an object',
      { const: {}, properties: { a: mark } },
      { a: 'hunter-22' },
      ['pin: must be {}, not {"a":"[masked]"}'],
    ],
    ['an item', { items: { ...mark, const: 'a' } }, ['hunter-22'], ['pin[0]: must be "a"']],
    [
      'its names',
      { ...mark, additionalProperties: { type: 'null' } },
      { 'hunter-22': 1 },
      ['pin: must be null, not number'],
    ],
    ['an unknown name', { ...mark, ...object({}, closed) }, { 'hunter-22': 1 }, ['pin: unknown argument; known: none']],
  ])('do not quote it: %s', (_what, pin, value, issues) => {
    const schema = object({ pin });
    expect(issuesOf(schema, { pin: value })).toEqual(issues);
    const result = validatorFor(toolOf(schema))({ pin: value });
    expect(result).toEqual({ ok: false, issues });
  });
});

describe('a check', () => {
  it('neither converts values nor fills defaults in', () => {
    const value = { n: '5' };
    expect(issuesOf(object({ n: { type: 'number' }, d: { default: 1 } }), value)).toHaveLength(1);
    expect(value).toEqual({ n: '5' });
  });

  it('does not take what every object inherits for an argument', () => {
    const schema = {
      ...object({ toString: { type: 'string' }, valueOf: { type: 'integer' } }),
      required: ['constructor'],
    };
    expect(issuesOf(schema, { constructor: 3 })).toEqual([]);
    expect(issuesOf(schema, {})).toEqual(['constructor: is required']);
  });

  it.each([
    ['time', '09:30'],
    ['time', '09:30:00Z'],
    ['date-time', '2024-05-01T10:00:00'],
    ['date-time', '2024-05-01T10:00:00+08:00'],
    ['url', 'https://example.org/a?b=c#d'],
    ['HH:mm', 'anything'],
  ])('takes the %s %s', (format, text) => {
    expect(issuesOf(object({ t: { type: 'string', format } }), { t: text })).toEqual([]);
  });

  it.each([
    ['time', '25:00'],
    ['date-time', '2024-02-30T10:00:00'],
    ['url', 'example.org/a'],
    ['url', 'https://a b.example.org'],
    ['date', '2024-02-30'],
    ['email', 'nobody'],
  ])('refuses the %s %s', (format, text) => {
    expect(issuesOf(object({ t: { type: 'string', format } }), { t: text })).toEqual([
      `t: must match format "${format}"`,
    ]);
  });

  it('of an address takes no time by the square of its length', () => {
    const t = `http://${':'.repeat(300_000)}`;
    expect(issuesOf(object({ t: { type: 'string', format: 'url' } }), { t })).toEqual(['t: must match format "url"']);
  });

  it.each(['(?<=a)(b)\\1', '('])('of an expression is not looked at: it may take seconds to compile (%s)', (t) => {
    expect(issuesOf(object({ t: { type: 'string', format: 'regex' } }), { t })).toEqual([]);
  });

  it.each([
    ['^(a+)+$', `${'a'.repeat(60)}!`],
    [`^${'(a|a)'.repeat(28)}$`, `${'a'.repeat(28)}b`],
    [`^${'(?:aa?)'.repeat(40)}$`, `${'a'.repeat(60)}b`],
  ])('comes to an end with the pattern %s', (pattern, text) => {
    expect(issuesOf(object({ t: { type: 'string', pattern } }), { t: text })).toHaveLength(1);
  });

  it.each([
    ['[\\w-_]+\\-', 'a_-'],
    ['^(?:[a-z0-9-]{1,63}\\.)+test$', 'a.b.test'],
    ['^a*$', 'a'.repeat(5000)],
    ['^(?<verb>get|put|post|patch|delete) [^?]+(?:\\?.*)?$', 'get /path?x'],
    ['^(?!x)[a-z]+$ (which is not judged)', 'xyz'],
  ])('takes what the pattern %s means', (pattern, text) => {
    expect(issuesOf(object({ t: { type: 'string', pattern } }), { t: text })).toEqual([]);
  });

  it('of a schema that refers to itself without end is an issue, not a crash', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`);
    const schema = { $ref: '#/$defs/n', $defs: { n: { type: 'object', properties: { a: { $ref: '#/$defs/n' } } } } };
    expect(issuesOf(schema, deep)).toEqual(['(arguments): nested too deeply to be checked']);
  });
});

describe('validatorFor', () => {
  it.each<[string, JsonSchema, unknown, unknown]>([
    ['2020-12', object({ a: { prefixItems: [{ type: 'string' }] } }), { a: ['x'] }, { a: [1] }],
    ['draft-07 by its form', object({ a: { items: [{ type: 'string' }] } }), { a: ['x'] }, { a: [1] }],
    ['draft-04 by its form', object({ a: { minimum: 0, exclusiveMinimum: true } }), { a: 1 }, { a: 0 }],
    [
      'draft-04 by name',
      { $schema: 'http://json-schema.org/draft-04/schema#', id: 'x', ...object({ a: { type: 'string' } }) },
      { a: 'x' },
      { a: 1 },
    ],
    ['dependencies of draft-07', object({ a: {}, b: {} }, { dependencies: { a: ['b'] } }), { a: 1, b: 1 }, { a: 1 }],
    ['a combination at the root', { anyOf: [{ required: ['a'] }, { required: ['b'] }] }, { b: 1 }, {}],
    ['no type at the root', { properties: { a: { type: 'string' } } }, { a: 'x' }, 'text'],
    ['bounds in text', object({ a: { type: 'integer', minimum: '1' } }), { a: 1 }, { a: 0 }],
    ['an empty enum', object({ a: { type: 'string', enum: [] } }), { a: 'x' }, { a: 1 }],
    ['an enum against its type', object({ a: { type: 'boolean', enum: ['x'] } }), { a: 'x' }, { a: true }],
    ['a root that is no object', { type: 'string' }, { any: 1 }, 'text'],
    [
      'a reference out of the document',
      object({ a: { $ref: 'https://x.test/a' }, b: { type: 'string' } }),
      { a: 1 },
      { b: 1 },
    ],
    [
      'a check that would be asynchronous',
      { $async: true, ...object({ a: { type: 'string' } }) },
      { a: 'x' },
      { a: 1 },
    ],
  ])('reads %s', (_what, schema, right, wrong) => {
    const validator = validatorFor(toolOf(schema));
    expect(validator(right)).toEqual({ ok: true });
    expect(validator(wrong).ok).toBe(false);
  });

  it('lets any object pass where the schema can not be compiled', () => {
    const validator = validatorFor(toolOf(object({ a: { patternProperties: { '(': {} } } })));
    expect([validator({ a: 1 }).ok, validator('text').ok]).toEqual([true, false]);
  });

  it('compiles a tool once', () => {
    const tool = toolOf(object({ a: {} }));
    expect(validatorFor(tool)).toBe(validatorFor(tool));
  });

  it.each(['https://e.test/common#/$defs/pin', 'common#/$defs/pin', 'common#pin'])(
    'follows %s into a bundled document',
    ($ref) => {
      const common = { $id: 'https://e.test/common', $defs: { pin: { type: 'string', minLength: 3, $anchor: 'pin' } } };
      const check = validatorFor(
        toolOf({ $id: 'https://e.test/root', ...object({ pin: { $ref } }), $defs: { common } }),
      );
      expect(check({ pin: '1234' })).toEqual({ ok: true });
      expect(check({ pin: '1' }).ok).toBe(false);
    },
  );

  it('keeps documents of the same name apart', () => {
    const named = (type: string) =>
      toolOf({ $id: 'https://x.test/same', ...object({ a: { type, $id: 'https://x.test/a' } }) });
    const [text, number] = [named('string'), named('number')].map(validatorFor);
    expect(text?.({ a: 'x' })).toEqual({ ok: true });
    expect(number?.({ a: 1 })).toEqual({ ok: true });
    expect(number?.({ a: 'x' }).ok).toBe(false);
  });
});

describe('places that are not known yet', () => {
  it('are read once for all errors', () => {
    const tool = toolOf(object({ list: { type: 'array', items: { type: 'number' } } }));
    let reads = 0;
    const open = Array.from({ length: 100 }, (_, place) => ({
      isWhole: true,
      get path() {
        reads += 1;
        return ['list', place];
      },
    }));
    const checked = validatorFor(tool)({ list: Array(101).fill('x') }, open);
    expect(checked).toEqual({ ok: false, issues: ['list[100]: must be number, not string'] });
    expect(reads).toBe(100);
  });
});
