/** The two halves of a set of cases, and a mean with its interval, as the tables of FIGURES.md show them. */
import { createHash } from 'node:crypto';
import { bootstrapMean, FRACTIONS } from '../../dist/eval/statistics.js';

/** `learn` where the first bit of the SHA-256 of the id is 0, else `measure`. */
export function halfOf(id) {
  return createHash('sha256').update(id).digest()[0] < 128 ? 'learn' : 'measure';
}

/** `0.710 (0.55-0.84)`, 95 %; empty where there is no value. */
export function renderMean(values) {
  const estimate = bootstrapMean(values, { ends: FRACTIONS });
  return estimate ? `${estimate.mean.toFixed(3)} (${estimate.low.toFixed(2)}-${estimate.high.toFixed(2)})` : '';
}
