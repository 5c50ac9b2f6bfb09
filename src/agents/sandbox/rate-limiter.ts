/**
 * Token buckets: a bucket holds `calls` tokens and gets them back evenly over `seconds`. A call takes one of every
 * bucket that counts for it, or none at all.
 */
import type { Rate } from './limits.js';

export interface RateClaim {
  /** What is counted, for example `tool search by anna`. */
  readonly key: string;
  readonly rate: Rate;
}

export interface RateLimiter {
  /** Undefined when all buckets had a token; else the emptiest, and how long until it has one. */
  take(claims: readonly RateClaim[]): { key: string; waitMs: number } | undefined;
}

interface Bucket {
  tokens: number;
  /** When `tokens` was right. */
  at: number;
  readonly rate: Rate;
}

/** Above so many buckets the full ones are thrown away: a full bucket is as good as a new one. */
const SWEEP_ABOVE = 10_000;

/** `now` is a clock in milliseconds that never goes back. */
export function createRateLimiter(now: () => number = () => performance.now()): RateLimiter {
  const buckets = new Map<string, Bucket>();

  function bucketFor({ key, rate }: RateClaim, time: number): Bucket {
    const bucket = buckets.get(key) ?? { tokens: rate.calls, at: time, rate };
    bucket.tokens = tokensAt(bucket, time);
    bucket.at = time;
    buckets.set(key, bucket);
    return bucket;
  }

  function sweep(time: number): void {
    for (const [key, bucket] of buckets) if (tokensAt(bucket, time) >= bucket.rate.calls) buckets.delete(key);
  }

  return {
    take(claims) {
      const time = now();
      if (buckets.size > SWEEP_ABOVE) sweep(time);
      const claimed = claims.map((claim) => ({ key: claim.key, bucket: bucketFor(claim, time) }));
      const waits = claimed.map(({ key, bucket }) => ({ key, waitMs: waitOf(bucket) }));
      const longest = waits.filter(({ waitMs }) => waitMs > 0).sort((one, other) => other.waitMs - one.waitMs)[0];
      if (longest) return longest;
      for (const { bucket } of claimed) bucket.tokens -= 1;
      return undefined;
    },
  };
}

function tokensAt({ tokens, at, rate }: Bucket, time: number): number {
  return Math.min(rate.calls, tokens + ((time - at) / 1_000) * (rate.calls / rate.seconds));
}

function waitOf({ tokens, rate }: Bucket): number {
  return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) * rate.seconds * 1_000) / rate.calls);
}
