/** How new enablements meet those that are there: they add and prolong, never shorten, up to the limit. */
import type { EnablementRecord, Enabling } from './store.js';

export interface MergedEnablements {
  /** New or prolonged, to be written. */
  readonly changed: EnablementRecord[];
  readonly overLimit: string[];
}

export function mergeEnablements(
  present: readonly EnablementRecord[],
  added: Enabling['enablements'],
  { limit, turn }: { limit: number; turn: number },
): MergedEnablements {
  const isLive = (one: EnablementRecord) => one.untilTurn >= turn && (!one.once || one.calls === 0);
  const live = new Map(present.filter(isLive).map((one) => [one.tool, one]));
  const changed: EnablementRecord[] = [];
  const overLimit: string[] = [];
  for (const one of added) {
    const before = live.get(one.tool);
    if (!before && live.size >= limit) {
      overLimit.push(one.tool);
      continue;
    }
    const now = before ? prolong(before, one) : { ...one, calls: 0 };
    live.set(one.tool, now);
    changed.push(now);
  }
  return { changed, overLimit };
}

function prolong(before: EnablementRecord, { tool, via, untilTurn, once }: Enabling['enablements'][number]) {
  return {
    tool,
    // What was asked for by name is no companion any more.
    via: via === 'asked' ? via : before.via,
    untilTurn: Math.max(before.untilTurn, untilTurn),
    once: before.once && once,
    calls: before.calls,
  };
}
