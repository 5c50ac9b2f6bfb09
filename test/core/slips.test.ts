import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { slipsBetween } from '../../src/core/slips.js';

const word = fc.string({ unit: fc.constantFrom(...'abcde'), minLength: 5, maxLength: 11 });

it.each([
  ['a letter too much', 'commmit', 'commit', 1],
  ['a letter too few', 'brnch', 'branch', 1],
  ['a wrong letter', 'renome', 'rename', 1],
  ['two letters swapped', 'pacakge', 'package', 1],
  ['two slips', 'refrense', 'reference', 2],
])('%s is counted', (_, one, other, slips) => {
  expect(slipsBetween(one, other)).toBe(slips);
});

it('slips are counted alike in both directions, and none between equals', () => {
  fc.assert(
    fc.property(word, word, (one, other) => {
      expect(slipsBetween(one, other)).toBe(slipsBetween(other, one));
      expect(slipsBetween(one, other) === 0).toBe(one === other);
    }),
  );
});
