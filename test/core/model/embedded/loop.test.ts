import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { endsInLoop } from '../../../../src/core/model/embedded/loop.js';

const repeat = (block: readonly number[], times: number) => Array.from({ length: times }, () => block).flat();

describe('an answer that only repeats itself', () => {
  it.each([
    ['one token', [7], 32],
    ['a few tokens', [1, 2, 3], 12],
    ['a long block', Array.from({ length: 40 }, (_, place) => place), 4],
  ])('is seen: %s', (_, block, times) => {
    expect(endsInLoop([9, 9, 8, ...repeat(block, times)])).toBe(true);
  });

  it.each([
    ['too few rounds', repeat([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], 3)],
    ['too short', repeat([5], 31)],
    ['something new at the end', [...repeat([1, 2, 3], 20), 4]],
  ])('is not seen: %s', (_, tokens) => {
    expect(endsInLoop(tokens)).toBe(false);
  });

  it('is never seen in tokens that are all different', () => {
    fc.assert(fc.property(fc.uniqueArray(fc.nat(), { maxLength: 300 }), (tokens) => !endsInLoop(tokens)));
  });
});
