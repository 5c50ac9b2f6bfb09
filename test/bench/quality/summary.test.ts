import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { noUsage } from '../../../src/core/model/model.js';
import type { Outcome } from './outcome.js';
import { noSpent } from './remembered-model.js';
import { anOutcome, outcomesOf } from './setup.js';
import { duelsOf, summarise } from './summary.js';

const spent = (milliseconds: number, read: number) => ({
  ...noSpent(),
  answers: 1,
  milliseconds,
  usage: { ...noUsage(), read },
});

describe('a row', () => {
  it('holds the means of one contestant on one set, with an interval around each', () => {
    const scores = [1, 0, 1, 0, 1, 0, 1, 0].map((recall) => ({ recall, allNeeded: 1 }));
    const [row, ...others] = summarise(outcomesOf('restbench', 'winnow', scores));
    expect(others).toEqual([]);
    expect(row).toMatchObject({ set: 'restbench', contestant: 'winnow', cases: 8 });
    expect(row?.metrics.allNeeded).toMatchObject({ mean: 1, low: expect.closeTo(0.676, 3), high: 1, count: 8 });
    const { mean = 0, low = 1, high = 0 } = row?.metrics.recall ?? {};
    expect(mean).toBe(0.5);
    expect([low < 0.5, high > 0.5, low >= 0, high <= 1]).toEqual([true, true, true, true]);
  });

  it('counts the unanswered as cases, and errors and what does not fit as none', () => {
    const outcomes = [
      anOutcome({ id: 'a', scores: { recall: 1 } }),
      anOutcome({ id: 'b', status: 'unanswered', reason: 'threw', scores: { recall: 0 } }),
      anOutcome({ id: 'c', status: 'unanswered', reason: 'threw', scores: { recall: 0 } }),
      anOutcome({ id: 'd', status: 'error', reason: 'HTTP 500', scores: {} }),
      anOutcome({ id: 'e', status: 'does-not-fit', neededTokens: 20_000, scores: {} }),
      anOutcome({ id: 'f', mode: 'fallback', scores: { recall: 1 } }),
    ];
    expect(summarise(outcomes)[0]).toMatchObject({
      cases: 4,
      metrics: { recall: { mean: 0.5 } },
      unanswered: { threw: 2 },
      errors: { 'HTTP 500': 1 },
      modes: { fallback: 1 },
      doesNotFit: 1,
      neededTokens: 20_000,
    });
  });

  it('tells the seconds and tokens of those whose cost is known', () => {
    const outcomes = [spent(1_000, 10), spent(9_000, 30), spent(2_000, 20), { ...noSpent(), answers: 2, unpriced: 1 }];
    const [row] = summarise(outcomes.map((one, place) => anOutcome({ id: `c${place}`, spent: one })));
    expect(row).toMatchObject({ seconds: 2, tokens: { read: 20, cached: 0, written: 0 } });
    expect(summarise([anOutcome()])[0]).toMatchObject({ seconds: undefined, tokens: undefined });
  });
});

describe('a duel', () => {
  const recalls = (contestant: string, values: readonly (number | undefined)[]): Outcome[] =>
    outcomesOf(
      'restbench',
      contestant,
      values.map((recall) => (recall === undefined ? {} : { recall })),
    );
  const duel = (outcomes: readonly Outcome[], peers: readonly string[]) =>
    duelsOf(outcomes, { set: 'restbench', metric: 'recall', peers });

  it('pairs the cases by their id, and leaves out those that only one has', () => {
    const theirs = recalls('bm25', [0.5, 0, 1, undefined]).reverse();
    const [one] = duel([...recalls('winnow', [1, 0, 0, 1]), ...theirs], ['bm25']);
    expect(one).toMatchObject({ peer: 'bm25', difference: { count: 3, higher: 1, lower: 1, equal: 1 } });
    expect(one?.ours).toBeCloseTo(1 / 3);
    expect(one?.theirs).toBeCloseTo(0.5);
    expect(one?.ratio).toBeCloseTo(2 / 3);
    expect(one?.difference.mean).toBeCloseTo(-1 / 6);
  });

  it('is won by the means of the pairs, whatever the values', () => {
    const score = fc.integer({ min: 0, max: 4 }).map((quarters) => quarters / 4);
    fc.assert(
      fc.property(fc.array(fc.tuple(score, score), { minLength: 1, maxLength: 30 }), (pairs) => {
        const [one] = duel(
          [
            ...recalls(
              'winnow',
              pairs.map(([own]) => own),
            ),
            ...recalls(
              'bm25',
              pairs.map(([, other]) => other),
            ),
          ],
          ['bm25'],
        );
        expect(one?.difference.mean).toBeCloseTo((one?.ours ?? 9) - (one?.theirs ?? 0));
        expect(one?.difference.low).toBeLessThanOrEqual((one?.difference.mean ?? 0) + 1e-9);
        expect(one?.difference.high).toBeGreaterThanOrEqual((one?.difference.mean ?? 0) - 1e-9);
      }),
      { numRuns: 20 },
    );
  });

  it('comes with the strongest first, without those who have no case in common', () => {
    const outcomes = [
      ...recalls('winnow', [1, 1]),
      ...recalls('keywords', [0.2, 0.2]),
      ...recalls('bm25', [0.4, 0.4]),
      ...recalls('langchain', [undefined, undefined]),
    ];
    expect(duel(outcomes, ['langchain', 'keywords', 'bm25']).map(({ peer }) => peer)).toEqual(['bm25', 'keywords']);
  });

  it('that all cases won is no certainty', () => {
    const [won] = duel([...recalls('winnow', [1, 1, 1, 1]), ...recalls('bm25', [0, 0, 0, 0])], ['bm25']);
    expect(won?.difference).toMatchObject({ mean: 1, low: expect.closeTo(0.02, 2), high: 1 });
  });

  it('has no ratio to nothing', () => {
    expect(duel([...recalls('winnow', [1]), ...recalls('bm25', [0])], ['bm25'])[0]?.ratio).toBeUndefined();
  });
});
