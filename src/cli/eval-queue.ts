/** Workers on any machines run the cases with their model; this process opens none. */

import { readVersion } from '../core/environment.js';
import { DEFAULT_MODEL } from '../core/model/store/sources.js';
import { loadOptional } from '../core/optional-package.js';
import { pairId } from '../eval/run-summary.js';
import { QUEUE_PACKAGES } from './eval-options.js';
import type { Evaluator, RunIdentity } from './eval-settings.js';
import type { EvaluationSetup } from './eval-setup.js';

/**
 * Loads the queue's library only when a queue is used.
 * @throws WinnowError `store_failed`, `invalid_option`
 */
export async function openQueueEvaluator(
  { flags, config, suites, options, promptHashes }: EvaluationSetup,
  { earlier, name, startedAt, judging }: RunIdentity,
  onNotice: (text: string) => void,
): Promise<Evaluator> {
  const { openQueueCommand } = await loadOptional(() => import('../eval/queue/queue-command.js'), QUEUE_PACKAGES);
  const { paceSchema, runIdOf } = await import('../eval/queue/queued-run.js');
  const { queue: url = '', cache } = flags;
  const { model: { name: selecting = DEFAULT_MODEL.name } = {}, planningModel } = config;
  const model = earlier?.model ?? pairId(selecting, planningModel && (planningModel.name ?? selecting));
  const command = await openQueueCommand({
    url,
    run: {
      format: 4,
      id: runIdOf(name, startedAt),
      name,
      startedAt,
      identity: { version: readVersion(), prompts: { ...promptHashes }, model },
      catalogs: Object.fromEntries(suites.map((suite) => [suite.name, suite.catalog.fingerprint])),
      options,
      judging,
      cache,
      pace: paceSchema.parse({}),
    },
    onNotice,
  });
  return {
    model,
    dispatcher: ({ onStablePart }) => command.dispatcher({ onStablePart }),
    close: async () => command.close(),
  };
}
