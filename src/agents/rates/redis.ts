/** Redis as the place where servers share what they count. A server starts and goes on without it. */
import { Redis } from 'ioredis';
import { WinnowError } from '../../core/errors.js';

/** Silence for so long is taken for a lost connection: calls of tools wait for the answer. */
const SILENCE_MS = 500;
const CONNECT_MS = 2_000;
/** The waits between tries to reach it again grow up to this. */
const MAX_WAIT_MS = 2_000;

/**
 * Resolves when it is connected, or known to be away.
 * @param onNotice told once when it is away, with the reason, and once when it is back
 * @throws WinnowError `invalid_option` for what is no address; it is not shown, since it may hold a password
 */
export async function connectRedis(url: string, onNotice: (text: string) => void): Promise<Redis> {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !['redis:', 'rediss:'].includes(parsed.protocol))
    throw new WinnowError('invalid_option', 'redis: write the address of Redis as redis://127.0.0.1:6379.');
  const place = parsed.host || 'localhost';
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    socketTimeout: SILENCE_MS,
    connectTimeout: CONNECT_MS,
    // What it refuses to count (no memory left, only a replica) is as good as away.
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
  return redis;

  /** Told when the connection closes. @returns that it has to */
  function noteReason({ message }: Error): true {
    reason = message;
    return true;
  }
}

/** A script that a Redis does not know yet is sent again, whole. */
function isRefusal({ message }: Error): boolean {
  return !message.startsWith('NOSCRIPT');
}
