/** Means with their uncertainty, as the charts draw them. */

/** @typedef {{mean: number, low: number, high: number, count: number}} Estimate */

/**
 * Collects values between 0 and 1; their mean has a 95 % interval by the normal approximation: a chart of any part of
 * the cases must be there at once, so nothing is resampled. The run's own metrics carry bootstrap intervals.
 * @returns {{add(value: number): void, estimate(): Estimate}}
 */
export function createTally() {
  let [count, sum, squares] = [0, 0, 0];
  return {
    add(value) {
      count += 1;
      sum += value;
      squares += value * value;
    },
    estimate() {
      const mean = sum / Math.max(1, count);
      const spread = Math.max(0, squares - count * mean * mean);
      const margin = count < 2 ? 0 : 1.96 * Math.sqrt(spread / (count - 1) / count);
      return { mean, low: Math.max(0, mean - margin), high: Math.min(1, mean + margin), count };
    },
  };
}

/** About `count` round values that span the range. @param {number} low @param {number} high @param {number} count */
export function roundTicks(low, high, count) {
  const rough = Math.max((high - low) / count, Number.EPSILON);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? rough;
  const first = Math.ceil(low / step);
  const last = Math.floor(high / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => (first + at) * step);
}
