/** What counts as evidence: a search, a tool of it enabled or called, and a call of that tool that succeeded. */
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
  /** Stems of the words that say something. */
  readonly terms: readonly string[];
  readonly tool: string;
}

/** A call so many turns after the search has another reason. */
const MAX_TURNS = 3;
/** Searches in one turn before the one that led to the tool: their words missed it, and are worth most to learn. */
const MAX_MISSED = 3;

/** @param onObservation told once for each query that led to a call which succeeded. */
export function createObserver(onObservation: (observation: Observation) => void) {
  const missed = new Map<string, SearchEvent[]>();
  const waiting = new Map<string, SearchEvent[]>();
  const follower = createSearchFollower({
    onOutcome(search, outcome) {
      const { session, turn } = search;
      const before = (missed.get(session) ?? []).filter((one) => one.turn === turn);
      missed.delete(session);
      if (outcome.kind === 'again') missed.set(session, [...before, search].slice(-MAX_MISSED));
      if (outcome.kind === 'used') waiting.set(`${session}\n${outcome.tool}`, [...before, search]);
    },
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

/** As ranking will meet them: a word of a query is looked up by its stem. */
function termsOf(query: string): string[] {
  return [...new Set(wordsOf(query).map(stemOf))].filter((term) => !isFiller(term));
}

// Tools that a person uses in most sessions are proposed as always on. Nothing is switched on by itself.

interface ProposeOptions {
  now: Date;
  /** Sessions of the person in the stretch of time, before anything is proposed. */
  minSessions: number;
  /** Of these sessions, how many must have used the tool with success; between 0 and 1. */
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
