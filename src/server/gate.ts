/** Bounds the requests that run or wait at once: a caller is better told at once than after its own time-out. */
import { WinnowError } from '../core/errors.js';

export interface Gate {
  /** @throws WinnowError `overloaded`, else what the work throws. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createGate(limit: number): Gate {
  let running = 0;
  return {
    async run(work) {
      if (running >= limit) throw new WinnowError('overloaded', `${limit} requests are waiting. Come back later.`);
      running += 1;
      try {
        return await work();
      } finally {
        running -= 1;
      }
    },
  };
}
