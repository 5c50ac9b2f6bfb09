/** How candidates are told apart: budgets, halving, orders of examples, splits and decisions. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CompletionRequest } from '../../../src/core/model/model.js';
import type { EvaluationCase } from '../../../src/eval/case.js';
import { createRandom } from '../../../src/eval/random.js';
import { createBudget } from '../../../src/eval/tune/budget.js';
import {
  contradicts,
  createLevels,
  decide,
  FALSE_DISCOVERY,
  type Pair,
  signFlipP,
} from '../../../src/eval/tune/decide.js';
import { exampleOrders } from '../../../src/eval/tune/example-orders.js';
import { byUse, halve, pairsOf } from '../../../src/eval/tune/halving.js';
import type { Measurements } from '../../../src/eval/tune/measure.js';
import { createPromptGate } from '../../../src/eval/tune/prompt-gate.js';
import { shortfallOf } from '../../../src/eval/tune/shortfall.js';
import { PARTS, splitCases, stratumOf } from '../../../src/eval/tune/split-cases.js';
import { toCandidate, type Variant } from '../../../src/eval/tune/variant.js';
import { loadFixtureCases } from '../../support/fixtures.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { aCase } from '../setup.js';

describe('the decision', () => {
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
});

describe('halving', () => {
  const cases = Array.from({ length: 20 }, (_, place) => aCase({ id: `c${place}`, request: { message: `m${place}` } }));
  const gate = createPromptGate({ training: cases, withheld: [], known: [] });

  function aVariant(about: string, caseIds: readonly string[] = []): Variant {
    const draft = { name: 'select-tools' as const, instructions: about, examples: [], user: '{{message}}' };
    const candidate = toCandidate(
      { kind: 'examples', about, draft, options: {}, caseIds },
      { gate, growth: () => 0, maxGrowth: 0 },
    );
    if (!candidate.ok) throw new Error(candidate.issues.join());
    return candidate.variant;
  }

  const measured = (score: number | null) => ({ score, got: '', stableTokens: 1, calls: 1, milliseconds: 1 });
  const scoresOf = (scores: Record<string, number | null>): Measurements =>
    new Map(Object.entries(scores).map(([id, score]) => [id, measured(score)]));

  describe('the pairs of a comparison', () => {
    it('are of cases that both have, and of none whose text stands in one of the prompts', () => {
      const before = scoresOf({ c0: 0, c1: 0, c2: 1, c3: null, c4: 0 });
      const after = scoresOf({ c0: 1, c1: 1, c2: 1, c3: 1 });
      const without = [aVariant('base', ['c1']), aVariant('other')];
      expect(pairsOf(cases, { before, after, without })).toEqual([
        [0, 1],
        [1, 1],
      ]);
    });
  });

  describe('the order of training cases', () => {
    it('has failures and right ones by turns, and every case once', () => {
      const failing = new Set(['c7', 'c8', 'c9']);
      const order = byUse(cases, ({ id }) => failing.has(id)).map(({ id }) => id);
      expect(order.slice(0, 7)).toEqual(['c7', 'c0', 'c8', 'c1', 'c9', 'c2', 'c3']);
      expect(new Set(order).size).toBe(cases.length);
    });
  });

  describe('halving', () => {
    const quality: Readonly<Record<string, number>> = { base: 0.2, bad: 0, fair: 0.4, good: 0.6, best: 0.9 };
    const candidates = ['bad', 'good', 'best', 'fair'].map((about) => aVariant(about));
    const sizes = new Map<string, number[]>();
    const measure = async (variant: Variant, batch: readonly { id: string }[]) => {
      sizes.set(variant.about, [...(sizes.get(variant.about) ?? []), batch.length]);
      return new Map(batch.map(({ id }) => [id, measured(quality[variant.about] ?? 0)]));
    };

    it('gives the better half twice as many cases, and names the best of those that saw all', async () => {
      const { winner, standings } = await halve({
        candidates,
        best: aVariant('base'),
        cases,
        firstBatch: 5,
        seed: 1,
        measure,
      });
      expect(winner).toMatchObject({ variant: { about: 'best' }, rungs: 3 });
      expect(standings.map(({ variant }) => variant.about)).toEqual(['best', 'good', 'fair', 'bad']);
      expect(sizes.get('bad')).toEqual([5]);
      expect(sizes.get('good')).toEqual([5, 10]);
      expect(sizes.get('best')).toEqual([5, 10, 20]);
    });

    it('names no winner where the budget ends before, and loses no candidate', async () => {
      let left = 4;
      const short: typeof measure = async (variant, batch) => measure(variant, left-- > 0 ? batch : []);
      const ending = (variant: Variant, batch: readonly { id: string }[]) =>
        left > 0 ? short(variant, batch) : Promise.resolve(undefined);
      const { winner, standings } = await halve({
        candidates,
        best: aVariant('base'),
        cases,
        firstBatch: 5,
        seed: 1,
        measure: ending,
      });
      expect(winner).toBeUndefined();
      expect(standings.map(({ variant }) => variant.about).sort()).toEqual(['bad', 'best', 'fair', 'good']);
    });
  });
});

const REQUEST: CompletionRequest = { stage: 'selection', prompt: { system: 's', user: 'u' }, maxTokens: 10 };

describe('a budget of calls', () => {
  it('does not make the call that would be one too many, and says so', async () => {
    const inner = createScriptedModel({ answers: ['a', 'b'] });
    const budget = createBudget({ milliseconds: 1_000, calls: 2, now: () => 0 });
    const model = budget.meter(inner);
    await model.complete(REQUEST);
    expect(budget.isOver()).toBe(false);
    await model.complete(REQUEST);
    expect([budget.isOver(), budget.exhausted.aborted]).toEqual([true, false]);
    await expect(model.complete(REQUEST)).rejects.toMatchObject({
      code: 'cancelled',
      message: expect.stringContaining('2 model calls'),
    });
    expect(budget.exhausted.aborted).toBe(true);
    inner.assertDone();
  });

  it('counts a rank reading as one, and what an earlier process spent', async () => {
    const inner = createScriptedModel({ readers: [{ probabilities: new Map() }] });
    const budget = createBudget({ milliseconds: 1_000, calls: 5, now: () => 0 });
    const reader = await budget.meter(inner).openReader?.({ prompt: REQUEST.prompt, opening: '"' });
    await reader?.close();
    budget.recall(3, 0);
    expect(budget.spent().calls).toBe(4);
    expect([budget.isOver(), budget.isOver({ calls: 1, milliseconds: 0 })]).toEqual([false, true]);
  });
});

describe('a budget of time', () => {
  it('goes on from the time of an earlier process', () => {
    let time = 100;
    const budget = createBudget({ milliseconds: 1_000, now: () => time });
    budget.recall(0, 700);
    time = 300;
    expect(budget.spent().milliseconds).toBe(900);
    expect([budget.isOver(), budget.isOver({ calls: 0, milliseconds: 100 })]).toEqual([false, true]);
  });
});

const admitter = { gate: createPromptGate({ training: [], withheld: [], known: [] }), growth: () => 0, maxGrowth: 0 };

function orders(examples: readonly string[], { count = 6, seed = 1 } = {}): string[] {
  const draft = { name: 'select-tools' as const, instructions: '<!-- examples -->\n\nTools:', examples, user: 'u' };
  const caseIds = examples.map((example) => `case ${example}`);
  const base = toCandidate({ kind: 'base', about: 'as it was', draft, options: {}, caseIds }, admitter);
  if (!base.ok) throw new Error(base.issues.join());
  return exampleOrders({ ...admitter, best: base.variant, count, seed }).map((one) => {
    if (!one.ok) throw new Error(one.issues.join());
    expect([...one.variant.draft.examples].sort()).toEqual([...examples].sort());
    expect(one.variant.caseIds).toEqual(caseIds);
    return one.variant.draft.examples.join('');
  });
}

describe('the order of worked examples', () => {
  it('has no other with less than two of them', () => {
    expect([orders([]), orders(['a'])]).toEqual([[], []]);
  });

  it('is tried from the last to the first, and by chance; each order once, and never the present one', () => {
    expect(orders(['a', 'b'])).toEqual(['ba']);
    const found = orders(['a', 'b', 'c', 'd', 'e'], { count: 5 });
    expect(found[0]).toBe('edcba');
    expect(found).toHaveLength(5);
    expect(new Set([...found, 'abcde']).size).toBe(6);
  });

  it('is another by chance in each round, and the same when a run is done again', () => {
    const five = ['a', 'b', 'c', 'd', 'e'];
    expect(orders(five, { seed: 2 })).toEqual(orders(five, { seed: 2 }));
    expect(orders(five, { seed: 3 })).not.toEqual(orders(five, { seed: 2 }));
  });
});

const MINUTE = 60_000;
const casesOf = (length: number) => Array.from({ length }, (_, place) => ({ id: `c${place}` }) as EvaluationCase);
/** 3 x 30 + 2 x (40 + 30) measurements for one decision. */
const split = { training: casesOf(30), choosing: casesOf(40), heldBack: casesOf(30) };

