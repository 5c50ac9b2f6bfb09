import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capOutput } from '../../../src/agents/sandbox/cap-output.js';
import { toJson } from '../../../src/agents/sandbox/json-value.js';

/** Takes many times its characters as JSON. */
const escaped = fc.string({ unit: fc.constantFrom('\u0000', '"', 'a', '水'), minLength: 50, maxLength: 500 });
const withoutPrototypes = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('"__proto__"'));

describe('a result as JSON', () => {
  it.each([
    ['nothing', undefined, null, []],
    ['a bigint', { n: 12n }, { n: '12' }, ['a bigint of the result was written as text']],
    ['a Map', new Map([['a', 1]]), { a: 1 }, ['a Map of the result was written as an object']],
    ['a Set', { s: new Set([1]) }, { s: [1] }, ['a Set of the result was written as a list']],
    ['no number', [Number.NaN, 1], [null, 1], ['NaN in the result was written as null']],
    ['a function', { a: 1, run: () => 1 }, { a: 1 }, ['a function in the result was left out']],
    [
      'an error',
      { e: new TypeError('x') },
      { e: { name: 'TypeError', message: 'x' } },
      ['an error in the result was written as its name and message'],
    ],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z', []],
  ])('has a form for %s, and says what it changed', (_, value, expected, notes) => {
    expect(toJson(value)).toMatchObject({ ok: true, value: expected, notes });
  });

  it('brings no __proto__ through', () => {
    const poisoned: unknown = JSON.parse('{"a": {"__proto__": {"admin": true}, "b": 1}}');
    expect(toJson(poisoned)).toMatchObject({
      ok: true,
      text: '{"a":{"b":1}}',
      notes: [expect.stringContaining('__proto__')],
    });
  });

  it('is the value itself when that is JSON', () => {
    fc.assert(
      fc.property(withoutPrototypes, (value) => {
        const json = toJson(value);
        expect(json.ok && json.text).toBe(JSON.stringify(JSON.parse(JSON.stringify(value))));
      }),
      { seed: 7 },
    );
  });
});

describe('a result that is too large', () => {
  it('always fits afterwards, and always says so', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.jsonValue({ maxDepth: 4 }), escaped),
        fc.integer({ min: 100, max: 400 }),
        (value, room) => {
          const json = { value, text: JSON.stringify(value) };
          const capped = capOutput(json, room);
          const isLarge = Buffer.byteLength(json.text) > room;
          expect(capped.note !== undefined).toBe(isLarge);
          if (!isLarge) expect(capped.value).toBe(value);
          else expect(Buffer.byteLength(JSON.stringify(capped.value))).toBeLessThanOrEqual(room);
        },
      ),
      { seed: 7, numRuns: 300 },
    );
  });

  it.each([
    ['lists', { list: new Array(400).fill('a'), text: 'b' }, 'lists were cut to 30 items.'],
    ['texts', { list: ['a'], text: 'b'.repeat(2_000) }, 'texts were cut to 200 characters.'],
    ['keys', Object.fromEntries(new Array(400).fill(0).map((_, id) => [id, id])), 'objects were cut to 20 keys.'],
    [
      'two of these',
      { list: new Array(400).fill('a'), text: 'b'.repeat(2_000) },
      'lists were cut to 10 items, texts to 200 characters.',
    ],
  ])('has in its note what was cut and nothing else: %s', (_, value, note) => {
    expect(capOutput({ value, text: JSON.stringify(value) }, 400).note?.split(': ')[1]).toBe(note);
  });

  it('keeps some of a text of which every character is escaped', () => {
    const text = '\u0001'.repeat(1_000);
    expect(String(capOutput({ value: text, text: JSON.stringify(text) }, 200).value).length).toBeGreaterThan(20);
  });

  it('is cut between characters, not within one', () => {
    const { value } = capOutput({ value: '水'.repeat(100), text: JSON.stringify('水'.repeat(100)) }, 102);
    expect(value).toBe('水'.repeat(33));
  });

  it('is a text where its form has no room', () => {
    const wide = Object.fromEntries(Array.from({ length: 1_000 }, (_, id) => [`field_${id}`, id]));
    const capped = capOutput({ value: wide, text: JSON.stringify(wide) }, 200);
    expect(capped).toMatchObject({
      value: expect.stringMatching(/^\{"field_0":0/u),
      note: expect.stringContaining('not JSON'),
    });
  });

  it('is cut where an object has very many keys, however deep they stand', () => {
    const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, id) => [`field_${id}`, id]));
    const value = { found: { wide }, total: 50_000 };
    const capped = capOutput({ value, text: JSON.stringify(value) }, 20_000);
    expect(Object.keys(Object(capped.value).found.wide).length).toBeGreaterThan(100);
    expect(capped).toMatchObject({ value: { total: 50_000 }, note: expect.stringContaining('keys') });
  });

  it('is cut as it is where its text holds the sign for what is no character', () => {
    const text = `${'\uFFFD'.repeat(100)}a`;
    expect(capOutput({ value: text, text: JSON.stringify(text) }, 302).value).toBe('\uFFFD'.repeat(100));
  });

  it.each<[string, unknown]>([
    ['keys', Object.fromEntries(Array.from({ length: 200_000 }, (_, id) => [id, id]))],
    ['elements', new Array(200_000).fill(0)],
    ['elements of a Set', new Set(Array.from({ length: 200_000 }, (_, id) => id))],
    ['characters', ['x'.repeat(2 ** 21)]],
  ])('is not read to its end with too many %s', (_, value) => {
    expect(toJson(value, { characters: 2 ** 20, parts: 100_000 })).toMatchObject({ ok: false, isTooLarge: true });
  });
});
