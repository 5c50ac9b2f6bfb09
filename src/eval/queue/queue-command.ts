/**
 * The command's side of a run in Redis: it announces the run, and keeps a bounded window of cases in Redis.
 * Delivery is at least once: lost jobs are added again, and one job id for each case and repeat gives exactly one result.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { throwIfCancelled, toWinnowError, WinnowError } from '../../core/errors.js';
import { noUsage } from '../../core/model/model.js';
import type { CaseJob } from '../case-runner.js';
import type { Dispatcher, DispatchOptions } from '../evaluate.js';
import { type CaseRecord, noAnswer } from '../record.js';
import type { OnStablePart } from '../suite.js';
import { type CaseResult, caseResultSchema, jobIdOf, type QueuedRun } from './queued-run.js';
import { connectRedis, createRunRegistry, PREFIX, queueNameOf, type RunRegistry } from './run-registry.js';

interface QueueOptions {
  /** Address of Redis. */
  url: string;
  run: QueuedRun;
  /** Called when workers take part or refuse, and for problems of Redis. */
  onNotice: (text: string) => void;
}

interface QueueDispatchOptions {
  /** Most cases in Redis at once, including finished ones that are not yet collected. Default: 200. */
  window?: number;
  /** Milliseconds without a result before the window is added again, since Redis may have lost it. Default: 10,000. */
  quietMs?: number;
  onStablePart: OnStablePart;
}

interface Link {
  onNotice: (text: string) => void;
  redis: Redis;
  registry: RunRegistry;
  run: QueuedRun;
  announce: () => Promise<void>;
}

const POLL_MS = 100;
const ANNOUNCE_MS = 1_000;
const BATCH = 100;

/** @throws WinnowError `store_failed` when Redis can't be reached, `invalid_option` for its address */
export async function openQueueCommand({ url, run, onNotice }: QueueOptions) {
  const redis = await connectRedis({ url, onNotice });
  const registry = createRunRegistry(redis);
  const announce = createAnnouncer(run, registry, onNotice);
  return {
    /** Throws `store_failed` when Redis refuses to write. */
    dispatcher: (options: QueueDispatchOptions) =>
      createQueueDispatcher({ redis, registry, run, announce, onNotice }, options),
    close: () => redis.disconnect(),
  };
}

/** Announces the run at most once a second, and reports news of workers. */
function createAnnouncer(run: QueuedRun, registry: RunRegistry, onNotice: QueueOptions['onNotice']) {
  const reportWorkers = createWorkerNews(onNotice);
  let announcedAt = Number.NEGATIVE_INFINITY;
  return async (): Promise<void> => {
    if (performance.now() - announcedAt < ANNOUNCE_MS) return;
    await registry.announce(run);
    reportWorkers(await registry.workersOf(run.id));
    announcedAt = performance.now();
  };
}

/** Time for workers to notice a run before the command reports their absence. */
const PATIENCE_MS = 5_000;

/** Reports each fact once. @returns a callback for repeated calls: worker -> why it refuses the run, or nothing */
export function createWorkerNews(onNotice: (text: string) => void, now = () => performance.now()) {
  const startedAt = now();
  const known = new Map<string, string>();
  let isAbsenceKnown = false;
  return (workers: Readonly<Record<string, string>>): void => {
    for (const [worker, refusal] of Object.entries(workers)) {
      if (known.get(worker) === refusal) continue;
      known.set(worker, refusal);
      onNotice(refusal === '' ? `The worker ${worker} takes part.` : `The worker ${worker} refuses: ${refusal}`);
    }
    const isAnyThere = [...known.values()].includes('');
    if (isAnyThere || isAbsenceKnown || now() - startedAt < PATIENCE_MS) return;
    isAbsenceKnown = true;
    onNotice('No worker takes part yet: start some with winnow worker and the same --queue.');
  };
}

function createQueueDispatcher(link: Link, options: QueueDispatchOptions): Dispatcher {
  const { redis, registry, run } = link;
  return async (jobs, dispatch) => {
    // Ends calls that wait for a lost Redis.
    const giveUp = () => redis.disconnect();
    dispatch.cancel.addEventListener('abort', giveUp, { once: true });
    const queue = new Queue(queueNameOf(run.id), {
      connection: redis,
      prefix: PREFIX,
      // It writes to the console; `connectRedis` checks the same.
      skipVersionCheck: true,
      streams: { events: { maxLen: BATCH } },
    });
    // Without a listener an error would end the process; the connection's owner reports its loss.
    queue.on('error', () => undefined);
    try {
      throwIfCancelled(dispatch.cancel);
      await handOut(jobs, { ...options, ...dispatch, ...link, queue });
      await queue.obliterate({ force: true });
      await registry.remove(run.id);
    } catch (error) {
      throwIfCancelled(dispatch.cancel);
      if (error instanceof WinnowError || !(error instanceof Error && error.name === 'ReplyError')) throw error;
      const message = `Redis refuses: ${toWinnowError(error).message} Go on with --resume.`;
      throw new WinnowError('store_failed', message, { cause: error });
    } finally {
      dispatch.cancel.removeEventListener('abort', giveUp);
      await queue.close().catch(() => undefined);
    }
  };
}

