/** The connection to Redis, where servers share their counts. A server starts and runs without it. */
import { Redis } from 'ioredis';
import { messageOf, WinnowError } from '../../core/errors.js';
import { redisPlaceOf } from '../../core/secret-forms.js';

/** Timeout for replies; short, since tool calls wait for them. */
const SILENCE_MS = 500;
const CONNECT_MS = 2_000;
/** Upper bound of the growing delay between reconnects. */
const MAX_WAIT_MS = 2_000;

/**
 * Resolves when it is connected, or known to be unreachable.
 * @param onNotice called once when it becomes unreachable, with the reason, and once when it is back
 * @throws WinnowError `invalid_option` for an invalid URL, which the message omits, since it may hold a password; and for
 *   a database that this Redis does not have
 */
export async function connectRedis(url: string, onNotice: (text: string) => void): Promise<Redis> {
  const place = redisPlaceOf(url);
  if (place === undefined)
    throw new WinnowError('invalid_option', 'redis: write the address of Redis as redis://127.0.0.1:6379.');
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    socketTimeout: SILENCE_MS,
    connectTimeout: CONNECT_MS,
    // A Redis that refuses to count (out of memory, read-only replica) counts as unreachable.
    reconnectOnError: (error) => isRefusal(error) && noteReason(error),
    retryStrategy: (tries) => Math.min(100 * 2 ** tries, MAX_WAIT_MS),
  });
  let isAway = false;
  let reason = 'the connection is lost';
  redis.on('error', noteReason);
  redis.on('close', () => {
    if (isAway || redis.status === 'end') return;
    isAway = true;
    const meanwhile = 'until it is back, rates and quotas.modelTokens hold for each server by itself';
    onNotice(`Redis at ${place} is away (${reason}): ${meanwhile}.`);
  });
  redis.on('ready', () => {
    if (isAway) onNotice(`Redis at ${place} is back: rates and quotas.modelTokens are shared again.`);
    isAway = false;
  });
  await new Promise<void>((settle) => {
    for (const event of ['ready', 'close']) redis.once(event, settle);
  });
  // Of a number that Redis does not have, the client alone would only tell, and use database 0.
  const refusal = await redis.select(redis.options.db ?? 0).then(() => '', messageOf);
  if (!NO_DATABASE.test(refusal)) return redis;
  redis.disconnect();
  throw new WinnowError('invalid_option', `redis: Redis at ${place} has no such database (${refusal}).`);

  /** Records the reason for reconnecting. @returns true: reconnect */
  function noteReason({ message }: Error): true {
    reason = message;
    return true;
  }
}

/** What Redis says of a database number above those that it has. */
const NO_DATABASE = /\bDB index\b/u;

/** A script unknown to Redis is no refusal: the client sends it again. A missing database stays missing. */
function isRefusal({ message }: Error): boolean {
  return !message.startsWith('NOSCRIPT') && !NO_DATABASE.test(message);
}
