/**
 * Hands the cases to workers on any machines, a bounded window of them at a time. At least once: what Redis has lost is
 * added again, and one job a case and repeat makes of it exactly one result.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { throwIfCancelled, toWinnowError, WinnowError } from '../../core/errors.js';
import type { CaseJob } from '../case-runner.js';
import type { Dispatcher, DispatchOptions } from '../dispatcher.js';
import type { Prices } from '../prices.js';
import type { CaseRecord } from '../record.js';
import { type CaseQueue, openCaseQueue } from './case-queue.js';
import { jobIdOf, type QueuedRun } from './queued-run.js';
import type { RunRegistry } from './run-registry.js';

export interface QueueDispatchOptions {
  /** Most cases in Redis at once, with those that have ended and are not yet collected. */
  window: number;
  /** Known to the command alone: workers need no price table. */
  prices?: Prices | undefined;
  /** So long without a result, the window is added again: Redis may have come back without it. Default: 10,000. */
  quietMs?: number;
  onStablePart: (hash: string, text: string) => void;
}

/** A run in Redis. */
export interface QueueLink {
  redis: Redis;
  registry: RunRegistry;
  run: QueuedRun;
  /** Says that the run goes on; called again and again. @throws WinnowError where its workers do not agree */
  announce: () => Promise<void>;
}

const POLL_MS = 100;

/** It throws `store_failed` when Redis refuses to write, and what `announce` throws. */
export function createQueueDispatcher(link: QueueLink, options: QueueDispatchOptions): Dispatcher {
  const { redis, registry, run } = link;
  return async (jobs, dispatch) => {
    // What waits for a Redis that is away ends with this.
    const giveUp = () => redis.disconnect();
    dispatch.cancel.addEventListener('abort', giveUp, { once: true });
    const queue = openCaseQueue(redis, run);
    try {
      throwIfCancelled(dispatch.cancel);
      await handOut(jobs, { ...options, ...dispatch, ...link, queue });
      await queue.destroy();
      await registry.remove(run.id);
    } catch (error) {
      throwIfCancelled(dispatch.cancel);
      if (error instanceof WinnowError || !isFromRedis(error)) throw error;
      const { message } = toWinnowError(error);
      throw new WinnowError('store_failed', `Redis refuses: ${message} Go on with --resume.`, { cause: error });
    } finally {
      dispatch.cancel.removeEventListener('abort', giveUp);
      await queue.close().catch(() => undefined);
    }
  };
}

function isFromRedis(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

interface Parts extends QueueDispatchOptions, DispatchOptions, QueueLink {
  queue: CaseQueue;
}

/** One loop does all in turn, so that nothing is added again between its result and its removal. */
async function handOut(jobs: AsyncIterable<CaseJob>, parts: Parts): Promise<void> {
  const { queue, announce, stop, quietMs = 10_000 } = parts;
  const window = createWindow(jobs, parts);
  let heardAt = performance.now();
  try {
    for (;;) {
      await announce();
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

/** @returns how many results came in. Each is on the disk before its job is removed. */
async function collect(
  window: Window,
  { queue, registry, run, prices, onRecord, synced, onStablePart }: Parts,
): Promise<number> {
  const ended = await queue.ended();
  for (const { jobId, record } of ended) {
    for (const hash of new Set(record.calls.map(({ system }) => system))) {
      await registry.takePrompt(run.id, hash, (text) => onStablePart(hash, text));
    }
    await onRecord(priced(record, prices));
    window.take(jobId);
  }
  if (ended.length > 0) await synced?.();
  await queue.remove(ended);
  return ended.length;
}

function priced(record: CaseRecord, prices: Prices | undefined): CaseRecord {
  return prices ? { ...record, cost: prices.costOf(record.usage) } : record;
}
