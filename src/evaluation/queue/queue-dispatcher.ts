/**
 * Hands the cases to workers on any machines, a bounded window of them at a time. At least once: what Redis has lost is
 * added again, and one job a case and repeat makes of it exactly one result.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { throwIfCancelled, toWinnowError, WinnowError } from '../../errors.js';
import { addUsage, noUsage } from '../../model/model.js';
import type { CaseJob } from '../case-runner.js';
import type { Dispatcher, DispatchOptions } from '../dispatcher.js';
import type { Prices } from '../prices.js';
import type { CaseRecord } from '../record.js';
import { type CaseQueue, openCaseQueue } from './case-queue.js';
import { jobIdOf, type QueuedRun } from './queued-run.js';
import { connectRedis } from './redis.js';
import { createRunRegistry, type RunRegistry } from './run-registry.js';
import { createWorkerNews } from './worker-news.js';

export interface QueueDispatcherOptions {
  /** Address of Redis. */
  url: string;
  run: QueuedRun;
  /** Most cases in Redis at once, with those that have ended and are not yet collected. */
  window: number;
  /** Known to the command alone: workers need no price table. */
  prices?: Prices | undefined;
  /** So long without a result, the window is added again: Redis may have come back without it. Default: 10,000. */
  quietMs?: number;
  onStablePart: (hash: string, text: string) => void;
  /** Told of workers that take part or refuse, and of what is wrong with Redis. */
  onNotice: (text: string) => void;
}

const POLL_MS = 100;
const ANNOUNCE_MS = 1_000;

/** @throws WinnowError `store_failed` when Redis can't be reached at the start, or refuses to write later */
export function createQueueDispatcher(options: QueueDispatcherOptions): Dispatcher {
  return async (jobs, dispatch) => {
    const redis = await connectRedis(options);
    // What waits for a Redis that is away ends with this.
    const giveUp = () => redis.disconnect();
    dispatch.cancel.addEventListener('abort', giveUp, { once: true });
    const registry = createRunRegistry(redis);
    const queue = openCaseQueue(redis, options.run);
    try {
      throwIfCancelled(dispatch.cancel);
      await handOut(jobs, { ...options, ...dispatch, redis, registry, queue });
      await queue.destroy();
      await registry.remove(options.run.id);
    } catch (error) {
      throwIfCancelled(dispatch.cancel);
      if (error instanceof WinnowError || !isFromRedis(error)) throw error;
      const { message } = toWinnowError(error);
      throw new WinnowError('store_failed', `Redis refuses: ${message} Go on with --resume.`, { cause: error });
    } finally {
      dispatch.cancel.removeEventListener('abort', giveUp);
      await queue.close().catch(() => undefined);
      redis.disconnect();
    }
  };
}

function isFromRedis(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

interface Parts extends QueueDispatcherOptions, DispatchOptions {
  redis: Redis;
  registry: RunRegistry;
  queue: CaseQueue;
}

/** One loop does all in turn, so that nothing is added again between its result and its removal. */
async function handOut(jobs: AsyncIterable<CaseJob>, parts: Parts): Promise<void> {
  const { run, registry, queue, stop, quietMs = 10_000 } = parts;
  const window = createWindow(jobs, parts);
  const tellNews = createWorkerNews(parts);
  let announcedAt = Number.NEGATIVE_INFINITY;
  let heardAt = performance.now();
  try {
    for (;;) {
      if (performance.now() - announcedAt >= ANNOUNCE_MS) {
        await registry.announce(run);
        tellNews(await registry.workersOf(run.id));
        announcedAt = performance.now();
      }
      const collected = await collect(window, parts);
      if (collected > 0) heardAt = performance.now();
      if (stop.aborted) {
        if ((await queue.drain()) === 0) return;
      } else {
        await window.fill();
        if (window.isEmpty()) return;
        if (performance.now() - heardAt >= quietMs) {
          await window.addAgain();
          heardAt = performance.now();
        }
      }
      if (collected === 0) await delay(POLL_MS, undefined, { signal: parts.cancel });
    }
  } finally {
    await window.close();
  }
}

type Window = ReturnType<typeof createWindow>;

/** What is in Redis of the cases of this process, by the id of the job. */
function createWindow(jobs: AsyncIterable<CaseJob>, { queue, window: size }: Parts) {
  const source = jobs[Symbol.asyncIterator]();
  const outstanding = new Map<string, CaseJob>();
  let isAtEnd = false;
  return {
    async fill() {
      const added: CaseJob[] = [];
      while (!isAtEnd && outstanding.size < size) {
        const next = await source.next();
        if (next.done) isAtEnd = true;
        else {
          outstanding.set(jobIdOf(next.value), next.value);
          added.push(next.value);
        }
      }
      if (added.length > 0) await queue.add(added);
    },
    addAgain: () => queue.add([...outstanding.values()]),
    take: (jobId: string) => outstanding.delete(jobId),
    isEmpty: () => isAtEnd && outstanding.size === 0,
    async close() {
      await source.return?.();
    },
  };
}

/** @returns how many results came in. Each is kept before its job is removed. */
async function collect(
  window: Window,
  { queue, registry, run, prices, onRecord, onStablePart }: Parts,
): Promise<number> {
  const ended = await queue.ended();
  for (const { jobId, record } of ended) {
    for (const hash of new Set(record.calls.map(({ system }) => system))) {
      await registry.takePrompt(run.id, hash, (text) => onStablePart(hash, text));
    }
    await onRecord(priced(record, prices));
    window.take(jobId);
  }
  await queue.remove(ended);
  return ended.length;
}

function priced(record: CaseRecord, prices: Prices | undefined): CaseRecord {
  if (!prices) return record;
  const total = noUsage();
  addUsage(total, record.usage.selection);
  addUsage(total, record.usage.planning);
  return { ...record, cost: prices.costOf(total) };
}
