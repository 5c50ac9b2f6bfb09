import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createSeries } from '../../src/evaluation/series.js';

/** The same by lists of all values: what the compact forms must not differ from. */
function createLists() {
  const lists = new Map<number, number[]>();
  const at = (place: number) => lists.get(place) ?? [];
  const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
  return {
    add: (place: number, value: number) => void lists.set(place, [...at(place), value]),
    triesAt: (place: number) => at(place).length,
    sumAt: (place: number) => sumOf(at(place)),
    means: () =>
      [...lists.keys()].sort((one, other) => one - other).map((place) => sumOf(at(place)) / at(place).length),
  };
}

const values = fc.oneof(fc.constantFrom(0, 1, 0.5), fc.double({ noNaN: true, min: -1e6, max: 1e6 }));
const entries = fc.array(fc.tuple(fc.nat(200), values), { maxLength: 600 });

describe('a series', () => {
  it.each([2, 7, 300, 4_096])('tells what was added to it, with room for %i different states', (mostStates) => {
    fc.assert(
      fc.property(entries, (added) => {
        const series = createSeries(mostStates);
        const lists = createLists();
        for (const [place, value] of added) {
          series.add(place, value);
          lists.add(place, value);
        }
        expect([...series.means()]).toEqual(lists.means());
        const told = ({ triesAt, sumAt }: Pick<typeof series, 'triesAt' | 'sumAt'>) =>
          Array.from({ length: 202 }, (_, place) => [triesAt(place), sumAt(place)]);
        expect(told(series)).toEqual(told(lists));
        expect(series.length()).toBe(Math.max(-1, ...added.map(([place]) => place)) + 1);
      }),
      { numRuns: 40 },
    );
  });

  it('holds cases that have no value between those that do', () => {
    const series = createSeries();
    series.add(3, 1);
    series.add(1_000, 0.25);
    expect([series.meanAt(3), series.meanAt(4), series.meanAt(2_000)]).toEqual([1, undefined, undefined]);
    expect([...series.means()]).toEqual([1, 0.25]);
  });

  it('takes a byte or two a case where values repeat', () => {
    const before = process.memoryUsage().arrayBuffers;
    const series = createSeries();
    for (let place = 0; place < 1 << 20; place++) series.add(place, place % 40);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 << 20);
    expect(series.meanAt(1 << 19)).toBe((1 << 19) % 40);
  });
});
