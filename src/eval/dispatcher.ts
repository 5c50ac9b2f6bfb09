/**
 * Who does the cases: here, this process, some side by side. Another dispatcher may hand them to other machines; all
 * around it stays the same.
 */
import { throwIfCancelled } from '../core/errors.js';
import type { CaseJob, CaseRunner } from './case-runner.js';
import type { CaseRecord } from './record.js';

export interface DispatchOptions {
  /** Told of every record as it ends; it is awaited before the next case begins in its place. */
  onRecord: (record: CaseRecord) => void | Promise<void>;
  /** When the records told so far survive a power loss: before that no queue may forget them. Default: at once. */
  synced?: (() => Promise<void>) | undefined;
  /** No new case is begun; those under way are finished. */
  stop: AbortSignal;
  /** Those under way are given up, too. */
  cancel: AbortSignal;
}

/** Ends when all jobs are done, or after `stop`. @throws what `onRecord` throws, and `cancelled`. */
export type Dispatcher = (jobs: AsyncIterable<CaseJob>, options: DispatchOptions) => Promise<void>;

/** @param concurrency cases under way at once */
export function createLocalDispatcher(run: CaseRunner, concurrency: number): Dispatcher {
  return async (jobs, { onRecord, stop, cancel }) => {
    const failed = new AbortController();
    const giveUp = AbortSignal.any([cancel, failed.signal]);
    const queue = jobs[Symbol.asyncIterator]();
    const work = async (): Promise<void> => {
      while (!stop.aborted && !giveUp.aborted) {
        const next = await queue.next();
        if (next.done) return;
        await onRecord(await run(next.value, AbortSignal.any([giveUp])));
      }
    };
    const workers = Array.from({ length: concurrency }, () =>
      work().catch((error: unknown) => {
        failed.abort(error);
        throw error;
      }),
    );
    const settled = await Promise.allSettled(workers);
    await queue.return?.();
    throwIfCancelled(cancel);
    if (failed.signal.aborted) throw failed.signal.reason;
    for (const one of settled) if (one.status === 'rejected') throw one.reason;
  };
}
