/** Numbers over cases: statistics and the metrics of a run. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTally, METRICS } from '../../src/eval/metrics.js';
import { createRandom, randomFor, sampleOf } from '../../src/eval/random.js';
import type { CaseRecord, ModelCall } from '../../src/eval/record.js';
import {
  bootstrapMean,
  FRACTION_DIFFERENCES,
  FRACTIONS,
  mcNemarExact,
  pairedDifference,
  passPower,
} from '../../src/eval/statistics.js';
import { anError, aRecord, NO_USAGE } from './setup.js';

describe('statistics', () => {
  const values = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 60 });

  describe('the bootstrap interval of a mean', () => {
    it('holds the mean and stays within the values', () => {
      fc.assert(
        fc.property(values, (numbers) => {
          const { mean, low, high, count } = bootstrapMean(numbers) ?? { mean: 0, low: 1, high: 0, count: 0 };
          expect(count).toBe(numbers.length);
          expect(low).toBeLessThanOrEqual(mean + 1e-9);
          expect(high).toBeGreaterThanOrEqual(mean - 1e-9);
          expect(low).toBeGreaterThanOrEqual(Math.min(...numbers) - 1e-9);
          expect(high).toBeLessThanOrEqual(Math.max(...numbers) + 1e-9);
        }),
        { numRuns: 30 },
      );
    });

    it('is close to the interval of the normal distribution for many values', () => {
      const coins = Array.from({ length: 1_000 }, (_, place) => place % 2);
      const { mean, low, high } = bootstrapMean(coins) ?? { mean: 0, low: 0, high: 0 };
      expect(mean).toBe(0.5);
      expect(low).toBeCloseTo(0.5 - 1.96 * Math.sqrt(0.25 / 1_000), 2);
      expect(high).toBeCloseTo(0.5 + 1.96 * Math.sqrt(0.25 / 1_000), 2);
    });

    it('is the same for the same values, and another for another seed', () => {
      const numbers = Array.from({ length: 40 }, (_, place) => Math.sin(place));
      expect(bootstrapMean(numbers)).toEqual(bootstrapMean(numbers));
      expect(bootstrapMean(numbers, { seed: 2 })).not.toEqual(bootstrapMean(numbers, { seed: 1 }));
    });

    it('is a point where all values are alike, and absent where there are none', () => {
      expect(bootstrapMean([0.5, 0.5])).toEqual({ mean: 0.5, low: 0.5, high: 0.5, count: 2 });
      expect(bootstrapMean([])).toBeUndefined();
    });

    it.each([
      // Published bounds of the score interval for 10 of 10 and 0 of 10.
      [10, 1, 0.7225, 1],
      [10, 0, 0, 0.2775],
      [1, 1, 0.2065, 1],
      [1_000, 0, 0, 0.0038],
    ])("is Wilson's where all of %d fractions are %d", (count, value, low, high) => {
      const values = Array.from({ length: count }, () => value);
      const estimate = bootstrapMean(values, { ends: FRACTIONS });
      expect(estimate).toMatchObject({ mean: value, count });
      expect(estimate?.low).toBeCloseTo(low, 4);
      expect(estimate?.high).toBeCloseTo(high, 4);
    });

    it('stays a point where all fractions are alike and at neither end', () => {
      expect(bootstrapMean([0.5, 0.5], { ends: FRACTIONS })).toMatchObject({ low: 0.5, high: 0.5 });
    });
  });

  describe('a paired difference', () => {
    it('counts who is better, and its interval is narrower than that of unpaired values', () => {
      const pairs = Array.from({ length: 50 }, (_, place): [number, number] => [
        place,
        place + (place % 5 === 0 ? -1 : 1),
      ]);
      const difference = pairedDifference(pairs);
      expect(difference).toMatchObject({ higher: 40, lower: 10, equal: 0 });
      expect(difference?.mean).toBeCloseTo(0.6);
      expect((difference?.high ?? 9) - (difference?.low ?? 0)).toBeLessThan(0.6);
    });

    it.each<[number, number, number, number]>([
      [0, 1, (10 - 1.96 ** 2) / (10 + 1.96 ** 2), 1],
      [1, 0, -1, -(10 - 1.96 ** 2) / (10 + 1.96 ** 2)],
      [1, 1, 0, 0],
    ])('of fractions that all went from %d to %d is from %d to %d', (before, after, low, high) => {
      const pairs = Array.from({ length: 10 }, (): [number, number] => [before, after]);
      const difference = pairedDifference(pairs, { ends: FRACTION_DIFFERENCES });
      expect(difference?.low).toBeCloseTo(low, 4);
      expect(difference?.high).toBeCloseTo(high, 4);
    });

    it('turns its sign when the two are exchanged', () => {
      fc.assert(
        fc.property(
          fc.array(fc.tuple(fc.integer({ max: 9, min: 0 }), fc.integer({ max: 9, min: 0 })), { minLength: 1 }),
          (pairs) => {
            const one = pairedDifference(pairs);
            const other = pairedDifference(pairs.map(([first, second]) => [second, first]));
            expect(other?.mean).toBeCloseTo(-(one?.mean ?? 9));
            expect([other?.higher, other?.lower]).toEqual([one?.lower, one?.higher]);
          },
        ),
        { numRuns: 20 },
      );
    });
  });

  describe("McNemar's exact p", () => {
    it.each([
      [0, 0, 1],
      [1, 0, 1],
      [5, 0, 0.0625],
      [6, 0, 0.03125],
      [10, 2, 0.03857],
      [2, 10, 0.03857],
      [7, 7, 1],
    ])('of %d won and %d lost is %d', (won, lost, p) => {
      expect(mcNemarExact(won, lost)).toBeCloseTo(p, 4);
    });

    it('stays a probability for very many cases', () => {
      expect(mcNemarExact(50_000, 50_000)).toBeCloseTo(1, 2);
      expect(mcNemarExact(60_000, 40_000)).toBeLessThan(1e-100);
    });
  });

  describe('pass^k', () => {
    it.each([
      [3, 3, 2, 1],
      [2, 3, 1, 2 / 3],
      [2, 3, 2, 1 / 3],
      [1, 3, 2, 0],
      [0, 3, 1, 0],
      [2, 4, 4, 0],
    ])('of %d right in %d tries, k = %d, is %d', (right, tries, k, expected) => {
      expect(passPower(right, tries, k)).toBeCloseTo(expected);
    });

    it('is not defined for more tries than there were', () => {
      expect(passPower(2, 2, 3)).toBeUndefined();
    });
  });

  describe('chance with a seed', () => {
    it('is even between 0 and 1, and the same in every run', () => {
      const random = createRandom(1);
      const numbers = Array.from({ length: 10_000 }, random);
      expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
      expect(numbers.reduce((sum, number) => sum + number) / numbers.length).toBeCloseTo(0.5, 1);
      expect(numbers.slice(0, 5)).toEqual(Array.from({ length: 5 }, createRandom(1)));
    });

    it('is another for another name', () => {
      expect(randomFor(1, 'a')()).not.toBe(randomFor(1, 'b')());
    });

    it('draws without putting back, in the order of the items', () => {
      const items = Array.from({ length: 20 }, (_, place) => place);
      fc.assert(
        fc.property(fc.integer({ min: 0, max: 25 }), fc.integer({ min: 0 }), (count, seed) => {
          const drawn = sampleOf(items, count, createRandom(seed));
          expect(drawn).toHaveLength(Math.min(20, count));
          expect(drawn).toEqual([...new Set(drawn)].sort((one, other) => one - other));
        }),
      );
    });
  });
});

const CALL: ModelCall = {
  stage: 'selection',
  system: 'ff',
  user: 'u',
  answer: 'a',
  usage: NO_USAGE,
  milliseconds: 1,
  fromCache: false,
};

function tallied(records: readonly CaseRecord[]) {
  const tally = createTally();
  for (const record of records) tally.add(record);
  const facts = tally.facts();
  return { facts, metric: (name: string) => facts.metrics.find((metric) => metric.name === name) };
}

describe('the metrics of a run', () => {
  it('are means over cases, each the mean of its repeats', () => {
    const { metric } = tallied([
      aRecord({ id: 'a', repeat: 0, scores: { right: 1, recall: 1 } }),
      aRecord({ id: 'a', repeat: 1, scores: { right: 0, recall: 0 } }),
      aRecord({ id: 'b', scores: { right: 1, recall: null } }),
    ]);
    expect(metric('right')).toMatchObject({ mean: 0.75, count: 2, group: 'selection', unit: 'fraction' });
    expect(metric('recall')).toMatchObject({ mean: 0.5, count: 1 });
  });

  it('leave it open how far off the truth is where all cases agree, for fractions alone', () => {
    const { metric } = tallied(
      Array.from({ length: 10 }, (_, place) => aRecord({ id: `c${place}`, scores: { right: 1 } })),
    );
    expect(metric('right')).toMatchObject({ mean: 1, low: expect.closeTo(0.7225, 4), high: 1 });
    expect(metric('errors')).toMatchObject({ mean: 0, low: 0, high: expect.closeTo(0.2775, 4) });
    expect(metric('tokens.read')).toMatchObject({ mean: 0, low: 0, high: 0 });
  });

  it('say nothing where no case has a value', () => {
    expect(tallied([aRecord({ scores: { top1: null } })]).metric('top1')).toMatchObject({
      mean: null,
      low: null,
      count: 0,
    });
  });

  it('keep errors of the server apart from wrong answers', () => {
    const { facts, metric } = tallied([
      aRecord({ id: 'a' }),
      anError('b'),
      aRecord({ id: 'c', scores: { right: 0 }, cause: 'cap' }),
    ]);
    expect(facts.counts).toEqual({ done: 3, answered: 2, errors: 1, right: 1, wrong: 1 });
    expect(metric('right')).toMatchObject({ mean: 0.5, count: 2 });
    expect(metric('errors')?.mean).toBeCloseTo(1 / 3);
    expect([metric('tokens.read')?.count, metric('time')?.count]).toEqual([2, 2]);
    expect(facts.causes).toEqual({ error: 1, cap: 1 });
    expect(facts.commonestError).toEqual({ code: 'model_failed', message: 'HTTP 500', count: 1 });
    expect(tallied([aRecord({ id: 'a' })]).facts.commonestError).toBeUndefined();
  });

  it('hold pass^k and the flip rate where cases were repeated', () => {
    const right = (id: string, ...rows: number[]) =>
      rows.map((value, repeat) => aRecord({ id, repeat, scores: { right: value } }));
    const { metric } = tallied([...right('a', 1, 1, 1), ...right('b', 1, 0, 1), ...right('c', 0, 0, 0)]);
    expect(metric('pass^1')?.mean).toBeCloseTo(5 / 9);
    expect(metric('pass^2')?.mean).toBeCloseTo((1 + 1 / 3) / 3);
    expect(metric('pass^3')?.mean).toBeCloseTo(1 / 3);
    expect(metric('flipRate')?.mean).toBeCloseTo(1 / 3);
    expect(tallied([aRecord()]).metric('pass^1')).toBeUndefined();
  });

  it('sum tokens over both stages', () => {
    const usage = {
      selection: { calls: 1, read: 100, cached: 50, written: 10 },
      planning: { calls: 2, read: 200, cached: 25, written: 30 },
      schemaTokens: { all: 1_000, loaded: 80 },
    };
    const { metric } = tallied([aRecord({ usage })]);
    const names = ['tokens.read', 'tokens.cached', 'tokens.written'];
    expect(names.map((name) => metric(name)?.mean)).toEqual([300, 75, 40]);
  });

  it('leave the time of remembered answers out', () => {
    const remembered = aRecord({
      id: 'b',
      calls: [{ ...CALL, fromCache: true }],
      milliseconds: { selection: 0, total: 0 },
    });
    const { metric } = tallied([aRecord({ id: 'a', calls: [CALL] }), remembered]);
    expect(metric('time')).toMatchObject({ mean: 9, count: 1 });
  });

  it('are 25 at most with those of repeats, and eight of them primary', () => {
    expect(METRICS.size + ['pass^k', 'flipRate'].length).toBeLessThanOrEqual(25);
    expect([...METRICS.values()].filter(({ primary }) => primary)).toHaveLength(8);
    expect(tallied([aRecord({ scores: { right: 1, 'tools.model': 7 } })]).metric('tools.model')).toBeUndefined();
  });
});
