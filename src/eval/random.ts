/** Seeded random numbers and samples, the same in every run. */
import { createHash } from 'node:crypto';

/** Numbers in [0, 1). */
export type Random = () => number;

// Looking up the global in the inner loop is slow in a separate context, as in tests.
const { imul } = Math;

/** Mulberry32 (Tommy Ettinger, 2017), public domain. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A separate generator for each name, so that a case's draw does not depend on the cases before it. */
export function randomFor(seed: number, name: string): Random {
  return createRandom(createHash('sha256').update(`${seed}:${name}`).digest().readUInt32LE(0));
}

/** Draws `count` items without replacement and keeps their order; all where there are fewer. */
export function sampleOf<T>(items: readonly T[], count: number, random: Random): T[] {
  const places = items.map((_, place) => place);
  const taken = Math.min(count, places.length);
  for (let next = 0; next < taken; next++) {
    const other = next + Math.floor(random() * (places.length - next));
    [places[next], places[other]] = [places[other] ?? 0, places[next] ?? 0];
  }
  const chosen = new Set(places.slice(0, taken));
  return items.filter((_, place) => chosen.has(place));
}
