/** The jobs of a run in BullMQ, seen from the command that started it: bounded, added once, taken when they have ended. */
import { type Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { noUsage } from '../../core/model/model.js';
import type { CaseJob } from '../case-runner.js';
import { noAnswer } from '../no-answer.js';
import { type CaseRecord, caseRecordSchema } from '../record.js';
import { caseJobSchema, jobIdOf, type QueuedRun } from './queued-run.js';
import { PREFIX, queueNameOf } from './run-registry.js';

export interface EndedCase {
  jobId: string;
  record: CaseRecord;
}

export interface CaseQueue {
  /** A job that is there already, in whatever state, is left as it is. */
  add(jobs: readonly CaseJob[]): Promise<void>;
  /** Some of those that have ended; they stay until they are removed, so that a kill in between loses nothing. */
  ended(): Promise<EndedCase[]>;
  remove(ended: readonly EndedCase[]): Promise<void>;
  /** Takes out what no worker has begun. @returns how many are left, under way or ended */
  drain(): Promise<number>;
  /** Takes all away. */
  destroy(): Promise<void>;
  close(): Promise<void>;
}

const BATCH = 100;

export function openCaseQueue(redis: Redis, run: QueuedRun): CaseQueue {
  const queue = new Queue(queueNameOf(run.id), {
    connection: redis,
    prefix: PREFIX,
    // It writes to the console; what it checks is checked when Redis is connected.
    skipVersionCheck: true,
    streams: { events: { maxLen: BATCH } },
  });
  // Without a listener an error would end the process; a lost connection is told by its owner.
  queue.on('error', () => undefined);
  const { attempts, backoffMs } = run.pace;
  const options = { attempts, backoff: { type: 'exponential', delay: backoffMs }, stackTraceLimit: 1 };
  return {
    async add(jobs) {
      await queue.addBulk(jobs.map((job) => ({ name: 'case', data: job, opts: { ...options, jobId: jobIdOf(job) } })));
    },
    async ended() {
      const jobs = await queue.getJobs(['completed', 'failed'], 0, BATCH - 1, true);
      return jobs.flatMap((job) => (job?.id === undefined ? [] : [{ jobId: job.id, record: recordOf(job) }]));
    },
    async remove(ended) {
      await Promise.all(ended.map(({ jobId }) => queue.remove(jobId)));
    },
    async drain() {
      await queue.drain(true);
      const counts = await queue.getJobCounts('wait', 'active', 'delayed', 'completed', 'failed');
      return Object.values(counts).reduce((sum, count) => sum + count, 0);
    },
    destroy: () => queue.obliterate({ force: true }),
    close: () => queue.close(),
  };
}

type AnyJob = Pick<Job<unknown, unknown>, 'data' | 'returnvalue' | 'failedReason'>;

/** A job without a result was given up: its worker broke, or was lost again and again. */
function recordOf({ data, returnvalue, failedReason }: AnyJob): CaseRecord {
  const parsed = caseRecordSchema.safeParse(returnvalue);
  if (parsed.success) return parsed.data;
  const { case: one, repeat } = caseJobSchema.parse(data);
  const message = `No worker came to the end of this case: ${failedReason || parsed.error.issues[0]?.message}.`;
  return {
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
}
