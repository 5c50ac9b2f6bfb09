/**
 * Means with intervals, and comparisons of two runs. All is seeded, so the same numbers give the same intervals. Resampling is
 * over cases, since repeats of one case are not independent.
 */
import { createRandom } from './random.js';

/** Smallest and largest possible value. */
type Ends = readonly [least: number, most: number];
export const FRACTIONS: Ends = [0, 1];
/** Ends of one fraction minus another. */
export const FRACTION_DIFFERENCES: Ends = [-1, 1];

interface EstimateOptions {
  /** Default: 1. */
  seed?: number;
  /** Possible range: if all values lie at one end, the interval still allows for the mean of further cases. */
  ends?: Ends | undefined;
}

interface Estimate {
  readonly mean: number;
  /** Ends of the 95 % interval. */
  readonly low: number;
  readonly high: number;
  readonly count: number;
}

// Looking up the global in the inner loop is slow in a separate context, as in tests.
const { floor } = Math;

/** Fewer resamples for very many values, whose interval is narrow anyway; at least 200. */
function resamplesFor(count: number): number {
  return Math.max(200, Math.min(2_000, floor(5_000_000 / Math.max(1, count))));
}

/**
 * Percentile bootstrap (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993). Undefined without values. It can't
 * exceed the values, so where all are at one of the `ends`, `agreement` gives the interval.
 */
export function bootstrapMean(values: readonly number[], options: EstimateOptions = {}): Estimate | undefined {
  const { seed = 1, ends } = options;
  const [first] = values;
  if (first === undefined) return undefined;
  const count = values.length;
  if (values.every((value) => value === first)) {
    const point = { mean: first, low: first, high: first, count };
    return ends ? agreement(point, ends) : point;
  }
  const all = Float64Array.from(values);
  const random = createRandom(seed);
  const means = new Float64Array(resamplesFor(count));
  for (let round = 0; round < means.length; round++) {
    let sum = 0;
    for (let draw = 0; draw < count; draw++) sum += all[floor(random() * count)] ?? 0;
    means[round] = sum / count;
  }
  means.sort();
  const quantile = (share: number) => means[Math.max(0, Math.ceil(share * means.length) - 1)] ?? Number.NaN;
  const mean = all.reduce((sum, value) => sum + value, 0) / count;
  return { mean, low: quantile(0.025), high: quantile(0.975), count };
}

/** Square of z: 95 % of a normal distribution lies within z standard deviations. */
const Z2 = 1.959964 ** 2;

/**
 * The score interval (Wilson, Journal of the American Statistical Association, 1927) where all n cases agree at an end: for n
 * hits in n it is n / (n + z²) to 1, for none 0 to z² / (n + z²).
 */
function agreement(estimate: Estimate, [least, most]: Ends): Estimate {
  const width = ((most - least) * Z2) / (estimate.count + Z2);
  if (estimate.mean === most) return { ...estimate, low: most - width };
  return estimate.mean === least ? { ...estimate, high: least + width } : estimate;
}

/** The value of a case in the first and in the second run. */
export type Pair = readonly [first: number, second: number];

export interface Difference extends Estimate {
  /** Cases in which the second run has a higher, lower or equal value. */
  readonly higher: number;
  readonly lower: number;
  readonly equal: number;
}

/** Second minus first, pair by pair: a paired bootstrap (Koehn, EMNLP 2004). `ends` are those of a difference. */
export function pairedDifference(pairs: readonly Pair[], options: EstimateOptions = {}): Difference | undefined {
  const differences = pairs.map(([first, second]) => second - first);
  const estimate = bootstrapMean(differences, options);
  if (!estimate) return undefined;
  const higher = differences.filter((difference) => difference > 1e-12).length;
  const lower = differences.filter((difference) => difference < -1e-12).length;
  return { ...estimate, higher, lower, equal: differences.length - higher - lower };
}

/**
 * Two-sided p of McNemar's test in its exact form: under the null hypothesis each changed case went either way with
 * probability one half (McNemar, Psychometrika 1947). 1 where nothing changed.
 */
export function mcNemarExact(won: number, lost: number): number {
  const changed = won + lost;
  const logHalves = -changed * Math.LN2;
  let tail = 0;
  let logChoose = 0;
  for (let count = 0; count <= Math.min(won, lost); count++) {
    tail += Math.exp(logChoose + logHalves);
    logChoose += Math.log(changed - count) - Math.log(count + 1);
  }
  return Math.min(1, 2 * tail);
}

const FLIPS = 5_000;
/** Most changed cases for which all signs are enumerated. */
const MAX_EXACT = 12;

/**
 * Share of random signs that give a sum of differences at least as high: a one-sided permutation test for pairs (Fisher, "The
 * Design of Experiments", 1935). The bootstrap alone is too optimistic with few changed cases.
 */
export function signFlipP(pairs: readonly Pair[], seed: number): number {
  const changes = pairs.map(([before, after]) => after - before).filter((change) => change !== 0);
  if (changes.length === 0) return 1;
  const isExact = changes.length <= MAX_EXACT;
  const random = createRandom(seed);
  const rounds = isExact ? 2 ** changes.length : FLIPS;
  // Sums of the same numbers in another order may differ in their last digits.
  const sum = changes.reduce((total, change) => total + change, 0) - 1e-9;
  let asHigh = isExact ? 0 : 1;
  for (let round = 0; round < rounds; round++) {
    let flipped = 0;
    changes.forEach((change, place) => {
      flipped += (isExact ? (round >> place) & 1 : random() < 0.5) ? change : -change;
    });
    if (flipped >= sum) asHigh += 1;
  }
  return asHigh / (isExact ? rounds : rounds + 1);
}

/**
 * Unbiased probability that k tries of a case are all right, from `right` of `tries`: C(right, k) / C(tries, k), pass^k of
 * tau-bench (Yao et al., 2024). Reports show its mean over cases.
 */
export function passPower(right: number, tries: number, k: number): number | undefined {
  if (k > tries) return undefined;
  let chance = 1;
  for (let taken = 0; taken < k; taken++) chance *= Math.max(0, right - taken) / (tries - taken);
  return chance;
}
