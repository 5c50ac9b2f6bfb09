/**
 * What may be taken in a period: calls of tools, tokens of models. A period begins with the first that is taken; in memory it is
 * of this process, with `redis` of all servers that share it. While Redis is away each server counts for itself.
 */
import {
  type IRateLimiterOptions,
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
} from 'rate-limiter-flexible';
import { loadOptional } from '../../core/optional-package.js';

export interface RateClaim {
  /** What is counted, for example `tool search by anna`. */
  readonly key: string;
  readonly rate: {
    /** Most in a period. */
    readonly points: number;
    /** Length of the period; whole seconds. */
    readonly seconds: number;
  };
}

export interface RateLimiter {
  /** Takes one of each claim, or none at all: then the claim that has nothing left, and how long until it has. */
  take(claims: readonly RateClaim[]): Promise<{ key: string; waitMs: number } | undefined>;
  /** How long until something is left, in milliseconds; 0 where something is. */
  waitOf(claim: RateClaim): Promise<number>;
  /** Counts what is known only afterwards, also beyond what was left. */
  spend(claim: RateClaim, points: number): Promise<void>;
}

/** All keys in Redis begin with it. */
const PREFIX = 'winnow:rate';

export interface OpenRates {
  readonly rates: RateLimiter;
  close(): void;
}

/**
 * @param url of a Redis that servers share. Undefined: memory of this process
 * @param onNotice told when Redis is away, and when it is back
 * @throws WinnowError `invalid_option` for what is no address, and where the package is missing
 * @example
 * const { rates, close } = await openRates('redis://127.0.0.1:6379', console.warn);
 */
export async function openRates(url: string | undefined, onNotice: (text: string) => void): Promise<OpenRates> {
  if (url === undefined) return { rates: createRateLimiter(), close: () => {} };
  const packages = { packages: ['ioredis'], neededBy: 'The key redis (WINNOW_REDIS)' };
  const { connectRedis } = await loadOptional(() => import('./redis.js'), packages);
  const redis = await connectRedis(url, onNotice);
  return { rates: createRateLimiter(redis), close: () => redis.disconnect() };
}

/** @param redis a client of ioredis, where servers share what they count. Default: memory of this process */
export function createRateLimiter(redis?: object): RateLimiter {
  const limiters = new Map<string, RateLimiterAbstract>();

  function limiterOf({ rate: { points, seconds } }: RateClaim): RateLimiterAbstract {
    const name = `${points}/${seconds}`;
    const options: IRateLimiterOptions = { points, duration: seconds, keyPrefix: `${PREFIX}:${name}` };
    const limiter = limiters.get(name) ?? createLimiter(options);
    limiters.set(name, limiter);
    return limiter;
  }

  function createLimiter(options: IRateLimiterOptions): RateLimiterAbstract {
    const local = new RateLimiterMemory(options);
    if (!redis) return local;
    return new RateLimiterRedis({
      ...options,
      storeClient: redis,
      rejectIfRedisNotReady: true,
      insuranceLimiter: local,
    });
  }

  /** @returns how long to wait where nothing was left */
  async function takeOne(claim: RateClaim): Promise<number | undefined> {
    try {
      await limiterOf(claim).consume(claim.key);
      return undefined;
    } catch (refused) {
      if (refused instanceof RateLimiterRes) return refused.msBeforeNext;
      throw refused;
    }
  }

  return {
    async take(claims) {
      for (const [place, claim] of claims.entries()) {
        const waitMs = await takeOne(claim);
        if (waitMs === undefined) continue;
        await Promise.all(claims.slice(0, place).map((taken) => limiterOf(taken).reward(taken.key)));
        return { key: claim.key, waitMs };
      }
      return undefined;
    },
    async waitOf(claim) {
      const taken = await limiterOf(claim).get(claim.key);
      return taken && taken.consumedPoints >= claim.rate.points ? Math.max(0, taken.msBeforeNext) : 0;
    },
    async spend(claim, points) {
      if (points > 0) await limiterOf(claim).penalty(claim.key, Math.ceil(points));
    },
  };
}
