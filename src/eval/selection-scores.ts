/**
 * Scores of a selection, by exact names. Where a case has alternatives, the best-covered set counts. Each score is null where
 * it does not apply.
 */
import type { Selection } from '../core/result.js';
import type { CaseRecord } from './record.js';
import { toolSets } from './variants.js';

/** Cut-offs of recall. */
const CUTOFFS = [3, 5, 8, 10] as const;

export type Scores = Record<string, number | null>;

/**
 * - `allNeeded`: planning gets all needed tools. `recall`, `precision`: of the selected tools, as sets (Manning et al.,
 *   "Introduction to Information Retrieval", 2008, ch. 8).
 * - `recall@k`: share of the needed tools among the first k. `top1`: a needed tool is first. Both use the order of the selected
 *   tools, so they are null where selection was skipped.
 * - `abstention`: nothing fits, and nothing was picked (irrelevance detection of BFCL). Not judged where selection was
 *   skipped, nor where the case expects a question.
 * - `fallback`: selection failed, and planning got the full set.
 */
export function scoreSelection(
  expected: Pick<CaseRecord['expected'], 'tools' | 'alternatives' | 'kind'>,
  selection: Selection,
): Scores {
  const names = selection.tools.map((tool) => tool.name);
  const sets = toolSets(expected);
  const isNeeded = expected.tools.length > 0;
  const wasAsked = selection.mode !== 'passthrough';
  const ranked = (score: () => number) => (isNeeded && wasAsked ? score() : null);
  const best = bestSet(sets, names);
  const hits = hitsOf(best, names);
  return {
    allNeeded: isNeeded ? Number(sets.some((set) => hitsOf(set, names) === set.length)) : null,
    recall: isNeeded ? hits / best.length : null,
    precision: isNeeded ? hits / Math.max(1, names.length) : null,
    ...Object.fromEntries(
      CUTOFFS.map((cutoff) => [`recall@${cutoff}`, ranked(() => recallOf(sets, names.slice(0, cutoff)))]),
    ),
    top1: ranked(() => Number(sets.flat().includes(names[0] ?? ''))),
    abstention: wasAsked && !isNeeded && expected.kind !== 'clarification' ? Number(isAbstention(selection)) : null,
    fallback: wasAsked ? Number(selection.mode === 'fallback') : null,
  };
}

/** Always-on and required tools do not count as picked by the model. */
function isAbstention({ mode, tools }: Selection): boolean {
  return mode === 'none' || tools.every(({ via }) => via === 'always' || via === 'required');
}

function recallOf(sets: readonly string[][], names: readonly string[]): number {
  const best = bestSet(sets, names);
  return hitsOf(best, names) / best.length;
}

/** The set with the largest covered share; among equals, the one with most covered tools. */
export function bestSet(sets: readonly string[][], names: readonly string[]): string[] {
  const shareOf = (set: readonly string[]) =>
    (set.length === 0 ? 0 : hitsOf(set, names) / set.length) * 1_000 + hitsOf(set, names);
  return sets.reduce((best, set) => (shareOf(set) > shareOf(best) ? set : best));
}

function hitsOf(set: readonly string[], names: readonly string[]): number {
  return set.filter((name) => names.includes(name)).length;
}
