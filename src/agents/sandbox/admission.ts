/**
 * Admission of calls: a bounded queue, one call per mutex group, `concurrency` calls at once, and a share of these
 * places per user. Calls wait for the user's share first, then for the mutex, then for a place. So no user or group can
 * occupy all places, and a call that waits for its own user's share holds no mutex.
 */
import PQueue from 'p-queue';
import { createUserCounts } from '../quotas.js';
import { type CallFailure, fail } from './failure.js';
import type { SandboxLimits } from './limits.js';

export interface Entered {
  readonly ok: true;
  /** Whether the call had to wait: earlier decisions may be out of date. */
  readonly hasWaited: boolean;
  /** Releases the place and the turns. Idempotent. */
  leave(): void;
}

interface Entering {
  readonly group?: string | undefined;
  /** Absent: the embedding program, which has no share. */
  readonly user?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface Admission {
  enter(request: Entering): Promise<Entered | CallFailure>;
}

type AdmissionLimits = Pick<SandboxLimits, 'concurrency' | 'maxQueued' | 'maxWaitMs' | 'userShare'>;

export function createAdmission(limits: AdmissionLimits): Admission {
  const places = new PQueue({ concurrency: limits.concurrency });
  const partOf = (all: number) => Math.max(1, Math.floor(all * limits.userShare));
  const groups = createQueues(1);
  const userPlaces = partOf(limits.concurrency);
  const users = createQueues(userPlaces);
  /** Calls of each user, waiting and running. */
  const underWay = createUserCounts();
  let waiting = 0;

  function findFull({ group, user }: Entering): string | undefined {
    const own = underWay.of(user);
    if (own >= userPlaces + partOf(limits.maxQueued)) return `${own} calls of yours are under way (limit userShare).`;
    const hasPlace = places.pending + waiting < limits.concurrency && own < userPlaces && !groups.isBusy(group);
    return hasPlace || waiting < limits.maxQueued
      ? undefined
      : `${waiting} calls are waiting already (limit maxQueued).`;
  }

  return {
    async enter(request) {
      const { group, user, signal } = request;
      if (signal?.aborted) return notStarted();
      const full = findFull(request);
      if (full !== undefined) return fail('overloaded', full);
      waiting += 1;
      underWay.add(user, 1);
      let isWaiting = true;
      const stopWaiting = () => {
        if (isWaiting) waiting -= 1;
        isWaiting = false;
      };
      const wait = startWait(limits.maxWaitMs, signal);
      const taken: (() => void)[] = [() => underWay.add(user, -1)];
      const leave = () => {
        for (const giveBack of taken.splice(0)) giveBack();
      };
      let hasWaited = false;
      const take = async (queue: PQueue, onStart?: () => void) => {
        hasWaited ||= queue.pending >= queue.concurrency || queue.size > 0;
        taken.push(await takePlace(queue, wait.signal, onStart));
      };
      try {
        if (user !== undefined) await take(users.of(user));
        if (group !== undefined) await take(groups.of(group));
        await take(places, stopWaiting);
        // The wait may have timed out just after the place started.
        wait.signal.throwIfAborted();
        return { ok: true, hasWaited, leave };
      } catch {
        leave();
        if (signal?.aborted) return notStarted();
        return fail('overloaded', `No place to run within ${limits.maxWaitMs} ms (limit maxWaitMs).`);
      } finally {
        stopWaiting();
        wait.end();
      }
    },
  };
}

/** A queue for each name, removed when idle. */
function createQueues(concurrency: number) {
  const queues = new Map<string, PQueue>();
  return {
    of(name: string): PQueue {
      const known = queues.get(name);
      if (known) return known;
      const queue = new PQueue({ concurrency });
      queue.on('idle', () => queues.delete(name));
      queues.set(name, queue);
      return queue;
    },
    isBusy(name: string | undefined): boolean {
      return name !== undefined && (queues.get(name)?.pending ?? 0) >= concurrency;
    },
  };
}

function notStarted(): CallFailure {
  return fail('not_started', 'The caller cancelled the call before it began.');
}

/** Resolves within the queue's task, which lasts until the returned function is called. `onStart` is called first. */
function takePlace(queue: PQueue, signal: AbortSignal, onStart?: () => void): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const task = () => {
      onStart?.();
      return new Promise<void>((giveBack) => resolve(giveBack));
    };
    queue.add(task, { signal }).catch(reject);
  });
}

/** A signal for the wait alone: once a call runs, only its end may release its place. */
function startWait(maxWaitMs: number, signal: AbortSignal | undefined) {
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
