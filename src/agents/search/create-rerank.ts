/** A model, settings and the prompt files in use -> what `tool_search` takes as a second opinion. */
import type { Model } from '../../core/model/model.js';
import { loadNamedPrompt, type PromptPaths } from '../../core/prompts/prompts.js';
import type { RerankOptions, RerankSettings } from './rerank.js';

export interface CreateRerankOptions extends Pick<RerankOptions, 'onFailure' | 'onUsage'> {
  settings: RerankSettings;
  /** Files in place of those in `prompts/`. */
  prompts?: PromptPaths | undefined;
}

/**
 * Undefined where the settings switch it off. @throws WinnowError `prompt_invalid`
 * @example
 * const discovery = createDiscovery({
 *   catalog: () => catalog,
 *   rerank: createRerank(model, { settings: { enabled: true, minConfidence: 0.65, timeoutMs: 8_000 } }),
 * });
 */
export function createRerank(
  model: Model,
  { settings: { enabled, ...limits }, prompts, ...told }: CreateRerankOptions,
): RerankOptions | undefined {
  if (!enabled) return undefined;
  const prompt = loadNamedPrompt('rerank-tools', prompts?.['rerank-tools']);
  return { model, prompt, repair: loadNamedPrompt('repair', prompts?.repair), ...limits, ...told };
}
