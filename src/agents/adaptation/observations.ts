/** Evidence: a search, one of its tools enabled or called, and a successful call of that tool. */
import { isFiller, stemOf, wordsOf } from '../../core/search/words.js';
import type { TelemetryEvent } from '../records.js';
import { createSearchFollower, type SearchEvent } from '../telemetry/follow-searches.js';
import { type LearntEntry, round } from './entry.js';

export interface Observation {
  readonly at: string;
  readonly session: string;
  readonly user: string | undefined;
  readonly project: string | undefined;
  readonly query: string;
  /** Stems of the words that carry meaning. */
  readonly terms: readonly string[];
  readonly tool: string;
}

/** A call more turns than this after the search is not attributed to it. */
const MAX_TURNS = 3;
/** Failed searches of the turn that count, too: the words that missed the tool are the most useful to learn. */
const MAX_MISSED = 3;

/** @param onObservation called once for each query that led to a successful call */
export function createObserver(onObservation: (observation: Observation) => void) {
  const missed = new Map<string, SearchEvent[]>();
  const waiting = new Map<string, SearchEvent[]>();
  const follower = createSearchFollower((search, outcome) => {
    const { session, turn } = search;
    const before = (missed.get(session) ?? []).filter((one) => one.turn === turn);
    missed.delete(session);
    if (outcome.kind === 'again') missed.set(session, [...before, search].slice(-MAX_MISSED));
    if (outcome.kind === 'used') waiting.set(`${session}\n${outcome.tool}`, [...before, search]);
  });
  return {
    observe(event: TelemetryEvent): void {
      follower.observe(event);
      if (event.type !== 'call') return;
      const place = `${event.session}\n${event.tool}`;
      const searches = waiting.get(place) ?? [];
      const isLate = searches.some(({ turn }) => event.turn - turn > MAX_TURNS);
      if (!isLate && !event.ok) return;
      waiting.delete(place);
      if (!isLate) for (const search of searches) onObservation(toObservation(search, event.tool));
    },
  };
}

function toObservation({ at, session, user, project, query }: SearchEvent, tool: string): Observation {
  return { at, session, user, project, query, terms: termsOf(query), tool };
}

/** Terms in the form that ranking looks up: by stem. */
function termsOf(query: string): string[] {
  return [...new Set(wordsOf(query).map(stemOf))].filter((term) => !isFiller(term));
}

// Proposes tools as always on that a person uses in most sessions. Each proposal needs approval.

interface ProposeOptions {
  now: Date;
  /** Sessions that the person must have had in the window before anything is proposed. */
  minSessions: number;
  /** Share of these sessions that must have used the tool successfully; between 0 and 1. */
  minShare: number;
}

export function createAlwaysOnProposals(options: ProposeOptions) {
  const sessions = new Map<string, Set<string>>();
  const uses = new Map<string, Map<string, Set<string>>>();
  return {
    observe(event: TelemetryEvent): void {
      const { user, session } = event;
      if (user === undefined) return;
      sessions.set(user, (sessions.get(user) ?? new Set()).add(session));
      if (event.type !== 'call' || !event.ok) return;
      const theirs = uses.get(user) ?? new Map<string, Set<string>>();
      uses.set(user, theirs);
      theirs.set(event.tool, (theirs.get(event.tool) ?? new Set()).add(session));
    },
    proposals(): LearntEntry[] {
      return [...uses].flatMap(([user, theirs]) => {
        const all = sessions.get(user)?.size ?? 0;
        if (all < options.minSessions) return [];
        return [...theirs].flatMap(([tool, used]) => {
          const share = used.size / all;
          return share < options.minShare ? [] : [toProposal(user, tool, { used: used.size, share, now: options.now })];
        });
      });
    },
  };
}

function toProposal(
  user: string,
  tool: string,
  { used, share, now }: { used: number; share: number; now: Date },
): LearntEntry {
  return {
    level: 'person',
    subject: user,
    kind: 'always_on',
    key: tool,
    value: round(share),
    evidence: used,
    state: 'proposed',
    details: { tool, users: 1, share: round(share), queries: [] },
    updatedAt: now.toISOString(),
  };
}