interface Parts extends QueueDispatchOptions, DispatchOptions, Link {
  queue: Queue;
}

/** One sequential loop, so that no job is added again between its result and its removal. */
async function handOut(jobs: AsyncIterable<CaseJob>, parts: Parts): Promise<void> {
  const { queue, announce, stop, quietMs = 10_000, window = 200 } = parts;
  const source = jobs[Symbol.asyncIterator]();
  /** Jobs in Redis, by id. */
  const outstanding = new Map<string, CaseJob>();
  let isAtEnd = false;
  const fill = async () => {
    const added: CaseJob[] = [];
    while (!isAtEnd && outstanding.size < window) {
      const next = await source.next();
      if (next.done) isAtEnd = true;
      else {
        outstanding.set(jobIdOf(next.value), next.value);
        added.push(next.value);
      }
    }
    await add(queue, added, parts.run);
  };
  let heardAt = performance.now();
  try {
    // After a resume, this also finds jobs that ended meanwhile.
    if (!stop.aborted) await fill();
    for (;;) {
      await announce();
      const collected = await collect(outstanding, parts);
      if (collected > 0) heardAt = performance.now();
      if (stop.aborted) {
        await queue.drain(true);
        const left = await queue.getJobCounts('wait', 'active', 'delayed', 'completed', 'failed');
        if (Object.values(left).every((count) => count === 0)) return;
      } else {
        await fill();
        if (isAtEnd && outstanding.size === 0) return;
        if (performance.now() - heardAt >= quietMs) {
          await add(queue, [...outstanding.values()], parts.run);
          heardAt = performance.now();
        }
      }
      if (collected === 0) await delay(POLL_MS, undefined, { signal: parts.cancel });
    }
  } finally {
    await source.return?.();
  }
}

/** Does not change a job that exists, in whatever state. */
async function add(queue: Queue, jobs: readonly CaseJob[], { pace }: QueuedRun): Promise<void> {
  if (jobs.length === 0) return;
  const backoff = { type: 'exponential', delay: pace.backoffMs };
  const options = { attempts: pace.attempts, backoff, stackTraceLimit: 1 };
  await queue.addBulk(jobs.map((job) => ({ name: 'case', data: job, opts: { ...options, jobId: jobIdOf(job) } })));
}

/**
 * Collects only results of its own jobs, since others can write to Redis too. Stores them on disk before it removes jobs.
 *
 * @returns the number of results
 */
async function collect(outstanding: Map<string, CaseJob>, parts: Parts): Promise<number> {
  const { queue, keep, onStablePart, onNotice } = parts;
  const ended = (await queue.getJobs(['completed', 'failed'], 0, BATCH - 1, true)).filter((job) => job?.id);
  const records = ended.flatMap((job) => {
    const asked = outstanding.get(job.id ?? '');
    if (!asked) return [];
    const { record, prompts } = resultOf(asked, job);
    for (const [hash, text] of Object.entries(prompts)) onStablePart(hash, text);
    return [record];
  });
  const left = ended.length - records.length;
  if (left > 0) onNotice(`${left} results in Redis were not asked for, and are left out.`);
  if (records.length > 0) await keep(records);
  for (const { id = '' } of ended) {
    outstanding.delete(id);
    await queue.remove(id);
  }
  return ended.length;
}

/** A job without a result failed: its worker broke, or was lost too often. */
function resultOf(
  { case: one, repeat }: CaseJob,
  { returnvalue, failedReason }: Pick<Job, 'returnvalue' | 'failedReason'>,
): CaseResult {
  const parsed = caseResultSchema.safeParse(returnvalue);
  const isOwn = ({ id, suite, ...record }: CaseRecord) =>
    id === one.id && suite === one.suite && record.repeat === repeat;
  if (parsed.success && isOwn(parsed.data.record)) return parsed.data;
  const why = failedReason || parsed.error?.issues[0]?.message || 'the result is that of another case';
  const message = `No worker came to the end of this case: ${why}.`;
  const record: CaseRecord = {
    id: one.id,
    suite: one.suite,
    repeat,
    query: one.request.message,
    tags: one.tags,
    expected: one.expected,
    ...noAnswer({ code: 'internal', message, issues: [] }),
    usage: { selection: noUsage(), planning: noUsage(), schemaTokens: { all: 0, loaded: 0 } },
    milliseconds: { selection: 0, total: 0 },
    calls: [],
  };
  return { record, prompts: {} };
}
