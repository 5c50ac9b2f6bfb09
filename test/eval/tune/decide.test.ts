/** How candidates are told apart: budgets, halving, splits and decisions. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EvaluationCase } from '../../../src/eval/case.js';
import { type Pair, signFlipP } from '../../../src/eval/statistics.js';
import { type Measurements, toCandidate, type Variant } from '../../../src/eval/tune/candidates.js';
import type { Measure } from '../../../src/eval/tune/measure.js';
import { createPromptGate } from '../../../src/eval/tune/prompt-gate.js';
import { decide, halve, pairsOf } from '../../../src/eval/tune/search.js';
import { LEAST_CASES, PARTS, splitCases, stratumOf } from '../../../src/eval/tune/split-cases.js';
import { shortfallOf } from '../../../src/eval/tune/tune-prompt.js';
import type { Tried } from '../../../src/eval/tune/tune-report.js';
import { loadFixtureCases } from '../../support/fixtures.js';
import { aCase } from '../setup.js';

describe('the decision', () => {
  const repeat = (pair: Pair, count: number): Pair[] => Array.from({ length: count }, () => pair);
  const wonAndLost = (won: number, lost: number, equal = 10) => [
    ...repeat([0, 1], won),
    ...repeat([1, 0], lost),
    ...repeat([1, 1], equal),
  ];

  describe('a gain', () => {
    it.each<[string, Pair[], boolean]>([
      ['of 8 wins without a loss', wonAndLost(8, 0), true],
      ['of 15 wins and 2 losses', wonAndLost(15, 2), true],
      ['of 4 wins without a loss, of which the bootstrap alone is sure', wonAndLost(4, 0, 6), false],
      ['of 8 wins and 6 losses', wonAndLost(8, 6), false],
      ['that is a loss', wonAndLost(0, 8), false],
      ['of nothing', wonAndLost(0, 0), false],
      ['without a case', [], false],
      ['of many small steps', repeat([0.5, 0.6], 12), true],
    ])('%s is kept or not', (_, pairs, isKept) => {
      expect(decide(pairs, { level: 0.025, seed: 1 }).isKept).toBe(isKept);
    });

    it('whose interval holds 0 is not kept, however bold the level', () => {
      const { gain, p, isKept } = decide(wonAndLost(10, 3, 27), { level: 0.06, seed: 1 });
      expect(gain).toMatchObject({ mean: 7 / 40, low: 0 });
      expect(p).toBeLessThan(0.06);
      expect(isKept).toBe(false);
    });

    it('that is clear at one level is not at a stricter one', () => {
      expect(decide(wonAndLost(7, 0), { level: 0.025, seed: 1 }).isKept).toBe(true);
      expect(decide(wonAndLost(7, 0), { level: 0.001, seed: 1 }).isKept).toBe(false);
    });
  });

  describe('the sign-flip test', () => {
    it.each([
      [5, 0, 1 / 32],
      [3, 3, 0.656],
      [6, 1, 8 / 128],
    ])('of %d wins and %d losses agrees with the sign test', (won, lost, p) => {
      expect(signFlipP(wonAndLost(won, lost), 1)).toBeCloseTo(p, 1.7);
      expect(Math.abs(signFlipP(wonAndLost(won, lost), 1) - p)).toBeLessThan(0.02);
    });

    it('is 1 where nothing changed', () => {
      expect(signFlipP(wonAndLost(0, 0), 1)).toBe(1);
    });
  });
});

const cases = Array.from({ length: 20 }, (_, place) => aCase({ id: `c${place}`, request: { message: `m${place}` } }));
const admitter = { gate: createPromptGate({ training: [], withheld: [], known: [] }), growth: () => 0, maxGrowth: 0 };

function aVariant(about: string, caseIds: readonly string[] = [], examples: readonly string[] = []): Variant {
  const instructions = `${about}\n\n<!-- examples -->\n\nTools:`;
  const draft = { name: 'select-tools' as const, instructions, examples, user: '{{message}}' };
  const best = { draft, options: {}, caseIds };
  const candidate = toCandidate({ kind: 'base', about }, { ...admitter, best });
  if (!candidate.ok) throw new Error(candidate.issues.join());
  return candidate.variant;
}

const scoresOf = (scores: Record<string, number | null>): Measurements =>
  new Map(Object.entries(scores).map(([id, score]) => [id, { score, got: '', stableTokens: 1, milliseconds: 1 }]));
const reserve = 0;

describe('halving', () => {
  it('compares cases that both have, and none whose text stands in one of the prompts', async () => {
    const [best, variant] = [aVariant('base', ['c1']), aVariant('other')];
    const before = scoresOf({ c0: 0, c1: 0, c2: 1, c3: null, c4: 0 });
    const after = scoresOf({ c0: 1, c1: 1, c2: 1, c3: 1 });
    const measure: Measure = async (one) => (one === best ? before : after);
    expect(await pairsOf(cases, { best, variant, parts: { measure, reserve, seed: 1 } })).toEqual([
      [0, 1],
      [1, 1],
    ]);
  });

  it('gives the better half twice as many cases, and names the best of those that saw all', async () => {
    const quality = new Map(Object.entries({ base: 0.2, bad: 0, fair: 0.4, good: 0.6, best: 0.9 }));
    const sizes = new Map<string, number[]>();
    const measure: Measure = async ({ about }, batch) => {
      sizes.set(about, [...(sizes.get(about) ?? []), batch.length]);
      return scoresOf(Object.fromEntries(batch.map(({ id }) => [id, quality.get(about) ?? 0])));
    };
    const entries = ['bad', 'good', 'best', 'fair'].map((about) => {
      const row: Tried = { round: 1, kind: 'examples', about, verdict: 'unfinished' };
      return { variant: aVariant(about), row };
    });
    const parts = { measure, reserve, seed: 1 };
    const winner = await halve(entries, { best: aVariant('base'), cases, parts, firstBatch: 5 });
    expect(winner.row).toMatchObject({ about: 'best', rungs: 3, training: { mean: expect.closeTo(0.7) } });
    const seen = ['bad', 'good', 'best'].map((about) => sizes.get(about));
    expect(seen).toEqual([[5], [5, 10], [5, 10, 20]]);
  });
});

const MINUTE = 60_000;
const casesOf = (length: number) => Array.from({ length }, (_, place) => ({ id: `c${place}` }) as EvaluationCase);
/** 3 x 30 + 2 x (40 + 30) measurements for one decision. */
const split = { training: casesOf(30), choosing: casesOf(40), heldBack: casesOf(30) };

