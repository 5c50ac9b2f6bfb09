/** Limits concurrent requests: an immediate refusal serves a caller better than its own time-out. */
import { createUserCounts } from '../../agents/quotas.js';
import { WinnowError } from '../../core/errors.js';

export interface Gate {
  /**
   * @param user the caller; absent: the operator's own program, which may take all places
   * @param places that the work takes. Default: 1.
   * @throws WinnowError `overloaded`, `quota_exceeded`, else what the work throws.
   */
  run<T>(user: string | undefined, work: () => Promise<T>, places?: number): Promise<T>;
  /** The same, but does nothing if no place is free. */
  tryRun(user: string | undefined, work: () => Promise<unknown>): Promise<unknown>;
}

/** One user's share of the places; at least one. */
const USER_SHARE = 0.25;

export function createGate(limit: number): Gate {
  const ofUser = Math.max(1, Math.floor(limit * USER_SHARE));
  const own = createUserCounts();
  let running = 0;

  function whyFull(user: string | undefined, places = 1): WinnowError | undefined {
    if (places > 1 && places > (user === undefined ? limit : ofUser))
      return new WinnowError('quota_exceeded', `${places} requests at once are too many. Send fewer together.`);
    if (running + places > limit)
      return new WinnowError('overloaded', `${limit} requests are waiting. Come back later.`);
    if (own.of(user) + places <= ofUser) return undefined;
    return new WinnowError('quota_exceeded', `${ofUser} requests of yours are under way. Wait for one of them.`);
  }

  const gate: Gate = {
    async run(user, work, places = 1) {
      const refusal = whyFull(user, places);
      if (refusal) throw refusal;
      running += places;
      own.add(user, places);
      try {
        return await work();
      } finally {
        running -= places;
        own.add(user, -places);
      }
    },
    tryRun: async (user, work) => (whyFull(user) ? undefined : gate.run(user, work)),
  };
  return gate;
}
