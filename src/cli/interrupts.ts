/**
 * Signals. A handler stays until all listeners have run: signal-exit, which the local runtime brings, ends the process itself
 * when no other listener is left.
 */

type SignalName = 'SIGINT' | 'SIGTERM';

/** @returns a function that removes the handler; signals then have their default effect */
export function onSignal(names: readonly SignalName[], handle: () => void): () => void {
  let isAnswering = false;
  const answer = () => {
    isAnswering = true;
    handle();
    isAnswering = false;
  };
  const remove = () => {
    for (const name of names) process.off(name, answer);
  };
  for (const name of names) process.on(name, answer);
  return () => {
    if (isAnswering) setImmediate(remove);
    else remove();
  };
}

/** Aborts at the first stop signal; a second one ends the process by default. `forget` gives signals their default effect again. */
export function createStopSignal() {
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

/**
 * How a person ends a long command: after the first signal (`stop`) no new case starts, after the second (`cancel`) running cases
 * are abandoned, a third kills the process.
 */
export function catchInterrupts() {
  const stop = new AbortController();
  const cancel = new AbortController();
  const release = onSignal(['SIGINT', 'SIGTERM'], () => {
    if (!stop.signal.aborted) {
      process.stderr.write('Finishing what is under way; once more to end at once.\n');
      stop.abort();
      return;
    }
    cancel.abort();
    release();
  });
  return { stop: stop.signal, cancel: cancel.signal, release };
}

export type Interrupts = ReturnType<typeof catchInterrupts>;
