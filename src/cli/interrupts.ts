/**
 * Signals. A handler stays until the signal has reached everybody: libraries that clean up at the end of the process
 * (signal-exit does, and the local runtime brings it) end it themselves when they find nobody else who listens.
 */

type SignalName = 'SIGINT' | 'SIGTERM';

/** @returns what takes the handler away; from then on a signal does what it does by itself */
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

/** The first signal that asks to stop; a second one ends the process at once, as it does by itself. */
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

/** How a person ends a long command: the first signal lets it finish, the second ends it, a third kills it. */
export interface Interrupts {
  /** After the first: no new case is begun. */
  readonly stop: AbortSignal;
  /** After the second: those under way are given up. */
  readonly cancel: AbortSignal;
  release(): void;
}

/** A third signal does what it does without us: it ends the process. */
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
