/** What an operator should know of before the first request: what in policy and limits has no effect, and which weights hold. */
import { isDeepStrictEqual } from 'node:util';
import type { IndexStatus } from '../routing/index/tool-index.js';
import type { Logger } from '../routing/logging/logger.js';
import { checkPolicy } from '../routing/policy/check-policy.js';
import type { Agents } from '../server/agents/agents.js';
import type { ConfigFile } from './config-file.js';

export interface StartFacts {
  agents: Agents;
  config: ConfigFile;
  /** Undefined: no file holds the policy. */
  policyPath: string | undefined;
  /** Weights of the index as the configuration has them, with the defaults. */
  weights: IndexStatus['weights'];
}

export function tellAtStart(
  { agents, config, policyPath, weights }: StartFacts,
  logger: Pick<Logger, 'debug' | 'info' | 'warn'>,
): void {
  if (policyPath !== undefined)
    for (const { level, message } of checkPolicy(agents.policy(), agents.catalog().tools))
      logger[level === 'unchecked' ? 'debug' : 'warn']({ policy: policyPath }, message);
  for (const problem of agents.checkLimits()) logger.warn(problem);
  const given = agents.index.status().weights;
  if (isDeepStrictEqual(given, weights)) return;
  // Who has changed the configuration must see why nothing has changed.
  const isOverruled = config.index?.weights !== undefined;
  const back = 'POST /v1/index/rebuild with {"weights": null} goes back to those of the configuration';
  logger[isOverruled ? 'warn' : 'info']({ weights: given }, `the weights of the index are those in the store: ${back}`);
}
