/**
 * The way in: a bounded number waits, one of a mutex group at a time goes on, `concurrency` run at once. The mutex
 * is waited for outside the places to run, so that one group can't take them all.
 */
import PQueue from 'p-queue';
import { type CallFailure, fail } from './failure.js';
import type { SandboxLimits } from './limits.js';

export interface Entered {
  readonly ok: true;
  /** Gives place and mutex back. A second call does nothing. */
  leave(): void;
}

export interface Admission {
  enter(request: { group?: string | undefined; signal?: AbortSignal | undefined }): Promise<Entered | CallFailure>;
}

type AdmissionLimits = Pick<SandboxLimits, 'concurrency' | 'maxQueued' | 'maxWaitMs'>;

export function createAdmission(limits: AdmissionLimits): Admission {
  const places = new PQueue({ concurrency: limits.concurrency });
  const groups = new Map<string, PQueue>();
  let waiting = 0;

  function groupOf(name: string): PQueue {
    const known = groups.get(name);
    if (known) return known;
    const queue = new PQueue({ concurrency: 1 });
    queue.on('idle', () => groups.delete(name));
    groups.set(name, queue);
    return queue;
  }

  function isFull(group: string | undefined): boolean {
    if (waiting < limits.maxQueued) return false;
    const isGroupBusy = group !== undefined && groups.has(group);
    return isGroupBusy || places.pending + waiting >= limits.concurrency;
  }

  return {
    async enter({ group, signal }) {
      if (signal?.aborted) return notStarted();
      if (isFull(group)) return fail('overloaded', `${waiting} calls are waiting already (limit maxQueued).`);
      waiting += 1;
      let isWaiting = true;
      const stopWaiting = () => {
        if (isWaiting) waiting -= 1;
        isWaiting = false;
      };
      const patience = startPatience(limits.maxWaitMs, signal);
      const taken: (() => void)[] = [];
      const leave = () => {
        for (const giveBack of taken.splice(0)) giveBack();
      };
      try {
        if (group !== undefined) taken.push(await takePlace(groupOf(group), patience.signal));
        taken.push(await takePlace(places, patience.signal, stopWaiting));
        // It may have ended in the moment between the start of the place and this line.
        patience.signal.throwIfAborted();
        return { ok: true, leave };
      } catch {
        leave();
        if (signal?.aborted) return notStarted();
        return fail('overloaded', `No place to run within ${limits.maxWaitMs} ms (limit maxWaitMs).`);
      } finally {
        stopWaiting();
        patience.end();
      }
    },
  };
}

function notStarted(): CallFailure {
  return fail('not_started', 'The caller cancelled the call before it began.');
}

/** Resolves inside the queue's task, which lasts until the returned function is called; `onStart` knows of it first. */
function takePlace(queue: PQueue, signal: AbortSignal, onStart?: () => void): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const task = () => {
      onStart?.();
      return new Promise<void>((giveBack) => resolve(giveBack));
    };
    queue.add(task, { signal }).catch(reject);
  });
}

/** A signal of its own for the wait alone: once a call runs, nothing may free its place but its end. */
function startPatience(maxWaitMs: number, signal: AbortSignal | undefined) {
  const controller = new AbortController();
  const stop = () => controller.abort();
  const timer = setTimeout(stop, maxWaitMs);
  signal?.addEventListener('abort', stop, { once: true });
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    },
  };
}
