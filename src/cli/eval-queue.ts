/** Workers on any machines run the cases and report their model; this process opens none. */

import { readVersion } from '../core/environment.js';
import { loadOptional } from '../core/optional-package.js';
import { pairId } from '../eval/prices.js';
import type { ConfigFile } from './config-file.js';
import type { Evaluator } from './eval-evaluator.js';
import { DEFAULT_WINDOW, QUEUE_PACKAGES } from './eval-options.js';
import type { RunIdentity } from './eval-settings.js';
import type { EvaluationSetup } from './eval-setup.js';
import { isStoreName } from './model-settings.js';

/**
 * Loads the queue's library only when a queue is used.
 * @throws WinnowError `store_failed`, `invalid_option`, `cancelled`
 */
export async function openQueueEvaluator(
  setup: EvaluationSetup,
  run: RunIdentity,
  { onNotice, signal }: { onNotice: (text: string) => void; signal: AbortSignal },
): Promise<Evaluator> {
  const { openQueueCommand } = await loadOptional(() => import('../eval/queue/queue-command.js'), QUEUE_PACKAGES);
  const { paceSchema, runIdOf } = await import('../eval/queue/queued-run.js');
  const { flags, config, suites, options, promptHashes } = setup;
  const { queue: url = '', window = DEFAULT_WINDOW, rate, attempts, lostAfter, cache } = flags;
  const { earlier, name, startedAt, judging } = run;
  const model = earlier?.model ?? modelNameOf(config);
  // Only a worker can resolve a name of the store to a file.
  const isName = model !== undefined && isStoreName(model);
  const lostAfterMs = lostAfter === undefined ? undefined : lostAfter * 1_000;
  const command = await openQueueCommand({
    url,
    run: {
      format: 3,
      id: runIdOf(name, startedAt),
      name,
      startedAt,
      identity: {
        version: readVersion(),
        prompts: { ...promptHashes },
        ...(model === undefined || isName ? {} : { model }),
      },
      ...(isName ? { modelName: model } : {}),
      catalogs: Object.fromEntries(suites.map((suite) => [suite.name, suite.catalog.fingerprint])),
      options,
      judging,
      cache,
      pace: paceSchema.parse({ attempts, lostAfterMs, ...(rate ? { rate } : {}) }),
    },
    onNotice,
  });
  try {
    return {
      model: await command.model(signal),
      dispatcher: ({ prices, onStablePart }) => command.dispatcher({ window, prices, onStablePart }),
      close: async () => command.close(),
    };
  } catch (error) {
    command.close();
    throw error;
  }
}

/** The workers' name of the model. Undefined: the first worker names it, as for a file, which only a worker can read. */
function modelNameOf({ model: { name, file } = {}, planningModel }: ConfigFile): string | undefined {
  if (name === undefined || file !== undefined) return name;
  return pairId(name, planningModel && (planningModel.name ?? name));
}
