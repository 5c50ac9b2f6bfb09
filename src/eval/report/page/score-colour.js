/** How a score of a case looks: good, bad or between, by the direction that is better. */

/** @import { MetricMeaning } from '../../run-summary.ts' */

/** @param {number | null} value @param {MetricMeaning['better'] | undefined} better @returns {'good' | 'between' | 'bad' | 'none'} */
export function colourOf(value, better) {
  if (value === null || better === undefined || better === 'none') return 'none';
  if (better === 'lower') return value <= 0 ? 'good' : value < 1 ? 'between' : 'bad';
  return value >= 1 ? 'good' : value > 0 ? 'between' : 'bad';
}
