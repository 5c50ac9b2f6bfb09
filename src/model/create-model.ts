/** Settings -> a model: an endpoint where one is set, else the embedded one. What is not used is not even loaded. */
import { join } from 'node:path';
import type { Model } from './model.js';
import type { PullProgress } from './store/progress.js';

export interface ModelSettings {
  /** An OpenAI-compatible endpoint; with it nothing local is loaded or downloaded. */
  baseUrl?: string | undefined;
  /** Name of the model at the endpoint, or of a model in the local store. */
  model?: string | undefined;
  apiKey?: string | undefined;
  /** A GGUF file of one's own. */
  modelFile?: string | undefined;
  contextTokens?: number | undefined;
  /** Of one call, in milliseconds. */
  callTimeoutMs?: number | undefined;
  threads?: number | undefined;
}

export interface CreateModelHooks {
  onProgress?: ((progress: PullProgress) => void) | undefined;
  onNotice?: ((text: string) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/** @throws WinnowError `invalid_option`, `model_unavailable`, `cancelled` */
export async function createModel(settings: ModelSettings, hooks: CreateModelHooks = {}): Promise<Model> {
  const { baseUrl, model, apiKey, contextTokens, callTimeoutMs, threads } = settings;
  if (baseUrl !== undefined) {
    const { createOpenAIModel } = await import('./openai/openai-model.js');
    return createOpenAIModel({
      baseUrl,
      model: model ?? '',
      apiKey,
      ...(contextTokens === undefined ? {} : { contextTokens }),
      ...(callTimeoutMs === undefined ? {} : { timeoutMs: callTimeoutMs }),
    });
  }
  const { createEmbeddedModel } = await import('./embedded/embedded-model.js');
  const { cacheFolder } = await import('./store/cache-folder.js');
  const modelFile = settings.modelFile ?? (await fetchModel(model, hooks));
  return createEmbeddedModel({
    modelFile,
    contextTokens,
    threads,
    prefixFolder: join(cacheFolder(), 'prefixes'),
    onWarning: hooks.onNotice,
  });
}

async function fetchModel(
  name: string | undefined,
  { onProgress, onNotice, signal }: CreateModelHooks,
): Promise<string> {
  const { ensureModel } = await import('./store/ensure-model.js');
  const { path } = await ensureModel({ name, onProgress, onNotice, signal });
  return path;
}
