/** Settings -> a model: an endpoint where one is set, else the embedded one. What is not used is not even loaded. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { WinnowError } from '../errors.js';
import type { LocalModels } from './local-models.js';
import type { Model } from './model.js';
import type { OpenAIModelOptions } from './openai/options.js';
import type { PullProgress } from './store/ensure-model.js';

/** What only an endpoint has is without effect on the local model, which `onNotice` is told. */
export interface ModelSettings extends Omit<OpenAIModelOptions, 'baseUrl' | 'model' | 'timeoutMs'> {
  /** An OpenAI-compatible endpoint; with it nothing local is loaded or downloaded. */
  baseUrl?: string | undefined;
  /** Name of the model at the endpoint, or of a model in the local store. */
  model?: string | undefined;
  /** A GGUF file of one's own. */
  modelFile?: string | undefined;
  /** Endpoint: longest time of one call with its retries, in milliseconds. Default: 60,000. */
  callTimeoutMs?: number | undefined;
  /** Local model. Default: the cores that are there. */
  threads?: number | undefined;
}

export interface CreateModelHooks {
  onProgress?: ((progress: PullProgress) => void) | undefined;
  onNotice?: ((text: string) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** A local model that is open here already, with the same file, context and threads, is shared. Default: none is. */
  localModels?: LocalModels | undefined;
}

/** @throws WinnowError `invalid_option`, `model_unavailable`, `cancelled` */
export async function createModel(settings: ModelSettings, hooks: CreateModelHooks = {}): Promise<Model> {
  const { modelFile: file, threads, callTimeoutMs: timeoutMs, baseUrl, model, contextTokens, ...ofEndpoint } = settings;
  if (baseUrl !== undefined) {
    if (file !== undefined)
      hooks.onNotice?.(`The endpoint ${baseUrl} is used: without effect is the model file ${file}.`);
    const { createOpenAIModel } = await import('./openai/openai-model.js');
    return createOpenAIModel({ ...ofEndpoint, baseUrl, model: model ?? '', contextTokens, timeoutMs });
  }
  const { apiKey: _, ...unused } = { ...ofEndpoint, callTimeoutMs: timeoutMs };
  const names = Object.entries(unused).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (names.length > 0)
    hooks.onNotice?.(`Only an endpoint has ${names.join(', ')}: without effect on the local model.`);
  if (file !== undefined && !existsSync(file))
    throw new WinnowError('model_unavailable', `There is no model file ${file}. Correct the path, or leave it out.`);
  const { createEmbeddedModel } = await import('./embedded/embedded-model.js');
  const { importLibrary } = await import('./embedded/runtime.js');
  const { cacheFolder } = await import('./store/stored-model.js');
  // Before a gigabyte is fetched that could not be used.
  await importLibrary();
  const modelFile = file ?? (await fetchModel(model, hooks));
  const weights = { modelFile: resolve(modelFile), contextTokens, threads };
  const prefixFolder = join(cacheFolder(), 'prefixes');
  const load = () => createEmbeddedModel({ ...weights, prefixFolder, onWarning: hooks.onNotice });
  return hooks.localModels ? hooks.localModels.open(JSON.stringify(weights), load) : load();
}

async function fetchModel(
  name: string | undefined,
  { onProgress, onNotice, signal }: CreateModelHooks,
): Promise<string> {
  const { ensureModel } = await import('./store/ensure-model.js');
  const { path } = await ensureModel({ name, onProgress, onNotice, signal });
  return path;
}
