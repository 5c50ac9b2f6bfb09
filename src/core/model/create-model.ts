/** Makes a model from settings: an endpoint if one is set, else the embedded model. Unused code is not loaded. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { WinnowError } from '../errors.js';
import { parseOptions } from '../parse.js';
import { withoutUrlKeys } from '../secret-forms.js';
import type { Model } from './model.js';
import { type OpenAIModelOptions, optionsSchema } from './openai/options.js';
import type { EnsureModelOptions } from './store/model-file.js';

/** Settings that the model does not use have no effect; `onNotice` reports them. */
export interface ModelSettings extends Omit<OpenAIModelOptions, 'baseUrl' | 'model' | 'timeoutMs'> {
  /** An OpenAI-compatible endpoint; with it nothing local is loaded or downloaded. */
  baseUrl?: string | undefined;
  model?: string | undefined;
  modelFile?: string | undefined;
  /** Endpoint: longest time of one call including retries, in milliseconds. Default: 60,000. */
  callTimeoutMs?: number | undefined;
  /** Local model: number of threads. Default: the available cores. */
  threads?: number | undefined;
}

const NAMES = [
  ...Object.keys(optionsSchema.omit({ timeoutMs: true }).shape),
  ...['modelFile', 'callTimeoutMs', 'threads'],
];
/** Whichever model is made checks its own values. A misspelt name alone would be without effect. */
const namesSchema = z.strictObject(Object.fromEntries(NAMES.map((name) => [name, z.unknown().optional()])));

export interface CreateModelHooks extends Pick<EnsureModelOptions, 'onProgress' | 'onNotice' | 'signal'> {
  /** Shares open local models with the same file, context and threads. Default: none are shared. */
  localModels?: LocalModels | undefined;
}

/**
 * The model of an endpoint if `baseUrl` is set, else the local one.
 * @throws WinnowError `invalid_option`, `model_unavailable`, `cancelled`
 * @example
 * const local = await createModel({});
 * const remote = await createModel({ baseUrl: 'http://127.0.0.1:8080/v1', model: 'my-model' });
 */
export async function createModel(settings: ModelSettings, hooks: CreateModelHooks = {}): Promise<Model> {
  parseOptions(namesSchema, settings, 'model');
  const { modelFile: file, threads, callTimeoutMs, baseUrl, model, contextTokens, ...ofEndpoint } = settings;
  const { localModels, ...pull } = hooks;
  const others = baseUrl === undefined ? { ...ofEndpoint, callTimeoutMs } : { modelFile: file, threads };
  const unused = Object.entries({ ...others, apiKey: undefined });
  const names = unused.flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const used = baseUrl === undefined ? 'the local model' : `the endpoint ${withoutUrlKeys(baseUrl)}`;
  if (names.length > 0) hooks.onNotice?.(`Without effect on ${used}: ${names.join(', ')}.`);
  if (baseUrl !== undefined) {
    const { createOpenAIModel } = await import('./openai/openai-model.js');
    return createOpenAIModel({ ...ofEndpoint, baseUrl, model: model ?? '', contextTokens, timeoutMs: callTimeoutMs });
  }
  if (file !== undefined && !existsSync(file))
    throw new WinnowError('model_unavailable', `There is no model file ${file}. Correct the path, or leave it out.`);
  const { createEmbeddedModel } = await import('./embedded/embedded-model.js');
  const { importLibrary } = await import('./embedded/runtime.js');
  const { cacheFolder, ensureModel } = await import('./store/model-file.js');
  // Fails here if the runtime is missing, before a gigabyte is downloaded.
  await importLibrary();
  const modelFile = resolve(file ?? (await ensureModel({ name: model, ...pull })).path);
  const weights = { modelFile, contextTokens, threads };
  const prefixFolder = join(cacheFolder(), 'prefixes');
  const load = () => createEmbeddedModel({ ...weights, prefixFolder, onWarning: hooks.onNotice });
  return localModels ? localModels.open(JSON.stringify(weights), load) : load();
}

/** Open local models. Callers with the same weights share a model, and the last one to close it frees it. */
export interface LocalModels {
  /** @param key equal for the same weights, opened in the same way */
  open(key: string, load: () => Promise<Model>): Promise<Model>;
}

/**
 * Lets several `createModel` calls share the weights of one file in memory.
 * @example
 * const localModels = createLocalModels();
 * const small = await createModel({ contextTokens: 8_192 }, { localModels });
 */
export function createLocalModels(): LocalModels {
  const opened = new Map<string, { model: Promise<Model>; users: number }>();
  return {
    async open(key, load) {
      const shared = opened.get(key) ?? { model: load(), users: 0 };
      opened.set(key, shared);
      shared.users += 1;
      const forget = () => opened.get(key) === shared && opened.delete(key);
      const model = await shared.model.catch((error: unknown) => {
        forget();
        throw error;
      });
      let isLeft = false;
      const close = async () => {
        if (isLeft) return;
        isLeft = true;
        shared.users -= 1;
        if (shared.users > 0) return;
        forget();
        await model.close();
      };
      return { ...model, close };
    },
  };
}
