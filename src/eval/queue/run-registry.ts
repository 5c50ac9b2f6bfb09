/**
 * Registry of runs in Redis: open runs and their workers. A run is open while its
 * command announces it, so the run of a killed command occupies no worker.
 */
import { Redis } from 'ioredis';
import { messageOf, WinnowError } from '../../core/errors.js';
import { redisPlaceOf } from '../../core/secret-forms.js';
import { type QueuedRun, queuedRunSchema, runIdSchema } from './queued-run.js';

/** Prefix of all keys, including jobs. */
export const PREFIX = 'winnow';

/** A run counts as abandoned after this time without an announcement. */
const OPEN_MS = 30_000;
/** Keys of a killed command expire after a week. */
const KEPT_SECONDS = 7 * 24 * 3_600;

export type RunRegistry = ReturnType<typeof createRunRegistry>;

/** Queue for the jobs of a run. */
export const queueNameOf = (id: string) => `eval-${id}`;

const RUNS = `${PREFIX}:eval:runs`;
const keyFor = (id: string, what: 'run' | 'workers') => `${PREFIX}:eval:${id}:${what}`;

export function createRunRegistry(redis: Redis) {
  /** Redis's clock, since those of the machines may differ. */
  const now = async (): Promise<number> => {
    const [seconds, microseconds] = await redis.time();
    return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
  };
  return {
    /** Call it repeatedly while the run goes on. */
    async announce(run: QueuedRun) {
      const { id } = run;
      // Written together, since workers refuse for good a listed run that they can't read.
      const description = JSON.stringify(run);
      const heardAt = await now();
      const both = redis.multi().set(keyFor(id, 'run'), description, 'EX', KEPT_SECONDS).zadd(RUNS, heardAt, id);
      for (const [error] of (await both.exec()) ?? []) if (error) throw error;
      await redis.zremrangebyscore(RUNS, '-inf', (await now()) - KEPT_SECONDS * 1_000);
      await redis.expire(keyFor(id, 'workers'), KEPT_SECONDS);
    },
    /** Oldest first. `run` is undefined where another version of Winnow wrote it. */
    async openRuns(): Promise<{ id: string; run: QueuedRun | undefined }[]> {
      // Ids in Redis are untrusted and could hold control characters.
      const names = await redis.zrangebyscore(RUNS, (await now()) - OPEN_MS, '+inf');
      const ids = names.filter((name) => runIdSchema.safeParse(name).success);
      const texts = ids.length > 0 ? await redis.mget(ids.map((id) => keyFor(id, 'run'))) : [];
      const runs = ids.map((id, place) => ({ id, run: parseRun(texts[place] ?? '') }));
      return runs.sort((one, other) => (one.run?.startedAt ?? '').localeCompare(other.run?.startedAt ?? ''));
    },
    async isOpen(id: string): Promise<boolean> {
      const heard = await redis.zscore(RUNS, id);
      return heard !== null && Number(heard) >= (await now()) - OPEN_MS;
    },
    /** Records that a worker takes part (no refusal), or refuses. */
    async report(id: string, worker: string, refusal = '') {
      await redis.hset(keyFor(id, 'workers'), worker, refusal);
    },
    /** Worker -> why it refuses the run, or nothing. */
    workersOf: (id: string): Promise<Record<string, string>> => redis.hgetall(keyFor(id, 'workers')),
    async remove(id: string) {
      await redis.zrem(RUNS, id);
      await redis.del(keyFor(id, 'run'), keyFor(id, 'workers'));
    },
    /** Deletes what workers wrote after the run's removal. */
    async sweep(id: string) {
      if ((await redis.exists(keyFor(id, 'run'))) > 0) return;
      // BullMQ's check for lost jobs creates these again.
      const ofQueue = ['meta', 'events', 'stalled-check'].map((name) => `${PREFIX}:${queueNameOf(id)}:${name}`);
      await redis.del(keyFor(id, 'workers'), ...ofQueue);
    },
  };
}

function parseRun(text: string): QueuedRun | undefined {
  try {
    return queuedRunSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

interface RedisOptions {
  /** `redis://[user:password@]host:port/database`, or `rediss://` for TLS. */
  url: string;
  /** Called for an eviction policy that loses jobs, a lost connection and its return. */
  onNotice: (text: string) => void;
}

/** Longest wait between attempts to reconnect. */
const MAX_WAIT_MS = 2_000;

/**
 * Fails when the first connection does; waits for Redis when a later connection is lost.
 * @throws WinnowError `invalid_option` for a bad address; `store_failed` when Redis can't be reached or used
 */
export async function connectRedis({ url, onNotice }: RedisOptions): Promise<Redis> {
  const place = redisPlaceOf(url);
  if (place === undefined)
    throw new WinnowError('invalid_option', '--queue: give the address of Redis, such as redis://127.0.0.1:6379.');
  const redis = new Redis(url, {
    lazyConnect: true,
    // BullMQ requires null: a worker waits for Redis without limit.
    maxRetriesPerRequest: null,
    retryStrategy: (tries) => Math.min(100 * 2 ** tries, MAX_WAIT_MS),
  });
  let lastError: unknown;
  redis.on('error', (error) => {
    lastError = error;
  });
  try {
    await redis.connect();
    // Of a number that Redis does not have, the client alone would only tell, and use database 0.
    await redis.select(redis.options.db ?? 0);
    const policy = /^maxmemory_policy:(\S+)/mu.exec(await redis.info())?.[1] ?? 'noeviction';
    const advice = `set its maxmemory-policy to noeviction (it is ${policy}).`;
    if (policy !== 'noeviction') onNotice(`Redis at ${place} may throw jobs away when its memory is full: ${advice}`);
  } catch (error) {
    redis.disconnect();
    const cause = lastError ?? error;
    const message = `--queue: Redis at ${place} can't be used: ${messageOf(cause)}.`;
    throw new WinnowError('store_failed', message, { cause });
  }
  let isLost = false;
  redis.on('close', () => {
    // Not lost, but closed by us.
    if (isLost || redis.status === 'end') return;
    isLost = true;
    onNotice(`The connection to Redis at ${place} is lost; waiting for it.`);
  });
  redis.on('ready', () => {
    if (isLost) onNotice(`Redis at ${place} is back.`);
    isLost = false;
  });
  return redis;
}
