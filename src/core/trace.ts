/** What happened to a request, in order: every rung, drop, repair and fallback is told, none is silent. */
import { messageOf } from './errors.js';
import type { TraceEvent } from './result.js';

export interface Trace {
  add(stage: string, note: string, facts?: Record<string, unknown>): void;
  events(): TraceEvent[];
  milliseconds(): number;
}

export function createTrace(onEvent?: (event: TraceEvent) => void): Trace {
  const start = performance.now();
  const events: TraceEvent[] = [];
  const milliseconds = () => Math.round((performance.now() - start) * 10) / 10;
  let hasFailed = false;
  // Said once, where the caller finds it: in the trace of the result.
  const onFailure = (error: unknown) => {
    const note = `onEvent failed: ${messageOf(error)}`;
    if (!hasFailed) events.push({ stage: 'listener', milliseconds: milliseconds(), note });
    hasFailed = true;
  };
  return {
    add(stage, note, facts = {}) {
      const event = { stage, milliseconds: milliseconds(), note, ...facts };
      events.push(event);
      tellListener(event, onEvent, onFailure);
    },
    events: () => [...events],
    milliseconds,
  };
}

/** Who only listens can't stop the work. A listener may be an async function, whose failure nobody else would catch. */
export function tellListener<Event>(
  event: Event,
  listener: ((event: Event) => unknown) | undefined,
  onFailure: (error: unknown) => void,
): void {
  try {
    const told = listener?.(event);
    if (told instanceof Promise) told.catch(onFailure);
  } catch (error) {
    onFailure(error);
  }
}
