/**
 * How good a selection is, by exact names only: a name that is nearly right is wrong. Where a case has alternatives,
 * the set that is fulfilled best counts. Each score is null where it does not apply.
 */
import { type Selection, VIAS } from '../core/result.js';
import type { CaseRecord } from './record.js';
import { toolSets } from './variants.js';

/** Cut-offs of the rank metrics. */
export const CUTOFFS = [3, 5, 8, 10] as const;

export type Scores = Record<string, number | null>;

/**
 * - `recall`, `precision`, `f1`, `exact`: of all tools handed on to planning, as sets (Manning et al., "Introduction to
 *   Information Retrieval", 2008, ch. 8). `chosen...`: of those that are surely chosen, without the fill of free room.
 * - `recall@k`: share of the needed tools among the first k; `all@k`: 1 when all of them are there (COMP@k of
 *   COLT, Qu et al., CIKM 2024). `allNeeded`: all are among those handed on.
 * - `top1`, `top3`: 1 when a needed tool is first, or among the first three (top-k accuracy, as ImageNet counts top-1
 *   and top-5: Russakovsky et al., IJCV 2015). `mrr`: 1 / place of the first needed tool (Voorhees, TREC-8, 1999), 0
 *   where there is none. The order is the one in which tools are handed on, so the rank metrics are null where
 *   selection was skipped.
 * - `handedOn`: how many tools planning gets, needed or not, by whatever way they came. Our own.
 * - `found.VIA`, `tools.VIA`, `tokens.VIA`: share of the needed tools that came this way, how many tools did, and what
 *   their schemas cost.
 */
export function scoreSelection(
  expected: Pick<CaseRecord['expected'], 'tools' | 'alternatives'>,
  selection: Selection,
  schemaTokens: (name: string) => number,
): Scores {
  const names = selection.tools.map((tool) => tool.name);
  const chosen = selection.tools.filter((tool) => !tool.fill).map((tool) => tool.name);
  const sets = toolSets(expected);
  const isNeeded = expected.tools.length > 0;
  const isRanked = isNeeded && selection.mode !== 'passthrough';
  const best = bestSet(sets, names);
  return {
    ...(isNeeded ? setScores(best, names) : NO_SET_SCORES),
    ...prefixed('chosen', isNeeded ? setScores(bestSet(sets, chosen), chosen) : NO_SET_SCORES),
    allNeeded: isNeeded ? Number(sets.some((set) => isWithin(set, names))) : null,
    ...rankScores(sets, isRanked ? names : undefined),
    handedOn: names.length,
    ...viaScores(best, selection, schemaTokens),
  };
}

const NO_SET_SCORES = { recall: null, precision: null, f1: null, exact: null };

function setScores(needed: readonly string[], names: readonly string[]): Record<keyof typeof NO_SET_SCORES, number> {
  const hits = needed.filter((name) => names.includes(name)).length;
  const precision = names.length === 0 ? 0 : hits / names.length;
  return {
    recall: hits / needed.length,
    precision,
    f1: (2 * hits) / (needed.length + names.length),
    exact: Number(hits === needed.length && names.length === needed.length),
  };
}

/** The set that is there to the largest share; then the one with the least besides. */
function bestSet(sets: readonly string[][], names: readonly string[]): string[] {
  const hits = (set: readonly string[]) => set.filter((name) => names.includes(name)).length;
  const value = (set: readonly string[]) => (set.length === 0 ? 0 : hits(set) / set.length) * 1_000 + hits(set);
  return sets.reduce((best, set) => (value(set) > value(best) ? set : best));
}

function rankScores(sets: readonly string[][], names: readonly string[] | undefined): Scores {
  const score = (of: (ranked: readonly string[]) => number) => (names === undefined ? null : of(names));
  const any = new Set(sets.flat());
  const place = (ranked: readonly string[]) => ranked.findIndex((name) => any.has(name)) + 1;
  const atCutoffs = CUTOFFS.flatMap((cutoff): [string, number | null][] => [
    [`recall@${cutoff}`, score((ranked) => recallOf(sets, ranked.slice(0, cutoff)))],
    [`all@${cutoff}`, score((ranked) => Number(sets.some((set) => isWithin(set, ranked.slice(0, cutoff)))))],
  ]);
  return {
    ...Object.fromEntries(atCutoffs),
    top1: score((ranked) => Number(place(ranked) === 1)),
    top3: score((ranked) => Number(place(ranked) >= 1 && place(ranked) <= 3)),
    mrr: score((ranked) => (place(ranked) === 0 ? 0 : 1 / place(ranked))),
  };
}

function recallOf(sets: readonly string[][], names: readonly string[]): number {
  return setScores(bestSet(sets, names), names).recall;
}

function isWithin(set: readonly string[], names: readonly string[]): boolean {
  return set.every((name) => names.includes(name));
}

function viaScores(needed: readonly string[], { tools }: Selection, schemaTokens: (name: string) => number): Scores {
  const rows = VIAS.flatMap((via): [string, number | null][] => {
    const names = tools.filter((tool) => tool.via === via).map((tool) => tool.name);
    const hits = needed.filter((name) => names.includes(name)).length;
    return [
      [`found.${via}`, needed.length === 0 ? null : hits / needed.length],
      [`tools.${via}`, names.length],
      [`tokens.${via}`, names.reduce((sum, name) => sum + schemaTokens(name), 0)],
    ];
  });
  return Object.fromEntries(rows);
}

/**
 * - `fallback`: selection failed, and the full set went on; `passthrough`: it was skipped.
 * - `unknownNames`: how many names the model made up, each once, in all its answers. `selectionRepaired`: it had to be asked again.
 * - `abstention`: nothing fits, and nothing was picked (irrelevance detection of BFCL). `falseAbstention`: something
 *   fits, and nothing was picked. Not judged where selection was skipped, nor where the case wants a
 *   question back.
 */
export function scoreConduct(
  expected: Pick<CaseRecord['expected'], 'tools' | 'kind'>,
  selection: Selection,
  wasRepaired: boolean,
): Scores {
  const { mode, dropped } = selection;
  const wasAsked = mode !== 'passthrough';
  const abstained = Number(isAbstention(selection));
  const nothingFits = expected.tools.length === 0;
  const isQuestion = expected.kind === 'clarification';
  return {
    fallback: wasAsked ? Number(mode === 'fallback') : null,
    passthrough: Number(mode === 'passthrough'),
    selectionRepaired: wasAsked ? Number(wasRepaired) : null,
    unknownNames: wasAsked ? dropped.filter(({ reason }) => reason === 'unknown').length : null,
    abstention: wasAsked && nothingFits && !isQuestion ? abstained : null,
    falseAbstention: wasAsked && !nothingFits ? abstained : null,
  };
}

/** Always-on and required tools are there whatever the model picks. */
export function isAbstention({ mode, tools }: Selection): boolean {
  return mode === 'none' || tools.every(({ via }) => via === 'always' || via === 'required');
}

function prefixed(prefix: string, scores: Readonly<Record<string, number | null>>): Scores {
  return Object.fromEntries(
    Object.entries(scores).map(([name, value]) => [`${prefix}${name[0]?.toUpperCase()}${name.slice(1)}`, value]),
  );
}
