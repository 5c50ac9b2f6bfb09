/**
 * Observations -> learnt entries, on each level. A pure function of the events in a window, so each entry can be
 * explained, and learning is idempotent.
 */

import type { Learnt } from '../../core/search/rank.js';
import { type DecayOptions, decay, LEVELS, type LearntEntry, type Level, round } from './entry.js';
import type { Observation } from './observations.js';

interface LearnOptions extends DecayOptions {
  /** Uses of one person before something is learnt for them. */
  minUses: number;
  /** Different users before something is proposed for a project or for all. */
  minUsers: number;
  /** Share of the uses after a word that a tool needs, before the word stands for it. */
  minShare: number;
}

interface Use {
  value: number;
  evidence: number;
  users: Set<string>;
  queries: Set<string>;
}

/** One user's uses count at most this often in an entry for others, so that one heavy user can't stand for many. */
const MAX_USES_OF_ONE = 3;
const MAX_QUERIES = 3;
const ARROW = ' → ';

export function learn(observations: readonly Observation[], options: LearnOptions): LearntEntry[] {
  return LEVELS.flatMap((level) => {
    const bySubject = new Map<string, Observation[]>();
    for (const one of observations) {
      const subject = subjectOf(one, level);
      if (subject !== undefined) bySubject.set(subject, [...(bySubject.get(subject) ?? []), one]);
    }
    return [...bySubject].flatMap(([subject, theirs]) => [
      ...learnWeights(theirs, { level, subject }, options),
      ...learnSynonyms(theirs, { level, subject }, options),
    ]);
  });
}

interface Place {
  level: Level;
  subject: string;
}

function learnWeights(observations: readonly Observation[], place: Place, options: LearnOptions): LearntEntry[] {
  const uses = countUses(observations, place.level, { options, keysOf: ({ tool }) => [tool] });
  return [...uses].flatMap(([tool, use]) =>
    isEnough(use, place.level, options)
      ? [toEntry({ ...place, kind: 'weight', key: tool }, use, { tool, options })]
      : [],
  );
}

/** A word becomes a synonym of a tool when queries with it mostly led to that tool. */
function learnSynonyms(observations: readonly Observation[], place: Place, options: LearnOptions): LearntEntry[] {
  const keysOf = ({ terms, tool }: Observation) => terms.map((term) => `${term}${ARROW}${tool}`);
  const uses = countUses(observations, place.level, { options, keysOf });
  const totals = countUses(observations, place.level, { options, keysOf: ({ terms }) => terms });
  return [...uses].flatMap(([key, use]) => {
    const [term = '', tool = ''] = splitKey(key);
    const share = use.value / (totals.get(term)?.value ?? use.value);
    if (!isEnough(use, place.level, options) || share < options.minShare) return [];
    return [toEntry({ ...place, kind: 'synonym', key }, use, { tool, term, share: Math.min(1, share), options })];
  });
}

function splitKey(key: string): [string, string] {
  const at = key.indexOf(ARROW);
  return [key.slice(0, at), key.slice(at + ARROW.length)];
}

function subjectOf({ user, project }: Observation, level: Level): string | undefined {
  if (level === 'all') return '';
  return level === 'person' ? user : project;
}

interface Counting {
  options: LearnOptions;
  keysOf: (observation: Observation) => readonly string[];
}

function countUses(
  observations: readonly Observation[],
  level: Level,
  { options, keysOf }: Counting,
): Map<string, Use> {
  const uses = new Map<string, Use>();
  const byUser = new Map<string, number>();
  for (const one of observations) {
    for (const key of keysOf(one)) {
      const user = one.user ?? '';
      const already = byUser.get(JSON.stringify([user, key])) ?? 0;
      byUser.set(JSON.stringify([user, key]), already + 1);
      if (level !== 'person' && already >= MAX_USES_OF_ONE) continue;
      const use = uses.get(key) ?? { value: 0, evidence: 0, users: new Set(), queries: new Set() };
      uses.set(key, use);
      use.value += decay(one.at, options);
      use.evidence += 1;
      use.users.add(user);
      if (use.queries.size < MAX_QUERIES) use.queries.add(one.query);
    }
  }
  return uses;
}

function isEnough(use: Use, level: Level, { minUses, minUsers }: LearnOptions): boolean {
  return level === 'person' ? use.evidence >= minUses : use.users.size >= minUsers;
}

/** Queries are private: only a person's own entries hold them. */
function toEntry(
  name: Place & { kind: 'weight' | 'synonym'; key: string },
  { value, evidence, users, queries }: Use,
  about: { tool: string; term?: string; share?: number; options: LearnOptions },
): LearntEntry {
  const { tool, term, share, options } = about;
  return {
    ...name,
    value: round(value),
    evidence,
    state: name.level === 'person' ? 'active' : 'proposed',
    details: {
      tool,
      ...(term === undefined ? {} : { term }),
      ...(share === undefined ? {} : { share: round(share) }),
      users: users.size,
      queries: name.level === 'person' ? [...queries] : [],
    },
    updatedAt: options.now.toISOString(),
  };
}

// Learnt entries as ranking uses them: those of the person, the project and all users together. The effect is bounded:
// it can reorder tools that match, but never adds one that does not.

/** The most that each level adds to the factor on a score; levels closer to the person count more. */
const MOST_BOOST: Readonly<Record<Level, number>> = { person: 0.3, project: 0.15, all: 0.1 };
/** Weight of a learnt word on each level, relative to a word in the tool's own text. */
const WORD_TRUST: Readonly<Record<Level, number>> = { person: 1, project: 0.9, all: 0.8 };
/** Number of uses today that give half of the maximum. */
const HALF_OF_MOST = 4;

/** @param entries those that apply to the caller; only active ones have an effect */
export function createLearntRanking(entries: readonly LearntEntry[], decaying: DecayOptions): Learnt {
  const boosts = new Map<string, number>();
  const words = new Map<string, Map<string, number>>();
  for (const { level, kind, state, value, details, updatedAt } of entries) {
    if (state !== 'active') continue;
    // Approved entries don't decay; they hold until reverted.
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
