/** From the set-up of a run to a dispatcher that hands its cases to workers. */
import type { Dispatcher } from '../evaluation/dispatcher.js';
import type { QueuedRun } from '../evaluation/queue/queued-run.js';
import type { EvalFlags } from './eval-options.js';
import type { EvaluationSetup } from './eval-setup.js';
import { DEFAULT_WINDOW } from './queue-options.js';

export interface QueueContext {
  /** Of Winnow. */
  version: string;
  onStablePart: (hash: string, text: string) => void;
  onNotice: (text: string) => void;
}

/** The library of the queue is loaded only where there is one. */
export async function queueDispatcherOf(
  setup: EvaluationSetup,
  flags: EvalFlags,
  { version, onStablePart, onNotice }: QueueContext,
): Promise<Dispatcher> {
  const { createQueueDispatcher } = await import('../evaluation/queue/queue-dispatcher.js');
  const { paceSchema, runIdOf } = await import('../evaluation/queue/queued-run.js');
  const { start, suites, options } = setup;
  const { queue: url = '', window = DEFAULT_WINDOW, rate, attempts, lostAfter, cache } = flags;
  const { prices, ...judging } = setup.judging;
  const lostAfterMs = lostAfter === undefined ? undefined : lostAfter * 1_000;
  const run: QueuedRun = {
    format: 1,
    id: runIdOf(start.name, start.startedAt),
    name: start.name,
    startedAt: start.startedAt,
    identity: { version, model: start.model, prompts: start.promptHashes },
    catalogs: Object.fromEntries(suites.map(({ name, catalog }) => [name, catalog.fingerprint])),
    options,
    judging,
    cache,
    pace: paceSchema.parse({ attempts, lostAfterMs, ...(rate ? { rate } : {}) }),
  };
  return createQueueDispatcher({ url, run, window, prices, onStablePart, onNotice });
}
