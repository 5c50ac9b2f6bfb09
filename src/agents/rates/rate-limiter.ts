/**
 * Rate limits: tool calls and model tokens per period. A period begins with its first use. Counts are kept in this
 * process or, with `redis`, shared by servers. While Redis is unreachable, each server counts for itself.
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
    /** Limit per period. */
    readonly points: number;
    /** Length of the period; whole seconds. */
    readonly seconds: number;
  };
}

export interface RateLimiter {
  /** Takes one of every claim, or none; then returns an exhausted claim and the milliseconds until it is free. */
  take(claims: readonly RateClaim[]): Promise<{ key: string; waitMs: number } | undefined>;
  /** Milliseconds until something is available; 0 where something is. */
  waitOf(claim: RateClaim): Promise<number>;
  /** Counts use that is known only afterwards, even beyond the limit. */
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
 * @param onNotice called when Redis becomes unreachable, and when it is back
 * @throws WinnowError `invalid_option` for an invalid URL, and where the package is missing
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

/** @param redis a client of ioredis, for counts that servers share. Default: memory of this process */
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
