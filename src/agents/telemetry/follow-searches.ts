/**
 * The outcome of each search: one of its tools was used, another search followed, or it was abandoned. Rates, metrics
 * and adaptation share this reading of the events.
 */
import type { TelemetryEvent } from '../records.js';

export type SearchEvent = TelemetryEvent & { readonly type: 'search' };

export type SearchOutcome =
  /** @property place of the tool among the matches, from 0; -1: not among them */
  | { readonly kind: 'used'; readonly tool: string; readonly place: number }
  | { readonly kind: 'again' }
  | { readonly kind: 'left' };

/** Sessions that are followed at a time; of more, the least recently active one counts as abandoned. */
export const MAX_FOLLOWED = 10_000;

/** A search more turns later is a new request, not a repetition. */
const AGAIN_WITHIN_TURNS = 1;

/** @param onOutcome called once for each search, when its outcome is known */
export function createSearchFollower(onOutcome: (search: SearchEvent, outcome: SearchOutcome) => void) {
  const open = new Map<string, SearchEvent>();

  function settle(search: SearchEvent, outcome: SearchOutcome): void {
    open.delete(search.session);
    onOutcome(search, outcome);
  }

  return {
    /** Events of one session must arrive in order. */
    observe(event: TelemetryEvent): void {
      const last = open.get(event.session);
      if (event.type === 'search') {
        if (last) settle(last, { kind: event.turn - last.turn <= AGAIN_WITHIN_TURNS ? 'again' : 'left' });
        open.set(event.session, event);
        const oldest = open.values().next();
        if (open.size > MAX_FOLLOWED && !oldest.done) settle(oldest.value, { kind: 'left' });
        return;
      }
      if (!last || !isUse(event, last)) return;
      settle(last, { kind: 'used', tool: event.tool, place: last.names.indexOf(event.tool) });
    },
    /** Searches that are still open count as abandoned. */
    end(): void {
      for (const search of open.values()) onOutcome(search, { kind: 'left' });
      open.clear();
    },
  };
}

/** Enabling by name counts; a call counts only for a found tool, since always-on tools need no search. */
function isUse(event: TelemetryEvent, { names }: SearchEvent): event is TelemetryEvent & { type: 'enable' | 'call' } {
  if (event.type === 'enable') return event.via === 'asked';
  return event.type === 'call' && names.includes(event.tool);
}
