/** Long work on one thread without a pause for others: it is left after each slice, and goes on when they have had a turn. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** In milliseconds; much less than the time in which a search must answer. */
const SLICE_MS = 4;

/** @throws what the work throws, and the reason of the signal once that has fired. */
export async function runInSlices<T>(work: Generator<void, T, void>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    signal?.throwIfAborted();
    const end = performance.now() + SLICE_MS;
    do {
      const step = work.next();
      if (step.done) return step.value;
    } while (performance.now() < end);
    await nextTurn();
  }
}

/** All steps at once: for little work. */
export function runWhole<T>(work: Generator<void, T, void>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value;
}
