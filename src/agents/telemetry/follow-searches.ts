/**
 * What became of each search: was one of its tools used, and which; was it searched again; or was it left. One reading
 * of the events, used by rates, metrics and adaptation alike.
 */
import type { TelemetryEvent } from '../records.js';

export type SearchEvent = TelemetryEvent & { readonly type: 'search' };

export type SearchOutcome =
  /** @property place of the tool among the answers, from 0; -1: it was not there. */
  | { readonly kind: 'used'; readonly tool: string; readonly place: number }
  | { readonly kind: 'again' }
  | { readonly kind: 'left' };

interface FollowOptions {
  /** Told once for each search, when its outcome is known. */
  onOutcome: (search: SearchEvent, outcome: SearchOutcome) => void;
  /** Sessions that are remembered; the one longest without an event counts as left. Default: 10,000. */
  maxSessions?: number | undefined;
}

/** Another search so many turns later is another wish, not the same one again. */
const AGAIN_WITHIN_TURNS = 1;

export function createSearchFollower({ onOutcome, maxSessions = 10_000 }: FollowOptions) {
  const open = new Map<string, SearchEvent>();

  function settle(search: SearchEvent, outcome: SearchOutcome): void {
    open.delete(search.session);
    onOutcome(search, outcome);
  }

  return {
    /** Events of one session must come in their order. */
    observe(event: TelemetryEvent): void {
      const last = open.get(event.session);
      if (event.type === 'search') {
        if (last) settle(last, { kind: event.turn - last.turn <= AGAIN_WITHIN_TURNS ? 'again' : 'left' });
        open.set(event.session, event);
        const oldest = open.values().next();
        if (open.size > maxSessions && !oldest.done) settle(oldest.value, { kind: 'left' });
        return;
      }
      if (!last || !isUse(event, last)) return;
      settle(last, { kind: 'used', tool: event.tool, place: last.names.indexOf(event.tool) });
    },
    /** What is still open counts as left. */
    end(): void {
      for (const search of open.values()) onOutcome(search, { kind: 'left' });
      open.clear();
    },
  };
}

/** What is asked for by name tells most; a call only of what was found, since an always-on tool has no part in it. */
function isUse(event: TelemetryEvent, { names }: SearchEvent): event is TelemetryEvent & { type: 'enable' | 'call' } {
  if (event.type === 'enable') return event.via === 'asked';
  return event.type === 'call' && names.includes(event.tool);
}
