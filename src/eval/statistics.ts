/**
 * Means with their uncertainty, and comparisons of two runs. Everything is seeded: the same numbers give the same
 * intervals. Resampling is over cases, since the repeats of one case are not independent of each other.
 */
import { createRandom } from './random.js';

/** The least and the most that a value can be. */
export type Ends = readonly [least: number, most: number];
export const FRACTIONS: Ends = [0, 1];
/** Of one fraction minus another. */
export const FRACTION_DIFFERENCES: Ends = [-1, 1];

export interface EstimateOptions {
  /** Default: 1. */
  seed?: number;
  /** Where it is known, values that all lie at one end leave it open how far the mean of further cases is from there. */
  ends?: Ends | undefined;
}

export interface Estimate {
  readonly mean: number;
  /** Ends of the 95 % interval. */
  readonly low: number;
  readonly high: number;
  readonly count: number;
}

// See `random.ts`: no lookup of a global in the innermost loop.
const { floor } = Math;

/** Fewer resamples for very many values, where the interval is narrow anyway: at least 200. */
function resamplesFor(count: number): number {
  return Math.max(200, Math.min(2_000, floor(5_000_000 / Math.max(1, count))));
}

/**
 * Percentile bootstrap (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993). Undefined without values. It
 * can't see beyond the values: where all are at one of the `ends`, the interval is that of `agreement`.
 */
export function bootstrapMean(
  values: ArrayLike<number>,
  { seed = 1, ends }: EstimateOptions = {},
): Estimate | undefined {
  const estimate = bootstrap(values, seed, (sample) => {
    let sum = 0;
    for (const value of sample) sum += value;
    return sum / sample.length;
  });
  return estimate && ends && estimate.low === estimate.high ? agreement(estimate, ends) : estimate;
}

/** Squared: the normal distribution has 95 % within so many standard deviations. */
const Z2 = 1.959964 ** 2;

/**
 * The score interval (Wilson, Journal of the American Statistical Association, 1927) where all n cases agree at an end:
 * of n hits in n it is n / (n + z²) to 1, of none 0 to z² / (n + z²).
 */
function agreement(estimate: Estimate, [least, most]: Ends): Estimate {
  const width = ((most - least) * Z2) / (estimate.count + Z2);
  if (estimate.mean === most) return { ...estimate, low: most - width };
  return estimate.mean === least ? { ...estimate, high: least + width } : estimate;
}

/** The same for a quantile between 0 and 1: the smallest value that so large a share does not exceed. */
export function bootstrapQuantile(values: ArrayLike<number>, quantile: number, seed = 1): Estimate | undefined {
  return bootstrap(values, seed, (sample) => quantileOf(sample.sort(), quantile));
}

export function quantileOf(sorted: ArrayLike<number>, quantile: number): number {
  return sorted[Math.max(0, Math.ceil(quantile * sorted.length) - 1)] ?? Number.NaN;
}

/** The statistic may sort the sample, which is filled anew each time. */
function bootstrap(
  values: ArrayLike<number>,
  seed: number,
  statistic: (sample: Float64Array) => number,
): Estimate | undefined {
  if (values.length === 0) return undefined;
  const all = Float64Array.from(values);
  const [first = 0] = all;
  if (all.every((value) => value === first)) return { mean: first, low: first, high: first, count: all.length };
  const mean = statistic(Float64Array.from(all));
  const random = createRandom(seed);
  const { length: size } = all;
  const sample = new Float64Array(size);
  const results = new Float64Array(resamplesFor(all.length));
  for (let round = 0; round < results.length; round++) {
    for (let place = 0; place < size; place++) sample[place] = all[floor(random() * size)] ?? 0;
    results[round] = statistic(sample);
  }
  results.sort();
  return { mean, low: quantileOf(results, 0.025), high: quantileOf(results, 0.975), count: all.length };
}

export interface Difference extends Estimate {
  /** Cases in which the second run is better, worse and equal. */
  readonly higher: number;
  readonly lower: number;
  readonly equal: number;
}

/** Second minus first, pair by pair: a paired bootstrap (Koehn, EMNLP 2004). `ends` are those of a difference. */
export function pairedDifference(
  pairs: readonly (readonly [number, number])[],
  options: EstimateOptions = {},
): Difference | undefined {
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

/**
 * The chance that k tries of a case are all right, from `right` of `tries`: C(right, k) / C(tries, k), without bias.
 * pass^k of tau-bench (Yao et al., 2024); its mean over cases is the figure that is reported.
 */
export function passPower(right: number, tries: number, k: number): number | undefined {
  if (k > tries) return undefined;
  let chance = 1;
  for (let taken = 0; taken < k; taken++) chance *= Math.max(0, right - taken) / (tries - taken);
  return chance;
}
