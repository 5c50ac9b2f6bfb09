/**
 * What was learnt, as ranking uses it: for one caller the entries of the person, the project and all together. Its effect
 * is bounded, so that a habit can decide between tools that match and never put one there that does not.
 */
import type { Learnt } from '../../core/search/rank.js';
import { type DecayOptions, decay, type LearntEntry, type Level } from './entry.js';

/** Most that a level adds to the factor on a score: what is nearest to the person counts most. */
const MOST_BOOST: Readonly<Record<Level, number>> = { person: 0.3, project: 0.15, all: 0.1 };
/** How much a word that was learnt counts on a level, against one that stands in the tool's own text. */
const WORD_TRUST: Readonly<Record<Level, number>> = { person: 1, project: 0.9, all: 0.8 };
/** Uses of today that bring half of the most. */
const HALF_OF_MOST = 4;

/** @param entries those that hold for the caller; only active ones have an effect. */
export function createLearntRanking(entries: readonly LearntEntry[], decaying: DecayOptions): Learnt {
  const boosts = new Map<string, number>();
  const words = new Map<string, Map<string, number>>();
  for (const { level, kind, state, value, details, updatedAt } of entries) {
    if (state !== 'active') continue;
    // What somebody approved holds until it is reverted.
    const now = details.decidedBy === undefined ? value * decay(updatedAt, decaying) : value;
    const sureness = now / (now + HALF_OF_MOST);
    if (kind === 'weight') boosts.set(details.tool, (boosts.get(details.tool) ?? 1) + MOST_BOOST[level] * sureness);
    if (kind === 'synonym' && details.term !== undefined) {
      const tools = words.get(details.term) ?? new Map<string, number>();
      words.set(details.term, tools);
      const weight = WORD_TRUST[level] * sureness * (details.share ?? 1);
      tools.set(details.tool, Math.max(tools.get(details.tool) ?? 0, weight));
    }
  }
  return { boost: (name) => boosts.get(name) ?? 1, toolsOf: (term) => words.get(term) ?? NONE };
}

const NONE: ReadonlyMap<string, number> = new Map();
