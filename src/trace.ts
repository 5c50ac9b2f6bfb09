/** What happened to a request, in order: every rung, drop, repair and fallback is told, none is silent. */
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
  return {
    add(stage, note, facts = {}) {
      const event = { stage, milliseconds: milliseconds(), note, ...facts };
      events.push(event);
      onEvent?.(event);
    },
    events: () => [...events],
    milliseconds,
  };
}
