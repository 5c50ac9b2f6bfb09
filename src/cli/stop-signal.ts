/** The first SIGINT or SIGTERM; a second one ends the process at once, as it does by itself. */

export interface StopSignal {
  readonly signal: AbortSignal;
  readonly fired: Promise<void>;
  /** From then on a signal does what it does by itself. */
  forget(): void;
}

export function createStopSignal(): StopSignal {
  const controller = new AbortController();
  const stop = (): void => {
    forget();
    controller.abort();
  };
  const forget = (): void => {
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  const fired = new Promise<void>((resolve) =>
    controller.signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  return { signal: controller.signal, fired, forget };
}
