/** What counts as evidence: a search, a tool of it enabled or called, and a call of that tool that succeeded. */
import { isFiller, stemOf, wordsOf } from '../../core/search/words.js';
import type { TelemetryEvent } from '../records.js';
import { createSearchFollower, type SearchEvent } from '../telemetry/follow-searches.js';

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
