import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import type { EvaluationCase } from '../../../src/eval/case.js';
import { benchmarksAreThere, whereBenchmarks } from '../../support/benchmarks.js';
import { loadSet } from './load-set.js';
import { offerCandidates, offerNeeded } from './offers.js';
import { SETS } from './sets.js';
import { aBenchmarkFolder, TOOLS } from './setup.js';

const benchmarks = aBenchmarkFolder();
const idsOf = async (set: string, options: { sample?: number; seed?: number } = {}) =>
  (await loadSet(set, { benchmarks, sample: options.sample, seed: options.seed ?? 1 }))?.cases.map(({ id }) => id);

describe('a set', () => {
  it('has all cases, or so many by chance: the same for a seed, in their own order', async () => {
    const all = (await idsOf('restbench')) ?? [];
    expect(all).toEqual(['c0', 'c1', 'c2', 'c3', 'c4', 'c5']);
    const drawn = await Promise.all([1, 2, 3, 4, 5].map((seed) => idsOf('restbench', { sample: 3, seed })));
    for (const one of drawn) {
      expect(one).toHaveLength(3);
      expect(one).toEqual(all.filter((id) => one?.includes(id)));
    }
    expect(new Set(drawn.map(String)).size).toBeGreaterThan(1);
    expect(await idsOf('restbench', { sample: 3, seed: 2 })).toEqual(drawn[1]);
  });

  it('draws the same cases as another set of the same files', async () => {
    for (const seed of [1, 2, 3]) {
      expect(await idsOf('irrelevance', { sample: 2, seed })).toEqual(
        await idsOf('irrelevance50', { sample: 2, seed }),
      );
    }
  });

  it('is absent where its files are', async () => {
    expect(await idsOf('stabletoolbench')).toBeUndefined();
  });

  it('leaves out the cases that want a question back, and says so', async () => {
    const set = await loadSet('hydrology', { benchmarks, sample: undefined, seed: 1 });
    expect(set?.notices).toEqual(['10 cases are left out: a question is expected, and no tool to judge by']);
    expect(set?.cases.every(({ expected }) => expected.kind !== 'clarification' || expected.tools.length > 0)).toBe(
      true,
    );
    expect(set?.cases.some(({ expected }) => expected.tools.length === 0)).toBe(true);
  });

  it('names the line that is no case', async () => {
    const folder = aBenchmarkFolder();
    appendFileSync(join(folder, 'metatool.cases.jsonl'), '\n{"id": "x"}');
    await expect(loadSet('metatool', { benchmarks: folder, sample: 2, seed: 1 })).rejects.toThrow(
      /metatool\.cases\.jsonl:7 is no usable case: query/u,
    );
  });

  (benchmarksAreThere ? it : it.skip)(
    `keeps each case's expected tools in its offer, for all public sets${whereBenchmarks}`,
    async () => {
      const folder = process.env.WINNOW_BENCHMARKS ?? '../shared/benchmarks';
      for (const id of Object.keys(SETS)) {
        const set = await loadSet(id, { benchmarks: folder, sample: 60, seed: 1 });
        expect([id, set?.cases.length]).toEqual([id, 60]);
        for (const one of set?.cases ?? []) {
          const names = new Set(set?.catalogFor(one).tools.map(({ name }) => name));
          expect([
            one.id,
            [...one.expected.tools, ...(set?.others === undefined ? [] : (one.candidates ?? []))].filter(
              (name) => !names.has(name),
            ),
          ]).toEqual([one.id, []]);
        }
      }
    },
  );
});

const catalog = createCatalog(TOOLS, { name: 'tools' });
const aCase = (id: string, candidates: string[]): EvaluationCase => ({
  id,
  suite: 'set',
  request: { message: 'x' },
  expected: { tools: candidates.slice(0, 1) },
  candidates,
  ignoreCase: false,
  tags: [],
});
const CASES = Array.from({ length: 12 }, (_, place) =>
  aCase(
    `c${place}`,
    Array.from({ length: 1 + (place % 3) }, (__, next) => `other_${place * 4 + next}`),
  ),
);

describe('candidates among others', () => {
  const offer = offerCandidates(catalog, CASES, { others: 20, seed: 1 });

  it.each(CASES.map((one) => [one.id, one] as const))('%s sees its own and at least so many others', (_, one) => {
    const names = offer(one).tools.map(({ name }) => name);
    const own = one.candidates ?? [];
    expect(own.filter((name) => !names.includes(name))).toEqual([]);
    expect(names.length - own.length).toBeGreaterThanOrEqual(20);
    expect(names.length - own.length).toBeLessThanOrEqual(20 + 2);
  });

  it('stand where the catalogue has them, so that no place tells what is needed', () => {
    const places = CASES.map((one) => {
      const names = offer(one).tools.map(({ name }) => name);
      expect(names).toEqual(TOOLS.map(({ name }) => name).filter((name) => names.includes(name)));
      return names.indexOf(one.expected.tools[0] ?? '') / names.length;
    });
    expect(Math.min(...places)).toBeLessThan(0.4);
    expect(Math.max(...places)).toBeGreaterThan(0.6);
  });

  it('are the same for neighbours, so that a prompt is read once', () => {
    const offers = CASES.map(offer);
    expect(new Set(offers).size).toBeLessThan(CASES.length / 3);
    expect(new Set(offers).size).toBeGreaterThan(1);
  });

  it('are alone where no others are wanted', () => {
    const alone = offerCandidates(catalog, CASES, { others: 0, seed: 1 });
    for (const one of CASES) expect(alone(one).tools.map(({ name }) => name)).toEqual(one.candidates);
  });

  it('are other ones for another seed', () => {
    const other = offerCandidates(catalog, CASES, { others: 50, seed: 2 });
    const here = offerCandidates(catalog, CASES, { others: 50, seed: 1 });
    expect(CASES.some((one) => other(one).fingerprint !== here(one).fingerprint)).toBe(true);
  });

  it('are refused for a case of another set', () => {
    expect(() => offer(aCase('stranger', []))).toThrow('"stranger" is no case of this set.');
  });
});

describe('the needed tools among others', () => {
  it('are so many in all, in the order of the catalogue', () => {
    const offer = offerNeeded(catalog, CASES, { count: 8, seed: 1 });
    for (const one of CASES) {
      const names = offer(one).tools.map(({ name }) => name);
      expect(names).toHaveLength(8);
      expect(names).toEqual(expect.arrayContaining([...one.expected.tools]));
      expect(names).toEqual(TOOLS.map(({ name }) => name).filter((name) => names.includes(name)));
    }
  });
});
