/**
 * Worked examples from cases that fail: one alone, then sets of two, four and more, drawn by chance, of which those stay
 * that repair others (bootstrapped few-shot with random search: Khattab et al., "DSPy", 2023).
 */
import type { EvaluationCase } from '../case.js';
import { randomFor } from '../random.js';
import { type Admitter, type Candidate, toCandidate, type Variant } from './variant.js';
import type { ExampleOf } from './worked-example.js';

export interface ExampleCandidateParts extends Admitter {
  best: Variant;
  /** Training cases that the best prompt so far gets wrong. */
  failing: readonly EvaluationCase[];
  exampleOf: ExampleOf;
  /** How many candidates. */
  count: number;
  seed: number;
}

const SET_SIZES = [1, 2, 4, 1, 3, 6] as const;

export function exampleCandidates(parts: ExampleCandidateParts): Candidate[] {
  const { best, failing, exampleOf, count, seed } = parts;
  const usable = failing.flatMap((one) => {
    const text = best.caseIds.includes(one.id) ? undefined : exampleOf(one);
    return text === undefined ? [] : [{ one, text }];
  });
  const chance = new Map(usable.map(({ one }) => [one.id, randomFor(seed, one.id)()]));
  const order = usable.sort((first, second) => (chance.get(first.one.id) ?? 0) - (chance.get(second.one.id) ?? 0));
  const seen = new Set<string>();
  const candidates: Candidate[] = [];
  for (let turn = 0; turn < Math.min(count, order.length); turn++) {
    const chosen = diverseFrom(
      [...order.slice(turn), ...order.slice(0, turn)],
      SET_SIZES[turn % SET_SIZES.length] ?? 1,
    );
    const candidate = fitting(chosen, parts);
    const key = candidate.ok ? candidate.variant.hash : candidate.about;
    if (!seen.has(key)) candidates.push(candidate);
    seen.add(key);
  }
  return candidates;
}

interface Usable {
  one: EvaluationCase;
  text: string;
}

/** Each of other tools than those before it, where there are such. */
function diverseFrom(usable: readonly Usable[], count: number): Usable[] {
  const keyOf = ({ one }: Usable) => [...one.expected.tools].sort().join(' ');
  const first = usable.filter((entry, place) => usable.findIndex((other) => keyOf(other) === keyOf(entry)) === place);
  return [...first, ...usable.filter((entry) => !first.includes(entry))].slice(0, count);
}

/** A set that grows the prompt too much is tried without its last ones. */
function fitting(chosen: readonly Usable[], parts: ExampleCandidateParts): Candidate {
  const { best } = parts;
  const candidate = toCandidate(
    {
      kind: 'examples',
      about: `examples: ${chosen.map(({ one }) => one.id).join(', ')}`,
      draft: { ...best.draft, examples: [...best.draft.examples, ...chosen.map(({ text }) => text)] },
      options: best.options,
      caseIds: [...best.caseIds, ...chosen.map(({ one }) => one.id)],
    },
    parts,
  );
  return candidate.ok || chosen.length <= 1 ? candidate : fitting(chosen.slice(0, -1), parts);
}
