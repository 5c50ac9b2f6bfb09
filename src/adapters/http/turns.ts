/** Lets requests begin one after the other, so that a burst of them holds up nobody else. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Resolves when it is the user's turn. Between two turns, all else that waits for the event loop goes on. */
export type TakeTurn = (user: string | undefined) => Promise<void>;

/** A queue for work whose checks may take a tenth of a second each: the users get turns by rotation, whatever each has waiting. */
export function createTurns(): TakeTurn {
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
