/**
 * Many candidates on few cases, then the better half of them on twice as many, and so on (successive halving: Jamieson
 * and Talwalkar, AISTATS 2016). Each is compared pair by pair with the prompt that is best so far.
 */
import type { EvaluationCase } from '../case.js';
import { type Difference, pairedDifference } from '../statistics.js';
import type { Pair } from './decide.js';
import type { Measurements } from './measure.js';
import { rising } from './rising.js';
import type { Variant } from './variant.js';

export interface Standing {
  readonly variant: Variant;
  /** On the largest batch that it was tried on. */
  readonly gain: Difference | undefined;
  /** In how many batches it was. */
  readonly rungs: number;
}

export interface HalvingOptions {
  candidates: readonly Variant[];
  best: Variant;
  /** In the order in which they are used; see `byUse`. */
  cases: readonly EvaluationCase[];
  /** Size of the first batch. Default: 8. */
  firstBatch?: number;
  seed: number;
  measure: (variant: Variant, cases: readonly EvaluationCase[]) => Promise<Measurements | undefined>;
}

export interface Halved {
  /** All candidates, the best first. */
  readonly standings: readonly Standing[];
  /** The best of those that were tried on all cases; undefined where the budget ended before. */
  readonly winner: Standing | undefined;
}

export async function halve({
  candidates,
  best,
  cases,
  firstBatch = 8,
  seed,
  measure,
}: HalvingOptions): Promise<Halved> {
  const out: Standing[] = [];
  let left: Standing[] = candidates.map((variant) => ({ variant, gain: undefined, rungs: 0 }));
  for (let size = Math.min(firstBatch, cases.length); ; size = Math.min(size * 2, cases.length)) {
    const batch = cases.slice(0, size);
    const before = await measure(best, batch);
    const tried: Standing[] = [];
    for (const one of left) {
      const after = before && (await measure(one.variant, batch));
      if (!before || !after)
        return { standings: [...ranked(tried), ...left.slice(tried.length), ...out], winner: undefined };
      const pairs = pairsOf(batch, { before, after, without: [best, one.variant] });
      tried.push({ ...one, gain: pairedDifference(pairs, { seed }), rungs: one.rungs + 1 });
    }
    const standings = ranked(tried);
    if (size === cases.length) return { standings: [...standings, ...out], winner: standings[0] };
    const kept = Math.ceil(standings.length / 2);
    out.unshift(...standings.slice(kept));
    left = standings.slice(0, kept);
  }
}

/** In order; of equals, the earlier one. */
function ranked(standings: readonly Standing[]): Standing[] {
  const meanOf = ({ gain }: Standing) => gain?.mean ?? Number.NEGATIVE_INFINITY;
  return [...standings].sort((one, other) => rising(meanOf(other), meanOf(one)));
}

export interface Compared {
  before: Measurements;
  after: Measurements;
  /** The cases whose text stands in one of them are no evidence. */
  without: readonly Variant[];
}

export function pairsOf(cases: readonly EvaluationCase[], { before, after, without }: Compared): Pair[] {
  const shown = new Set(without.flatMap(({ caseIds }) => caseIds));
  return cases.flatMap(({ id }): Pair[] => {
    const [first, second] = [before.get(id)?.score ?? undefined, after.get(id)?.score ?? undefined];
    return first === undefined || second === undefined || shown.has(id) ? [] : [[first, second]];
  });
}

/** Failures and right cases by turns, so that also a small batch shows what is repaired and what is broken. */
export function byUse(cases: readonly EvaluationCase[], isFailing: (one: EvaluationCase) => boolean): EvaluationCase[] {
  const failing = cases.filter(isFailing);
  const right = cases.filter((one) => !isFailing(one));
  const turns = Array.from({ length: Math.max(failing.length, right.length) }, (_, place) => [
    failing[place],
    right[place],
  ]);
  return turns.flat().filter((one) => one !== undefined);
}
