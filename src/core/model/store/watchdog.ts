/** Ends a connection on which no byte has come for a while; fetch has no such limit of its own. */
import { SourceFault } from './source-fault.js';

export interface Watchdog {
  /** Fires with the caller's signal, or with a `timed out` fault as the reason. */
  readonly signal: AbortSignal;
  /** A byte has come. */
  touch(): void;
  /** Must be called once; ends what is still open on the signal. */
  stop(): void;
}

export function createWatchdog(limitInMs: number, parent: AbortSignal | undefined): Watchdog {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new SourceFault('timed out', `no byte for ${limitInMs / 1000} s`));
  }, limitInMs);
  return {
    // `any` keeps no listener on the parent once this signal is gone.
    signal: AbortSignal.any(parent ? [parent, controller.signal] : [controller.signal]),
    touch: () => timer.refresh(),
    stop: () => {
      clearTimeout(timer);
      controller.abort();
    },
  };
}
