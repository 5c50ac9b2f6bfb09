/** A run in Redis, seen from the command that started it: announced while it goes on, and done by one model alone. */
import { setTimeout as delay } from 'node:timers/promises';
import { throwIfCancelled, WinnowError } from '../../core/errors.js';
import type { Dispatcher } from '../dispatcher.js';
import { createQueueDispatcher, type QueueDispatchOptions } from './queue-dispatcher.js';
import type { QueuedRun } from './queued-run.js';
import { connectRedis } from './redis.js';
import { createRunRegistry, type ModelClaim, type RunRegistry } from './run-registry.js';
import { createWorkerNews } from './worker-news.js';

export interface QueueOptions {
  /** Address of Redis. */
  url: string;
  run: QueuedRun;
  /** Told of workers that take part or refuse, and of what is wrong with Redis. */
  onNotice: (text: string) => void;
}

export interface QueueCommand {
  /**
   * Id of the model that the run has; else of that of the first worker, which is waited for. No model is opened for it.
   * @throws WinnowError `cancelled` when the signal has fired; `invalid_option` where workers come with several
   */
  model(stop: AbortSignal): Promise<string>;
  dispatcher(options: QueueDispatchOptions): Dispatcher;
  close(): void;
}

const POLL_MS = 100;
const ANNOUNCE_MS = 1_000;

/** @throws WinnowError `store_failed` when Redis can't be reached, `invalid_option` for its address */
export async function openQueueCommand({ url, run, onNotice }: QueueOptions): Promise<QueueCommand> {
  const redis = await connectRedis({ url, onNotice });
  const registry = createRunRegistry(redis);
  const announce = createAnnouncer(run, registry, onNotice);
  return {
    async model(stop) {
      if (run.identity.model !== undefined) return run.identity.model;
      for (;;) {
        throwIfCancelled(stop);
        await announce();
        const [first] = await registry.claims(run.id);
        if (first) return first.model;
        await delay(POLL_MS, undefined, { signal: stop }).catch(() => undefined);
      }
    },
    dispatcher: (options) => createQueueDispatcher({ redis, registry, run, announce }, options),
    close: () => redis.disconnect(),
  };
}

/** Not more often than is needed; what workers have said since is told on the way. */
function createAnnouncer(run: QueuedRun, registry: RunRegistry, onNotice: QueueOptions['onNotice']) {
  const tellNews = createWorkerNews({ onNotice });
  let announcedAt = Number.NEGATIVE_INFINITY;
  return async (): Promise<void> => {
    if (performance.now() - announcedAt < ANNOUNCE_MS) return;
    await registry.announce(run);
    tellNews(await registry.workersOf(run.id));
    if (run.identity.model === undefined) refuseSeveralModels(await registry.claims(run.id));
    announcedAt = performance.now();
  };
}

/** Nobody has said which of them is meant. */
function refuseSeveralModels([first, other]: readonly ModelClaim[]): void {
  if (!first || !other) return;
  const both = [first, other].map(({ model, worker }) => `"${model}" (${worker})`).join(' and ');
  const advice = 'Say by --model which one is meant, and go on with --resume where cases are done already.';
  throw new WinnowError('invalid_option', `The workers of this run have different models: ${both}. ${advice}`);
}
