/** The second opinion on what a search found: its settings from flags and file, and the model that gives it. */

import { withCallLog } from '../agents/logging/call-log.js';
import { createRerank, parseRerankSettings, type RerankOptions } from '../agents/search/rerank.js';
import { WinnowError } from '../core/errors.js';
import type { Model } from '../core/model/model.js';
import type { ModelBlock } from './config-file.js';
import type { DiscoveryFlags } from './discovery-options.js';
import { blockSettings } from './model-settings.js';
import { openModel, promptPaths, type Setup } from './set-up.js';
import type { SharedFlags } from './shared-options.js';

export interface RerankSetup
  extends Pick<Setup, 'config' | 'model' | 'callLog' | 'logger'>,
    Partial<Pick<Setup, 'localModels'>> {
  flags: DiscoveryFlags & Pick<SharedFlags, 'prompt'>;
  stderr: NodeJS.WriteStream;
  signal?: AbortSignal | undefined;
}

export interface OpenRerank {
  /** Undefined: switched off. */
  readonly rerank: RerankOptions | undefined;
  /** Closes the model, where it is one of its own. */
  close(): Promise<void>;
}

/** @throws WinnowError `invalid_option`, `prompt_invalid`, `model_unavailable` */
export async function openRerank({ flags, config, logger, ...setup }: RerankSetup): Promise<OpenRerank> {
  const { model: block, ...given } = config.rerank ?? {};
  const settings = parseRerankSettings({ ...given, ...ofFlags(flags) });
  const own = settings.enabled && block ? await openOwn(block, setup) : undefined;
  const rerank = createRerank(own ?? setup.model, {
    settings,
    prompts: promptPaths(flags, config),
    onFailure: ({ code, message }) => logger.warn({ code }, `no second opinion on a search: ${message}`),
  });
  return { rerank, close: async () => own?.close() };
}

async function openOwn(
  block: ModelBlock,
  { callLog, ...context }: Pick<RerankSetup, 'callLog' | 'stderr' | 'signal' | 'localModels'>,
): Promise<Model> {
  if (block.baseUrl !== undefined && block.name === undefined)
    throw new WinnowError('invalid_option', 'rerank.model.name: the endpoint needs the name of a model.');
  return withCallLog(await openModel(blockSettings(block, { place: 'rerank.model' }), context), callLog);
}

function ofFlags({ rerank, rerankTimeout, rerankConfidence }: DiscoveryFlags): Record<string, unknown> {
  return {
    ...(rerank === undefined ? {} : { enabled: rerank }),
    ...(rerankTimeout === undefined ? {} : { timeoutMs: rerankTimeout }),
    ...(rerankConfidence === undefined ? {} : { minConfidence: rerankConfidence }),
  };
}
