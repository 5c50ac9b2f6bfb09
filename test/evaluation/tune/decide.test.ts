import { describe, expect, it } from '@jest/globals';
import { createRandom } from '../../../src/evaluation/random.js';
import {
  contradicts,
  createLevels,
  decide,
  FALSE_DISCOVERY,
  type Pair,
  signFlipP,
} from '../../../src/evaluation/tune/decide.js';

const repeat = (pair: Pair, count: number): Pair[] => Array.from({ length: count }, () => pair);
const pairsOf = (won: number, lost: number, equal = 10) => [
  ...repeat([0, 1], won),
  ...repeat([1, 0], lost),
  ...repeat([1, 1], equal),
];

describe('a gain', () => {
  it.each<[string, Pair[], boolean]>([
    ['of 8 wins without a loss', pairsOf(8, 0), true],
    ['of 15 wins and 2 losses', pairsOf(15, 2), true],
    ['of 4 wins without a loss, of which the bootstrap alone is sure', pairsOf(4, 0, 6), false],
    ['of 8 wins and 6 losses', pairsOf(8, 6), false],
    ['that is a loss', pairsOf(0, 8), false],
    ['of nothing', pairsOf(0, 0), false],
    ['without a case', [], false],
    ['of many small steps', repeat([0.5, 0.6], 12), true],
  ])('%s is kept or not', (_, pairs, isKept) => {
    expect(decide(pairs, { level: 0.025, seed: 1 }).isKept).toBe(isKept);
  });

  it('whose interval holds 0 is not kept, however bold the level', () => {
    const { gain, p, isKept } = decide(pairsOf(10, 3, 27), { level: 0.06, seed: 1 });
    expect(gain).toMatchObject({ mean: 7 / 40, low: 0 });
    expect(p).toBeLessThan(0.06);
    expect(isKept).toBe(false);
  });

  it('that is clear at one level is not at a stricter one', () => {
    expect(decide(pairsOf(7, 0), { level: 0.025, seed: 1 }).isKept).toBe(true);
    expect(decide(pairsOf(7, 0), { level: 0.001, seed: 1 }).isKept).toBe(false);
  });
});

describe('the sign-flip test', () => {
  it.each([
    [5, 0, 1 / 32],
    [3, 3, 0.656],
    [6, 1, 8 / 128],
  ])('of %d wins and %d losses agrees with the sign test', (won, lost, p) => {
    expect(signFlipP(pairsOf(won, lost), 1)).toBeCloseTo(p, 1.7);
    expect(Math.abs(signFlipP(pairsOf(won, lost), 1) - p)).toBeLessThan(0.02);
  });

  it('is 1 where nothing changed', () => {
    expect(signFlipP(pairsOf(0, 0), 1)).toBe(1);
  });
});

describe('the held-back part', () => {
  it.each<[string, Pair[], boolean]>([
    ['agrees with a small gain', pairsOf(2, 1), false],
    ['contradicts with no gain', pairsOf(2, 2), true],
    ['contradicts with a loss', pairsOf(1, 2), true],
    ['contradicts without a case', [], true],
  ])('%s', (_, pairs, isRefuted) => {
    expect(contradicts(pairs, 1).isRefuted).toBe(isRefuted);
  });
});

describe('the levels of the looks', () => {
  it('are used up only by looks that kept nothing, and never in sum more than the whole', () => {
    const levels = createLevels();
    const used: number[] = [];
    for (let look = 0; look < 30; look++) {
      used.push(levels.next());
      expect(levels.next()).toBe(used[look]);
      levels.used();
    }
    expect(used[0]).toBe(FALSE_DISCOVERY / 2);
    expect(used.reduce((sum, level) => sum + level, 0)).toBeLessThanOrEqual(FALSE_DISCOVERY);
  });
});

/** Scores by chance, before and after alike. */
function byChance(random: () => number, count: number): Pair[] {
  const score = () => Number(random() < 0.7);
  return Array.from({ length: count }, (): Pair => [score(), score()]);
}

describe('over 200 seeds of four looks each at variants that are no better', () => {
  const runs = Array.from({ length: 200 }, (_, seed) => {
    const random = createRandom(seed * 7_919 + 1);
    const levels = createLevels();
    let kept = 0;
    let clearByInterval = 0;
    for (let look = 0; look < 4; look++) {
      const { isKept, gain } = decide(byChance(random, 20), { level: levels.next(), seed });
      kept += Number(isKept);
      clearByInterval += Number((gain?.low ?? 0) > 0);
      if (!isKept) levels.used();
    }
    return { kept, clearByInterval };
  });

  it('one is kept in fewer than 5 % of the runs', () => {
    expect(runs.filter(({ kept }) => kept > 0).length / runs.length).toBeLessThan(FALSE_DISCOVERY);
  });

  it('the interval alone would keep one more often than that', () => {
    expect(runs.filter(({ clearByInterval }) => clearByInterval > 0).length / runs.length).toBeGreaterThan(
      FALSE_DISCOVERY,
    );
  });
});
