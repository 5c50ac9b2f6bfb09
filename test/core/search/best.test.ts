import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { keepBest } from '../../../src/core/search/best.js';

describe('the best few', () => {
  it('are those that sorting all would give, ties in their order', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 5 })), fc.nat({ max: 6 }), (scores, limit) => {
        const best = keepBest<number>(limit, (one, other) => one < other);
        for (const [place, score] of scores.entries()) if (best.takes(score)) best.add(score, place);
        const sorted = scores
          .map((score, item) => ({ score, item }))
          .sort((a, b) => b.score - a.score || a.item - b.item);
        expect(best.items()).toEqual(sorted.slice(0, limit));
      }),
    );
  });
});
