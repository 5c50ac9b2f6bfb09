import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createKeyMask, maskKeysIn, maskTexts } from '../../src/core/secret-forms.js';

const SECRET = 'Say "hi"/(you) & me?>~~';
const escaped = (text: string) => JSON.stringify(text).slice(1, -1);
const allEscaped = (text: string) =>
  Array.from(text, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

describe('a mask', () => {
  it.each([
    ['as it is', SECRET],
    ['in JSON', escaped(SECRET)],
    ['in JSON in JSON', escaped(escaped(SECRET))],
    ['in a URL', encodeURIComponent(SECRET)],
    ['in a form', new URLSearchParams({ k: SECRET }).toString().slice(2)],
    ['as the host of a URL, which lowers it', SECRET.toLowerCase()],
    ['in a URL with small hexadecimal digits', encodeURIComponent(SECRET).replace(/%../gu, (one) => one.toLowerCase())],
    ['in JSON of PHP', escaped(SECRET).replaceAll('/', '\\/')],
    ['in JSON in JSON of PHP', escaped(escaped(SECRET).replaceAll('/', '\\/')).replaceAll('/', '\\/')],
    [
      'in JSON of .NET and Go',
      escaped(SECRET).replaceAll('\\"', '\\u0022').replaceAll('&', '\\u0026').replaceAll('>', '\\u003E'),
    ],
    ['in JSON, escaped as a whole', allEscaped(SECRET)],
    ['in JSON in JSON, escaped as a whole', escaped(allEscaped(SECRET))],
    ['in Base64', Buffer.from(SECRET).toString('base64')],
    ['in Base64 for URLs', Buffer.from(SECRET).toString('base64url')],
  ])('finds a secret %s', (_, written) => {
    expect(createKeyMask([undefined, SECRET])(`a ${written} b`)).toBe('a [masked] b');
  });

  it('finds the longer of two that begin alike, and takes half a character for no reason to fail', () => {
    expect(createKeyMask(['abcd', '', 'abcdef', 'abc\ud800'])('abcdef abcd')).toBe('[masked] [masked]');
  });

  it('lets no key through in JSON, whatever it holds', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 4, unit: 'grapheme' }), (key) => {
        fc.pre(!/mask|\[|ed\]/u.test(key));
        const masked = createKeyMask([key])(JSON.stringify({ text: `x${key}y`, deep: JSON.stringify([key]) }));
        expect(masked).not.toContain(JSON.stringify(key).slice(1, -1));
      }),
    );
  });

  it('leaves valid JSON, and all escapes outside of keys', () => {
    const mask = createKeyMask(['/key/of/mine', 'other+key']);
    const text = String.raw`{"path": "C:\u005c\/x", "a": "\/key\/of\/mine", "b": "\\/key/of/mine\u002E other\u002bkey"}`;
    expect(mask(text)).toBe(String.raw`{"path": "C:\u005c\/x", "a": "[masked]", "b": "[masked]\u002E [masked]"}`);
  });

  it('finds each of thousands, and the longest that begins at a place', () => {
    const keys = Array.from({ length: 3_000 }, (_, at) => `key-${at}`);
    const mask = createKeyMask(keys);
    for (const key of keys) expect(mask(`a ${key}; b`)).toBe('a [masked]; b');
    expect(mask('a.key-29991.b')).toBe('a.[masked]1.b');
  });

  it('finds one of a megabyte, as it is and in JSON', () => {
    const key = 'ab/"'.repeat(250_000);
    expect(createKeyMask([key, 'hunter-22'])(`a ${key} ${escaped(key)} Hunter-22`)).toBe(
      'a [masked] [masked] [masked]',
    );
  });

  it('leaves a text alone that has what is too short for a key', () => {
    expect(createKeyMask(['abc'])('abcd')).toBe('abcd');
  });
});

describe('the texts of a value', () => {
  it('are masked, also as names and numbers, however deep they lie', () => {
    const mask = createKeyMask(['hunter2', '12345678']);
    const value = { hunter2: ['a hunter2', 12_345_678, 112_345_678, null], b: { c: true } };
    expect(maskTexts(value, mask)).toEqual({
      '[masked]': ['a [masked]', '[masked]', 112_345_678, null],
      b: { c: true },
    });
    let deep: unknown = 'hunter2';
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    expect(JSON.stringify(maskTexts(deep, mask))).toMatch(/^\[+"\[masked\]"\]+$/u);
  });
});

describe('what looks like a key', () => {
  it.each(['sk-abc123', 'sk-ab****yz', 'sk-proj.a_b-c9', 'Bearer abc.d+/=~e'])('is masked: %s', (key) => {
    expect(maskKeysIn(`a wrong key: ${key}.`)).toMatch(/^a wrong key: \[masked\]\.?$/u);
  });

  it.each(['task-forces-abc', 'a bearer of news', 'sk-learn'])('is not seen in: %s', (text) => {
    expect(maskKeysIn(text)).toBe(text);
  });
});
