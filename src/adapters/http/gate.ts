/** Bounds the requests that run or wait at once: a caller is better told at once than after its own time-out. */
import { createUserCounts } from '../../agents/quotas.js';
import { WinnowError } from '../../core/errors.js';

export interface Gate {
  /**
   * @param user who asks; absent: the operator's own program, which may take all
   * @throws WinnowError `overloaded`, `quota_exceeded`, else what the work throws.
   */
  run<T>(user: string | undefined, work: () => Promise<T>): Promise<T>;
  /** The same, and nothing where no place is free. */
  tryRun(user: string | undefined, work: () => Promise<unknown>): Promise<unknown>;
}

/** The part of all that one user may take; at least one. */
const USER_SHARE = 0.25;

export function createGate(limit: number): Gate {
  const ofUser = Math.max(1, Math.floor(limit * USER_SHARE));
  const own = createUserCounts();
  let running = 0;

  function whyFull(user: string | undefined): WinnowError | undefined {
    if (running >= limit) return new WinnowError('overloaded', `${limit} requests are waiting. Come back later.`);
    if (own.of(user) < ofUser) return undefined;
    return new WinnowError('quota_exceeded', `${ofUser} requests of yours are under way. Wait for one of them.`);
  }

  const gate: Gate = {
    async run(user, work) {
      const refusal = whyFull(user);
      if (refusal) throw refusal;
      running += 1;
      own.add(user, 1);
      try {
        return await work();
      } finally {
        running -= 1;
        own.add(user, -1);
      }
    },
    tryRun: async (user, work) => (whyFull(user) ? undefined : gate.run(user, work)),
  };
  return gate;
}
