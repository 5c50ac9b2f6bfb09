import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PARTS, splitCases, stratumOf } from '../../../src/evaluation/tune/split-cases.js';
import { loadFixtureCases } from '../../support/fixtures.js';
import { aCase } from '../setup.js';

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
