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

/** Aborts at the first stop signal; a second one ends the process by default. */
export interface StopSignal {
  readonly signal: AbortSignal;
  readonly fired: Promise<void>;
  /** Gives signals their default effect again. */
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

/** How a person ends a long command: the first signal lets it finish, the second ends it, a third kills it. */
export interface Interrupts {
  /** After the first: no new case starts. */
  readonly stop: AbortSignal;
  /** After the second: running cases are abandoned. */
  readonly cancel: AbortSignal;
  release(): void;
}

/** A third signal has its default effect: it ends the process. */
export function catchInterrupts(): Interrupts {
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
