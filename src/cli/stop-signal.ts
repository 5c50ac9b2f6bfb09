/** The first SIGINT or SIGTERM; a second one ends the process at once, as it does by itself. */
import { onSignal } from './on-signal.js';

export interface StopSignal {
  readonly signal: AbortSignal;
  readonly fired: Promise<void>;
  /** From then on a signal does what it does by itself. */
  forget(): void;
}

export function createStopSignal(): StopSignal {
  const controller = new AbortController();
  const forget = onSignal(['SIGINT', 'SIGTERM'], () => {
    forget();
    controller.abort();
  });
  const fired = new Promise<void>((resolve) =>
    controller.signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  return { signal: controller.signal, fired, forget };
}
