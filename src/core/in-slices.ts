/** Cooperative scheduling: long work yields to the event loop after each slice, so that other requests go on. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Much less than the time in which a search must answer. */
const SLICE_MS = 4;

/** @throws what the work throws, or the reason of the signal once it has fired. */
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

/** Runs all steps without yielding: for little work. */
export function runWhole<T>(work: Generator<void, T, void>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value;
}
