/** The connection to Redis: refused at the start, it is an error; lost later, it is waited for, and told once. */
import { Redis } from 'ioredis';
import { messageOf, WinnowError } from '../../core/errors.js';

export interface RedisOptions {
  /** `redis://[user:password@]host:port/database`, or `rediss://` for TLS. */
  url: string;
  /** Told of what people should know: a policy that loses jobs, a lost connection, and that it is back. */
  onNotice: (text: string) => void;
}

/** The waits between tries to reach Redis again grow up to this. */
const MAX_WAIT_MS = 2_000;

/** @throws WinnowError `invalid_option` for a bad address; `store_failed` when Redis can't be reached or used */
export async function connectRedis({ url, onNotice }: RedisOptions): Promise<Redis> {
  const place = placeOf(url);
  const redis = new Redis(url, {
    lazyConnect: true,
    // A worker waits for Redis however long it takes; the library asks for this.
    maxRetriesPerRequest: null,
    retryStrategy: (tries) => Math.min(100 * 2 ** tries, MAX_WAIT_MS),
  });
  let lastError: unknown;
  redis.on('error', (error) => {
    lastError = error;
  });
  try {
    await redis.connect();
    for (const warning of warningsOf(await redis.info(), place)) onNotice(warning);
  } catch (error) {
    redis.disconnect();
    const cause = lastError ?? error;
    const why = messageOf(cause);
    throw new WinnowError('store_failed', `--queue: Redis at ${place} can't be used: ${why}.`, { cause });
  }
  tellOutages(redis, place, onNotice);
  return redis;
}

/** Host and port: an address may hold a password. */
function placeOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed && ['redis:', 'rediss:'].includes(parsed.protocol)) return parsed.host || 'localhost';
  throw new WinnowError('invalid_option', '--queue: give the address of Redis, such as redis://127.0.0.1:6379.');
}

function warningsOf(info: string, place: string): string[] {
  const policy = /^maxmemory_policy:(\S+)/mu.exec(info)?.[1];
  if (policy === undefined || policy === 'noeviction') return [];
  return [
    `Redis at ${place} may throw jobs away when its memory is full: set its maxmemory-policy to noeviction (it is ${policy}).`,
  ];
}

function tellOutages(redis: Redis, place: string, onNotice: (text: string) => void): void {
  let isLost = false;
  redis.on('close', () => {
    // At the end of our own making there is nothing to wait for.
    if (isLost || redis.status === 'end') return;
    isLost = true;
    onNotice(`The connection to Redis at ${place} is lost; waiting for it.`);
  });
  redis.on('ready', () => {
    if (isLost) onNotice(`Redis at ${place} is back.`);
    isLost = false;
  });
}
