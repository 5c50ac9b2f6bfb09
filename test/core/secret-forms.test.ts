import { describe, expect, it } from '@jest/globals';
import { createKeyMask, createMask, maskKeysIn } from '../../src/core/secret-forms.js';

const SECRET = 'say "hi"/(you) & me?>~~';
const escaped = (text: string) => JSON.stringify(text).slice(1, -1);

describe('a mask', () => {
  it.each([
    ['as it is', SECRET],
    ['in JSON', escaped(SECRET)],
    ['in JSON in JSON', escaped(escaped(SECRET))],
    ['in a URL', encodeURIComponent(SECRET)],
    ['in a form', new URLSearchParams({ k: SECRET }).toString().slice(2)],
    ['in Base64', Buffer.from(SECRET).toString('base64')],
    ['in Base64 for URLs', Buffer.from(SECRET).toString('base64url')],
  ])('finds a secret %s', (_, written) => {
    expect(createMask([SECRET])(`a ${written} b`)).toBe('a [masked] b');
    expect(createKeyMask([undefined, SECRET])(written)).toBe('[masked]');
  });

  it('finds the longer of two that begin alike, and nothing of half a character', () => {
    expect(createMask(['abc', '', 'abcdef', '\ud800'])('abcdef abc')).toBe('[masked] [masked]');
  });

  it('leaves short texts alone where keys are meant', () => {
    expect([createMask(['abc'])('abcd'), createKeyMask(['abc'])('abcd')]).toEqual(['[masked]d', 'abcd']);
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
