import { describe, expect, it } from '@jest/globals';
import { byUse, halve, pairsOf } from '../../../src/evaluation/tune/halving.js';
import type { Measurements } from '../../../src/evaluation/tune/measure.js';
import { createPromptGate } from '../../../src/evaluation/tune/prompt-gate.js';
import { toCandidate, type Variant } from '../../../src/evaluation/tune/variant.js';
import { aCase } from '../setup.js';

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
