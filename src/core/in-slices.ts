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

/** Resolves when it is the user's turn. Between two turns, all else that waits for the event loop goes on. */
export type TakeTurn = (user: string | undefined) => Promise<void>;

/** A queue for work whose checks may take a tenth of a second each: the users get turns by rotation, whatever each has waiting. */
export function createTurnQueue(): TakeTurn {
  /** User -> its waiting requests, in the order of their turns. */
  const waiting = new Map<string | undefined, (() => void)[]>();
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    for (let [next] = waiting; next; [next] = waiting) {
      const [user, own] = next;
      const begin = own.shift();
      waiting.delete(user);
      if (own.length > 0) waiting.set(user, own);
      begin?.();
      await nextTurn();
    }
    isRunning = false;
  }

  return (user) =>
    new Promise((resolve) => {
      const own = waiting.get(user);
      if (own) own.push(resolve);
      else waiting.set(user, [resolve]);
      if (!isRunning) void run();
    });
}
