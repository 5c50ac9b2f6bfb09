/**
 * Splits cases by seed into three parts: for training, for choosing, and one held back for a single test at the end. Cases
 * with the same words stay in one part.
 */
import { WinnowError } from '../../core/errors.js';
import type { EvaluationCase } from '../case.js';
import { randomFor } from '../random.js';
import { tokensOf } from './prompt-gate.js';

export const PARTS = ['training', 'choosing', 'heldBack'] as const;
export type Part = (typeof PARTS)[number];
export type Split = Readonly<Record<Part, readonly EvaluationCase[]>>;

/** Choosing gets most, since its size decides how small a gain is significant. */
const SHARES: Readonly<Record<Part, number>> = { training: 0.3, choosing: 0.4, heldBack: 0.3 };

interface SplitOptions {
  seed: number;
  /** Cases always used for training, for example those already quoted in the prompt. */
  mustTrain?: (one: EvaluationCase) => boolean;
}

/** With fewer cases in a part no gain is significant: five wins of five have p = 0.03. */
const MIN_CASES = 5;
/** With fewer cases of different words, some part has fewer than it needs. */
export const LEAST_CASES = 16;

/** @throws WinnowError `invalid_option` where a part would have fewer than five cases. */
export function splitCases(cases: readonly EvaluationCase[], options: SplitOptions): Split {
  const { seed, mustTrain = () => false } = options;
  const parts: Record<Part, EvaluationCase[]> = { training: [], choosing: [], heldBack: [] };
  const given: Record<Part, number> = { training: 0, choosing: 0, heldBack: 0 };
  let seen = 0;
  for (const group of groupsOf(cases, seed)) {
    if (group.some(mustTrain)) {
      parts.training.push(...group);
      continue;
    }
    seen += group.length;
    // Fills the part furthest behind its share; neighbours are of one stratum, so each stratum is spread evenly.
    const lag = (part: Part) => seen * SHARES[part] - given[part];
    const part = PARTS.reduce((most, one) => (lag(one) > lag(most) ? one : most));
    given[part] += group.length;
    parts[part].push(...group);
  }
  if (PARTS.some((part) => parts[part].length < MIN_CASES)) {
    const sizes = PARTS.map((part) => `${part} ${parts[part].length}`).join(', ');
    const advice = `(${sizes}; each part needs ${MIN_CASES}): give more, at least ${LEAST_CASES} with different words`;
    throw new WinnowError('invalid_option', `${cases.length} cases are too few to tune with ${advice}.`);
  }
  return parts;
}

/** Stratum of a case: its set, number of expected tools, and tags. */
export function stratumOf({ suite, expected, tags }: EvaluationCase): string {
  return [suite, Math.min(expected.tools.length, 4), [...tags].sort().join('+')].join(' | ');
}

/** Groups cases with the same words; groups are ordered by stratum, randomly within each. */
function groupsOf(cases: readonly EvaluationCase[], seed: number): EvaluationCase[][] {
  const groups = new Map<string, EvaluationCase[]>();
  for (const one of cases) {
    const words = tokensOf(one.request.message).join(' ') || one.id;
    groups.set(words, [...(groups.get(words) ?? []), one]);
  }
  const keyed = [...groups.values()].map((group) => {
    const [first] = group;
    return { group, stratum: first ? stratumOf(first) : '', chance: randomFor(seed, first?.id ?? '')() };
  });
  keyed.sort((one, other) => {
    if (one.stratum !== other.stratum) return one.stratum < other.stratum ? -1 : 1;
    return one.chance - other.chance;
  });
  return keyed.map(({ group }) => group);
}
