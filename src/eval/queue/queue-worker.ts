/**
 * Runs the cases of queued runs, one run at a time, the oldest first. The queue keeps a case until its record exists, so a
 * killed worker loses only time.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Job, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { ERROR_TABLE } from '../../core/errors.js';
import type { CaseRunner } from '../case-runner.js';
import type { CaseRecord } from '../record.js';
import type { OnStablePart } from '../suite.js';
import { type CaseResult, caseJobSchema, type QueuedRun, refusalsOf, type WorkerIdentity } from './queued-run.js';
import { connectRedis, createRunRegistry, PREFIX, queueNameOf, type RunRegistry } from './run-registry.js';

export interface QueueWorkerOptions {
  /** Address of Redis. */
  url: string;
  /** Unique name of this worker for the command that started a run. */
  name: string;
  /** What this worker has; it refuses runs that need anything else. */
  identity: WorkerIdentity;
  createRunner: (run: QueuedRun, onStablePart: OnStablePart) => CaseRunner;
  /** Cases at once. */
  concurrency: number;
  /** Starts no case; running ones finish. */
  stop: AbortSignal;
  /** Leaves running cases to other workers. */
  cancel: AbortSignal;
  onNotice: (text: string) => void;
}

const POLL_MS = 500;
/** A case fails after it has crashed this many workers. */
const MAX_LOSSES = 3;

interface Parts extends QueueWorkerOptions {
  redis: Redis;
  registry: RunRegistry;
}

/** Ends after `stop`. @throws WinnowError `invalid_option`, `store_failed` when Redis can't be reached at the start */
export async function serveQueue(options: QueueWorkerOptions): Promise<void> {
  const redis = await connectRedis(options);
  const registry = createRunRegistry(redis);
  const cancelled = new Promise<void>((resolve) => {
    options.cancel.addEventListener('abort', () => resolve(), { once: true });
  });
  try {
    await Promise.race([serveRuns({ ...options, redis, registry }), cancelled]);
  } finally {
    redis.disconnect();
  }
}

async function serveRuns(parts: Parts): Promise<void> {
  const { registry, stop } = parts;
  const refused = new Set<string>();
  while (!stop.aborted) {
    const next = (await registry.openRuns()).find(({ id }) => !refused.has(id));
    if (!next) {
      await rest(stop);
      continue;
    }
    const { id, run } = next;
    const issues = run ? refusalsOf(run, parts.identity) : ['format: written by another version of Winnow'];
    if (run && issues.length === 0) await serveRun(run, parts);
    else {
      refused.add(id);
      await refuse(id, run, issues, parts);
    }
  }
}

async function refuse(
  id: string,
  run: QueuedRun | undefined,
  issues: readonly string[],
  { registry, name, onNotice }: Parts,
): Promise<void> {
  const why = `${issues.join('; ')} ("there": the run, "here": this worker).`;
  onNotice(`The run ${run?.name ?? id} is refused: ${why} Start the worker with what the run has.`);
  await registry.report(id, name, why);
}

/** Works until the run is no longer open, or until `stop`. */
async function serveRun(run: QueuedRun, parts: Parts): Promise<void> {
  const { registry, name, stop, cancel, onNotice } = parts;
  const worker = openWorker(run, parts);
  let lastError = '';
  // The connection's owner reports its loss; other errors repeat, so each is reported once.
  worker.on('error', ({ message }) => {
    if (parts.redis.status === 'ready' && message !== lastError) onNotice(`The queue reports: ${message}`);
    lastError = message;
  });
  worker.on('stalled', () => onNotice('A worker was lost: a case of it is done again.'));
  onNotice(`Taking part in the run ${run.name}.`);
  await registry.report(run.id, name);
  // Closes at once; otherwise a finished case would fetch the next one.
  const close = () => void worker.close();
  const leave = () => void worker.close(true);
  stop.addEventListener('abort', close, { once: true });
  cancel.addEventListener('abort', leave, { once: true });
  while (!stop.aborted && (await registry.isOpen(run.id))) await rest(stop);
  stop.removeEventListener('abort', close);
  await worker.close();
  await registry.sweep(run.id);
  cancel.removeEventListener('abort', leave);
  onNotice(`The run ${run.name} is over${stop.aborted ? ' for this worker' : ''}.`);
}

function openWorker(run: QueuedRun, { redis, name, concurrency, createRunner, cancel }: Parts): Worker {
  const { lostAfterMs, attempts } = run.pace;
  const unsent = new Map<string, string>();
  const runner = createRunner(run, (hash, text) => unsent.set(hash, text));
  const work = async (job: Job<unknown>): Promise<CaseResult> => {
    const record = await runner(caseJobSchema.parse(job.data), cancel);
    if (isWorthAnotherTry(record) && job.attemptsMade + 1 < attempts) {
      throw new Error(`${record.error?.code}: ${record.error?.message}`);
    }
    const prompts = Object.fromEntries(unsent);
    unsent.clear();
    return { record, prompts };
  };
  return new Worker(queueNameOf(run.id), work, {
    connection: redis,
    prefix: PREFIX,
    name,
    concurrency,
    lockDuration: lostAfterMs,
    stalledInterval: lostAfterMs / 2,
    maxStalledCount: MAX_LOSSES,
    runRetryDelay: 1_000,
    skipVersionCheck: true,
  });
}

/** Retries only transient errors; wrong answers are results. */
function isWorthAnotherTry({ error }: CaseRecord): boolean {
  const meaning = Object.entries(ERROR_TABLE).find(([code]) => code === error?.code)?.[1];
  return meaning?.retry ?? false;
}

async function rest(stop: AbortSignal): Promise<void> {
  await delay(POLL_MS, undefined, { signal: stop }).catch(() => undefined);
}
