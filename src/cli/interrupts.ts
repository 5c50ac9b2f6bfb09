/** The ways in which a person ends a command: the first signal lets it finish, the second ends it, a third kills it. */
import { onSignal } from './on-signal.js';

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
