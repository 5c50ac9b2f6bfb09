/** What of a selection stays when planning says that a tool is missing, and how the two rounds become one. */
import type { Dropped, SelectedTool, Selection } from '../result.js';
import { PRIORITY } from './candidates.js';

export interface Kept {
  readonly tools: readonly SelectedTool[];
  readonly dropped: readonly Dropped[];
}

/** What caller, catalogue or rules want, whoever chooses. */
const WANTED: ReadonlySet<SelectedTool['via']> = new Set(['required', 'always', 'rule']);

/** Whether a further round has a place to fill: one that is not wanted already. */
export function hasRoomForMore({ tools }: Selection, maxTools: number): boolean {
  return tools.filter(({ via }) => WANTED.has(via)).length < maxTools;
}

/** Fill goes, and of the rest what is least needed, so that at least one place is free. */
export function keptForMore({ tools }: Selection, maxTools: number): Kept {
  const chosen = tools.filter((tool) => !tool.fill);
  const byPriority = [...chosen].sort((one, other) => priorityOf(one) - priorityOf(other));
  const kept = new Set(byPriority.slice(0, maxTools - 1));
  return {
    tools: tools.filter((tool) => kept.has(tool)),
    dropped: tools.filter((tool) => !kept.has(tool)).map(({ name }) => ({ name, reason: 'cap' })),
  };
}

function priorityOf({ via }: SelectedTool): number {
  if (WANTED.has(via)) return via === 'rule' ? PRIORITY.rule : PRIORITY.wanted;
  return via === 'companion' ? PRIORITY.companion : PRIORITY.chosen;
}

/**
 * The story is that of the first round, where it chose something; the second says what it added, or why it did not. Where
 * either fell back, so did the whole.
 */
export function mergeRounds(first: Selection, kept: Kept, more: Selection): Selection {
  const told = kept.tools.length > 0 ? first : more;
  return {
    ...told,
    mode: [first.mode, more.mode].includes('fallback') ? 'fallback' : told.mode,
    reason: told === more ? more.reason : [first.reason, more.reason].filter(Boolean).join('; then: '),
    tools: [...kept.tools, ...more.tools],
    dropped: [...first.dropped, ...kept.dropped, ...more.dropped],
    leftOut: more.leftOut,
  };
}
