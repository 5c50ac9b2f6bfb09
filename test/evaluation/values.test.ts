import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isAccepted, isSameValue } from '../../src/evaluation/values.js';

const exact = { ignoreCase: false };

describe('two values are the same', () => {
  it.each<[string, unknown, unknown]>([
    ['numbers', 5, 5.0],
    ['a number and its text', 5, '5.0'],
    ['a text and its number', ' -1.5e3 ', -1500],
    ['texts with other white space', ' a  b ', 'a b'],
    ['full-width characters', '１２', '12'],
    ['dates with other separators', '2024-08-05', '2024/8/5'],
    ['a Chinese date', '2026年5月12日', '2026-05-12'],
    ['a date in words', 'Aug 5th, 2024', '5 August 2024'],
    ['a day that can be no month', '25/12/2024', '2024-12-25'],
    ['a day in front', '12.25.2024', '25 December 2024'],
    ['a day that has the number of its month', '5/05/2024', '2024-05-05'],
    ['one day that can be read in two ways', '05/08/2024', '5/8/2024'],
    ['times with and without seconds', '2024-08-05 09:30', '2024-08-05T09:30:00.000'],
    ['times at the zero meridian', '2024-08-05T09:30Z', '2024-08-05T09:30:00+00:00'],
    ['objects with keys in another order', { a: 1, b: [2] }, { b: ['2'], a: 1 }],
    ['null', null, null],
  ])('for %s', (_, one, other) => {
    expect(isSameValue(one, other, exact)).toBe(true);
    expect(isSameValue(other, one, exact)).toBe(true);
  });

  it.each<[string, unknown, unknown]>([
    ['a code and a number', '007', 7],
    ['two codes', '1.10', '1.1'],
    ['a text and nothing', 'a', undefined],
    ['an empty text and nought', '', 0],
    ['true and 1', true, 1],
    ['lists in another order', [1, 2], [2, 1]],
    ['two days', '2024-08-05', '2024-08-06'],
    ['a day that can be read in two ways', '05/08/2024', '2024-08-05'],
    ['a day that is none', '30/45/2024', '2024-30-45'],
    ['a day with two marks', '25/12-2024', '2024-12-25'],
    ['an object with more keys', { a: 1 }, { a: 1, b: 2 }],
    ['texts in another case', 'Paris', 'paris'],
  ])('but not for %s', (_, one, other) => {
    expect(isSameValue(one, other, exact)).toBe(false);
    expect(isSameValue(other, one, exact)).toBe(false);
  });

  it('in upper and lower case where the case says so, also inside', () => {
    expect(isSameValue(['Paris'], ['paris'], { ignoreCase: true })).toBe(true);
  });

  it('always with itself, and in both directions alike', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        expect(isSameValue(one, JSON.parse(JSON.stringify(one)), exact)).toBe(true);
        expect(isSameValue(one, other, exact)).toBe(isSameValue(other, one, exact));
      }),
    );
  });
});

describe('a list of accepted values', () => {
  it.each<[string, unknown[], unknown, boolean]>([
    ['one of them', ['NYC', 'New York'], 'New York', true],
    ['none of them', ['NYC', 'New York'], 'Boston', false],
    ['a list as a whole', [['a', 'b']], ['a', 'b'], true],
    ['a part of a list', [['a', 'b']], ['a'], false],
    ['a list of its own for each key', [{ min: [3, 4], max: [5] }], { min: 4, max: 5 }, true],
    ['a key with a wrong value', [{ min: [3], max: [5] }], { min: 3, max: 6 }, false],
    ['a key that may be left out', [{ min: [3], unit: ['', 'm'] }], { min: 3 }, true],
    ['a key that may not', [{ min: [3], max: [5] }], { min: 3 }, false],
    ['a key too many', [{ min: [3] }], { min: 3, max: 5 }, false],
    ['objects in a list', [[{ name: ['a', 'b'] }]], [{ name: 'b' }], true],
  ])('takes or refuses %s', (_, accepted, got, expected) => {
    expect(isAccepted(accepted, got, exact)).toBe(expected);
  });
});