function told(minutes: number) {
  const budget = { millisecondsLeft: (reserve = 0) => minutes * MINUTE - reserve };
  return shortfallOf({ budget, split, reserve: 0 }, 6_000);
}

describe('a budget for tuning', () => {
  it('that does for one decision is not spoken of', () => {
    expect(told(23)).toBeUndefined();
  });

  it('that does not is told with what is missing', () => {
    expect(told(10)).toBe(
      'a decision takes about 23 min more, and 10 are left: give a larger --budget, or fewer cases by --sample',
    );
  });
});

describe('the split', () => {
  const cases = Array.from({ length: 100 }, (_, place) =>
    aCase({
      id: `c${place}`,
      request: { message: `message ${place}` },
      expected: { tools: Array.from({ length: place % 3 }, (__, tool) => `t${tool}`) },
      tags: place % 10 === 0 ? ['rare'] : [],
    }),
  );
  const idsOf = (split: ReturnType<typeof splitCases>) => PARTS.map((part) => split[part].map(({ id }) => id));

  describe('the split', () => {
    it('is the same for a seed, another for another, and does not depend on the order of the cases', () => {
      const sorted = (seed: number, from = cases) => idsOf(splitCases(from, { seed })).map((ids) => [...ids].sort());
      expect(sorted(1)).toEqual(sorted(1, [...cases].reverse()));
      expect(sorted(1)).not.toEqual(sorted(2));
    });

    it('gives every case to one part, by the shares', () => {
      fc.assert(
        fc.property(fc.integer({ min: 30, max: 100 }), fc.integer(), (count, seed) => {
          const split = splitCases(cases.slice(0, count), { seed });
          const ids = idsOf(split).flat();
          expect(new Set(ids).size).toBe(count);
          expect(ids).toHaveLength(count);
          for (const [part, share] of [
            ['training', 0.3],
            ['choosing', 0.4],
            ['heldBack', 0.3],
          ] as const) {
            expect(Math.abs(split[part].length - count * share)).toBeLessThanOrEqual(2);
          }
        }),
        { numRuns: 40 },
      );
    });

    it('deals out each stratum evenly', () => {
      const split = splitCases(cases, { seed: 3 });
      for (const stratum of new Set(cases.map(stratumOf))) {
        const all = cases.filter((one) => stratumOf(one) === stratum).length;
        const chosen = split.choosing.filter((one) => stratumOf(one) === stratum).length;
        expect(Math.abs(chosen - all * 0.4)).toBeLessThan(2);
      }
    });

    it('keeps cases of the same words together', () => {
      const twins = cases.flatMap((one) => [
        one,
        { ...one, id: `${one.id}b`, request: { message: `${one.request.message.toUpperCase()}!` } },
      ]);
      const split = splitCases(twins, { seed: 1 });
      for (const part of PARTS) {
        const ids = new Set(split[part].map(({ id }) => id));
        expect([...ids].filter((id) => !ids.has(id.endsWith('b') ? id.slice(0, -1) : `${id}b`))).toEqual([]);
      }
    });

    it('takes cases that must train', () => {
      const split = splitCases(cases, {
        seed: 1,
        mustTrain: ({ id }) => id === 'c7',
      });
      expect(split.training.map(({ id }) => id)).toContain('c7');
    });

    it('of too few cases is refused, with the sizes and the least number', () => {
      expect(() => splitCases(cases.slice(0, 12), { seed: 1 })).toThrow(
        /12 cases are too few to tune with \(training [34].*give more, at least 16 with different words\.$/u,
      );
    });

    it('takes the least number of cases of different words, and no fewer', () => {
      const distinct = Array.from({ length: LEAST_CASES }, (_, at) =>
        aCase({ id: `d${at}`, request: { message: `w${at}` } }),
      );
      for (const seed of [1, 2, 3]) {
        expect(() => splitCases(distinct, { seed })).not.toThrow();
        expect(() => splitCases(distinct.slice(1), { seed })).toThrow('15 cases are too few');
      }
    });

    it('has room for the cases that come with the package', () => {
      const fixtures = loadFixtureCases('hydrology').map(({ id, query, expectedTools, tags }) =>
        aCase({ id, request: { message: query }, expected: { tools: [...expectedTools] }, tags: [...tags] }),
      );
      expect(splitCases(fixtures, { seed: 1 }).choosing.length).toBeGreaterThan(30);
    });
  });
});
