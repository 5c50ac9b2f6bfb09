/** The first signal that asks to stop; a second one ends the process at once, as it does by itself. */
import { onSignal, type SignalName } from './on-signal.js';

export interface StopSignal {
  readonly signal: AbortSignal;
  readonly fired: Promise<void>;
  /** From then on a signal does what it does by itself. */
  forget(): void;
}

export function createStopSignal(names: readonly SignalName[] = ['SIGINT', 'SIGTERM']): StopSignal {
  const controller = new AbortController();
  const forget = onSignal(names, () => {
    forget();
    controller.abort();
  });
  const fired = new Promise<void>((resolve) =>
    controller.signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  return { signal: controller.signal, fired, forget };
}
