/** The events of a request, in order: each rung, drop, repair and fallback adds one. */
import { messageOf } from './errors.js';
import type { TraceEvent } from './result.js';

export type Trace = ReturnType<typeof createTrace>;

export function createTrace(onEvent?: (event: TraceEvent) => void) {
  const start = performance.now();
  const events: TraceEvent[] = [];
  const milliseconds = () => Math.round((performance.now() - start) * 10) / 10;
  let hasFailed = false;
  // The trace records only the first failure of the listener.
  const onFailure = (error: unknown) => {
    const note = `onEvent failed: ${messageOf(error)}`;
    if (!hasFailed) events.push({ stage: 'listener', milliseconds: milliseconds(), note });
    hasFailed = true;
  };
  return {
    add(stage: string, note: string, facts: Record<string, unknown> = {}): void {
      const event = { stage, milliseconds: milliseconds(), note, ...facts };
      events.push(event);
      callListener(event, onEvent, onFailure);
    },
    events: (): TraceEvent[] => [...events],
    milliseconds,
  };
}

/** Calls a listener, also an async one; its failure goes to `onFailure` and stops nothing. */
export function callListener<Event>(
  event: Event,
  listener: ((event: Event) => unknown) | undefined,
  onFailure: (error: unknown) => void,
): void {
  try {
    const returned = listener?.(event);
    if (returned instanceof Promise) returned.catch(onFailure);
  } catch (error) {
    onFailure(error);
  }
}
