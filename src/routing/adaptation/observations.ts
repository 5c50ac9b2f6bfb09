/** What counts as evidence: a search, a tool of it enabled or called, and a call of that tool that succeeded. */
import { parseQuery } from '../../search/query.js';
import { createSynonymTable } from '../../search/synonyms.js';
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

const NO_SYNONYMS = createSynonymTable([]);
/** A call so many turns after the search has another reason. */
const MAX_TURNS = 3;

export function createObserver(onObservation: (observation: Observation) => void) {
  const waiting = new Map<string, SearchEvent>();
  const follower = createSearchFollower({
    onOutcome(search, outcome) {
      if (outcome.kind === 'used') waiting.set(`${search.session}\n${outcome.tool}`, search);
    },
  });
  return {
    observe(event: TelemetryEvent): void {
      follower.observe(event);
      if (event.type !== 'call') return;
      const place = `${event.session}\n${event.tool}`;
      const search = waiting.get(place);
      if (!search) return;
      if (event.turn - search.turn > MAX_TURNS) waiting.delete(place);
      else if (event.ok) {
        waiting.delete(place);
        onObservation(toObservation(search, event.tool));
      }
    },
  };
}

function toObservation({ at, session, user, project, query }: SearchEvent, tool: string): Observation {
  return { at, session, user, project, query, terms: termsOf(query), tool };
}

/** As ranking will meet them: a word of a query is looked up by its stem. */
export function termsOf(query: string): string[] {
  const units = parseQuery(query, { synonyms: NO_SYNONYMS, isKeyPhrase: () => false });
  return [...new Set(units.filter(({ importance }) => importance >= 1).flatMap(({ own }) => own))];
}
