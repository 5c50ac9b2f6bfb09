/** The reason of a fallback may quote the model server and its address, so the caller gets the code's meaning. */
import { ERROR_TABLE } from '../../core/errors.js';
import type { Selection, TraceEvent } from '../../core/result.js';

export function publicEvent(event: TraceEvent): TraceEvent {
  if (event.stage !== 'fallback') return event;
  const { reason } = event;
  if (typeof reason !== 'string') return { ...event, note: 'selection failed' };
  return { ...event, note: event.note.replace(reason, () => publicReason(reason)), reason: publicReason(reason) };
}

export function publicSelection<T extends Pick<Selection, 'mode' | 'reason'>>(selection: T): T {
  return selection.mode === 'fallback' ? { ...selection, reason: publicReason(selection.reason) } : selection;
}

/** The reason of a fallback begins with a code. */
function publicReason(reason: string): string {
  const found = Object.entries(ERROR_TABLE).find(([code]) => reason.startsWith(`${code}:`));
  return found ? `${found[0]}: ${found[1].meaning}` : 'selection failed';
}