function told(minutes: number, { seconds = 6, kept = 0 }: { seconds?: number; kept?: number } = {}) {
  const budget = createBudget({ milliseconds: minutes * MINUTE, now: () => 0 });
  return shortfallOf(
    { budget, split, reserve: { calls: 0, milliseconds: kept * MINUTE } },
    { milliseconds: seconds * 1_000 },
  );
}

describe('a budget for tuning', () => {
  it('that does for one decision is not spoken of', () => {
    expect(told(23)).toBeUndefined();
  });

  it('that does not is told with what is missing, and with how many cases it would do for', () => {
    expect(told(10)).toBe(
      'a decision takes about 23 minutes more; what is left is 10 minutes: give a larger --budget, or about 43 of the 100 cases by --sample',
    );
  });

  it('is what other prompts leave of it', () => {
    expect(told(23, { kept: 13 })).toBe(told(10));
  });

  it('that would do for a handful of cases only must be larger', () => {
    expect(told(1)).toBe(
      'a decision takes about 23 minutes more; what is left is 1 minute: it does for about 4 of the 100 cases, which show hardly any gain: give a larger --budget',
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

    it('takes other shares, and cases that must train', () => {
      const split = splitCases(cases, {
        seed: 1,
        shares: { training: 1, choosing: 1, heldBack: 2 },
        mustTrain: ({ id }) => id === 'c7',
      });
      expect(Math.abs(split.heldBack.length - 99 / 2)).toBeLessThanOrEqual(1);
      expect(split.training.map(({ id }) => id)).toContain('c7');
    });

    it('of too few cases is refused, with the sizes', () => {
      expect(() => splitCases(cases.slice(0, 12), { seed: 1 })).toThrow(
        /12 cases are too few to tune with \(training [34]/u,
      );
    });

    it('has room for the cases that come with the package', () => {
      const fixtures = loadFixtureCases('hydrology').map(({ id, query, expectedTools, tags }) =>
        aCase({ id, request: { message: query }, expected: { tools: [...expectedTools] }, tags }),
      );
      expect(splitCases(fixtures, { seed: 1 }).choosing.length).toBeGreaterThan(30);
    });
  });
});
