/** Bounds the requests that run or wait at once: a caller is better told at once than after its own time-out. */
import { WinnowError } from '../../core/errors.js';

export interface Gate {
  /**
   * @param user who asks; absent: the operator's own program, which may take all
   * @throws WinnowError `overloaded`, `quota_exceeded`, else what the work throws.
   */
  run<T>(user: string | undefined, work: () => Promise<T>): Promise<T>;
}

/** The part of all that one user may take; at least one. */
const USER_SHARE = 0.25;

export function createGate(limit: number): Gate {
  const ofUser = Math.max(1, Math.floor(limit * USER_SHARE));
  const own = new Map<string, number>();
  let running = 0;

  function count(user: string | undefined, change: 1 | -1): void {
    running += change;
    if (user === undefined) return;
    const left = (own.get(user) ?? 0) + change;
    if (left === 0) own.delete(user);
    else own.set(user, left);
  }

  return {
    async run(user, work) {
      if (running >= limit) throw new WinnowError('overloaded', `${limit} requests are waiting. Come back later.`);
      if (user !== undefined && (own.get(user) ?? 0) >= ofUser)
        throw new WinnowError('quota_exceeded', `${ofUser} requests of yours are under way. Wait for one of them.`);
      count(user, 1);
      try {
        return await work();
      } finally {
        count(user, -1);
      }
    },
  };
}
