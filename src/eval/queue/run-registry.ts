/**
 * Which runs are open, who does them with which model, and the stable parts of their prompts. A run is open while the
 * command that started it is heard of, so what a killed one leaves occupies no worker.
 */
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { type QueuedRun, queuedRunSchema } from './queued-run.js';

/** All keys begin with it, those of the jobs too. */
export const PREFIX = 'winnow';

/** So long without a word of its command, a run counts as left. */
const OPEN_MS = 30_000;
/** What a killed command leaves goes away by itself after a week. */
const KEPT_SECONDS = 7 * 24 * 3_600;

export interface OpenRun {
  id: string;
  /** Undefined: of a form that this version of Winnow can't read. */
  run: QueuedRun | undefined;
}

/** A model, and the worker that came with it. */
const claimSchema = z.object({ model: z.string(), worker: z.string() });
export type ModelClaim = z.infer<typeof claimSchema>;

export interface RunRegistry {
  /** Called again and again while the run goes on. */
  announce(run: QueuedRun): Promise<void>;
  /** The oldest first. */
  openRuns(): Promise<OpenRun[]>;
  isOpen(id: string): Promise<boolean>;
  /** A worker takes part (no reason), or refuses. */
  tell(id: string, worker: string, refusal?: string): Promise<void>;
  /** Worker -> why it refuses the run, or nothing. */
  workersOf(id: string): Promise<Record<string, string>>;
  /**
   * For a run that has no id of a model: the one of the first worker is the run's, and it is told to all that come after.
   * @returns the first claim, which may be this one
   */
  claim(id: string, claim: ModelClaim): Promise<ModelClaim>;
  /** One for each model, in the order in which they came: the model of the first is the run's. */
  claims(id: string): Promise<ModelClaim[]>;
  /** The stable part of a prompt is sent once a worker, and kept once. */
  offerPrompt(id: string, hash: string, text: string): Promise<void>;
  /** Undefined where it is not there, or was taken before. */
  takePrompt(id: string, hash: string, keep: (text: string) => void): Promise<void>;
  remove(id: string): Promise<void>;
  /** Takes away what the workers of a run that was removed have written after it. */
  sweep(id: string): Promise<void>;
}

/** Of the jobs of a run. */
export const queueNameOf = (id: string) => `eval-${id}`;

const RUNS = `${PREFIX}:eval:runs`;
const descriptionKey = (id: string) => `${PREFIX}:eval:${id}:run`;
const workersKey = (id: string) => `${PREFIX}:eval:${id}:workers`;
const promptsKey = (id: string) => `${PREFIX}:eval:${id}:prompts`;
const claimsKey = (id: string) => `${PREFIX}:eval:${id}:claims`;
const keysOfWorkers = (id: string) => [workersKey(id), promptsKey(id), claimsKey(id)];

export function createRunRegistry(redis: Redis): RunRegistry {
  /** By the clock of Redis: those of the machines may differ. */
  const now = async (): Promise<number> => {
    const [seconds, microseconds] = await redis.time();
    return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
  };
  const claimsOf = async (id: string): Promise<ModelClaim[]> => {
    const all = (await redis.lrange(claimsKey(id), 0, -1)).map((text) => claimSchema.parse(JSON.parse(text)));
    return all.filter(({ model }, place) => all.findIndex((other) => other.model === model) === place);
  };
  return {
    async announce(run) {
      const { id } = run;
      await redis.set(descriptionKey(id), JSON.stringify(run), 'EX', KEPT_SECONDS);
      await redis.zadd(RUNS, await now(), id);
      await redis.zremrangebyscore(RUNS, '-inf', (await now()) - KEPT_SECONDS * 1_000);
      for (const key of keysOfWorkers(id)) await redis.expire(key, KEPT_SECONDS);
    },
    async openRuns() {
      const ids = await redis.zrangebyscore(RUNS, (await now()) - OPEN_MS, '+inf');
      const texts = ids.length > 0 ? await redis.mget(ids.map(descriptionKey)) : [];
      const runs = ids.map((id, place): OpenRun => ({ id, run: parseRun(texts[place] ?? '') }));
      return runs.sort((one, other) => (one.run?.startedAt ?? '').localeCompare(other.run?.startedAt ?? ''));
    },
    async isOpen(id) {
      const heard = await redis.zscore(RUNS, id);
      return heard !== null && Number(heard) >= (await now()) - OPEN_MS;
    },
    async tell(id, worker, refusal = '') {
      await redis.hset(workersKey(id), worker, refusal);
    },
    workersOf: (id) => redis.hgetall(workersKey(id)),
    async claim(id, claim) {
      await redis.rpush(claimsKey(id), JSON.stringify(claim));
      return (await claimsOf(id))[0] ?? claim;
    },
    claims: claimsOf,
    async offerPrompt(id, hash, text) {
      await redis.hsetnx(promptsKey(id), hash, text);
    },
    async takePrompt(id, hash, keep) {
      const text = await redis.hget(promptsKey(id), hash);
      if (!text) return;
      keep(text);
      // The field stays, so that no worker sends it again; the text need not lie in memory twice.
      await redis.hset(promptsKey(id), hash, '');
    },
    async remove(id) {
      await redis.zrem(RUNS, id);
      await redis.del(descriptionKey(id), ...keysOfWorkers(id));
    },
    async sweep(id) {
      if ((await redis.exists(descriptionKey(id))) > 0) return;
      await redis.del(...keysOfWorkers(id));
      // The library's check for lost jobs makes them anew.
      await redis.del(...['meta', 'events', 'stalled-check'].map((name) => `${PREFIX}:${queueNameOf(id)}:${name}`));
    },
  };
}

function parseRun(text: string): QueuedRun | undefined {
  try {
    const parsed = queuedRunSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}
