/**
 * When a gain counts. The choosing part may be looked at many times; all looks together keep something that is no
 * better with a chance of at most one in twenty.
 */
import { createRandom } from '../random.js';
import { type Difference, pairedDifference } from '../statistics.js';

/** The score of a case before and after. */
export type Pair = readonly [before: number, after: number];

export interface Decision {
  /** After minus before; undefined without a pair. */
  readonly gain: Difference | undefined;
  /** Of the sign-flip test, one-sided. */
  readonly p: number;
  /** What p had to be at most. */
  readonly level: number;
  readonly isKept: boolean;
}

export const FALSE_DISCOVERY = 0.05;

/** Kept where the paired 95 % interval lies above 0, and chance alone would gain as much too seldom. */
export function decide(pairs: readonly Pair[], { level, seed }: { level: number; seed: number }): Decision {
  const gain = pairedDifference(pairs, { seed });
  const p = signFlipP(pairs, seed);
  return { gain, p, level, isKept: gain !== undefined && gain.low > 0 && p <= level };
}

/** The held-back part contradicts a gain that it does not show: nothing kept is worse there, or only equal. */
export function contradicts(
  pairs: readonly Pair[],
  seed: number,
): { gain: Difference | undefined; isRefuted: boolean } {
  const gain = pairedDifference(pairs, { seed });
  return { gain, isRefuted: gain === undefined || gain.mean <= 0 };
}

export interface Levels {
  next(): number;
  /** A look that kept nothing has used its level up; one that kept something passes it on. */
  used(): void;
}

/** A half of what is left to each look: the fallback procedure (Wiens, Pharmaceutical Statistics 2003). */
export function createLevels(total = FALSE_DISCOVERY): Levels {
  let level = total / 2;
  return {
    next: () => level,
    used() {
      level /= 2;
    },
  };
}

const FLIPS = 5_000;
/** Up to so many changed cases all signs are gone through. */
const MAX_EXACT = 12;

/**
 * How often the sum of the differences is as high when each one's sign is a coin's: a permutation test for pairs
 * (Fisher, "The Design of Experiments", 1935). The bootstrap alone is too bold with few changed cases.
 */
export function signFlipP(pairs: readonly Pair[], seed: number): number {
  const changes = pairs.map(([before, after]) => after - before).filter((change) => change !== 0);
  if (changes.length === 0) return 1;
  // A sum of the same numbers in another order may differ in its last digits.
  const sum = changes.reduce((total, change) => total + change, 0) - 1e-9;
  const sums = changes.length <= MAX_EXACT ? allSums(changes) : drawnSums(changes, seed);
  const asHigh = sums.filter((flipped) => flipped >= sum).length;
  return changes.length <= MAX_EXACT ? asHigh / sums.length : (asHigh + 1) / (FLIPS + 1);
}

function allSums(changes: readonly number[]): Float64Array {
  const sums = new Float64Array(2 ** changes.length);
  let size = 1;
  for (const change of changes) {
    for (let place = 0; place < size; place++) {
      const sum = sums[place] ?? 0;
      sums[size + place] = sum - change;
      sums[place] = sum + change;
    }
    size *= 2;
  }
  return sums;
}

function drawnSums(changes: readonly number[], seed: number): Float64Array {
  const random = createRandom(seed);
  const sums = new Float64Array(FLIPS);
  for (let flip = 0; flip < FLIPS; flip++) {
    let sum = 0;
    for (const change of changes) sum += random() < 0.5 ? change : -change;
    sums[flip] = sum;
  }
  return sums;
}
