/** Settings of models from the configuration, with their keys. */
import { readVariable } from '../core/environment.js';
import { WinnowError } from '../core/errors.js';
import type { ModelSettings } from '../core/model/create-model.js';
import { DEFAULT_MODEL } from '../core/model/store/sources.js';
import type { ConfigFile, ModelBlock } from './config-file.js';

const OPENAI = { variable: 'OPENAI_API_KEY', baseUrl: 'https://api.openai.com/v1' };

/** @throws WinnowError `invalid_option` for an endpoint without a model, or a variable that is not set */
export function modelSettings({ model = {} }: Pick<ConfigFile, 'model'>): ModelSettings {
  const { name, file, baseUrl: named } = model;
  // A name outside the store together with an OpenAI key means OpenAI's model.
  const isTheirs = named === undefined && file === undefined && name !== undefined && !isStoreName(name);
  const apiKey = isTheirs ? readVariable(OPENAI.variable) : undefined;
  const baseUrl = named ?? (apiKey === undefined ? undefined : OPENAI.baseUrl);
  if (baseUrl !== undefined && name === undefined) throw unnamed('', '--model, WINNOW_MODEL or model.name');
  return blockSettings({ ...model, baseUrl }, { place: 'model', apiKey });
}

/**
 * Undefined: one model does both. A block without endpoint and file overrides settings of the selection model.
 * @throws WinnowError `invalid_option` as `modelSettings` does
 */
export function planningModelSettings(
  { planningModel: block = {} }: Pick<ConfigFile, 'planningModel'>,
  selection: ModelSettings,
): ModelSettings | undefined {
  if (Object.values(block).every((value) => value === undefined)) return undefined;
  const { baseUrl, name, file } = block;
  if (baseUrl !== undefined && name === undefined) throw unnamed('of planning ', 'planningModel.name');
  const place = 'planningModel';
  if (baseUrl !== undefined || file !== undefined) return blockSettings(block, { place });
  const own = blockSettings({ ...block, baseUrl: selection.baseUrl }, { place, fallbackKey: selection.apiKey });
  const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  return { ...selection, ...given, ...(name === undefined ? {} : { modelFile: undefined }) };
}

/** Settings of the reranking model. Undefined: reranking is off, or the planning model does it. */
export function rerankModelSettings({ rerank }: Pick<ConfigFile, 'rerank'>): ModelSettings | undefined {
  const block = rerank?.enabled === true ? rerank.model : undefined;
  if (block?.baseUrl !== undefined && block.name === undefined) throw unnamed('of searches ', 'rerank.model.name');
  return block && blockSettings(block, { place: 'rerank.model' });
}

function unnamed(whose: string, places: string): WinnowError {
  return new WinnowError('invalid_option', `The endpoint ${whose}needs the name of a model: ${places}.`);
}

interface BlockContext {
  /** The block's key in the file, for errors. */
  place: string;
  /** Overrides the variable that the block names. */
  apiKey?: string | undefined;
  /** Used where neither gives a key. Default: that of `WINNOW_API_KEY`. */
  fallbackKey?: string | undefined;
}

/** Settings of one block of the file. @throws WinnowError `invalid_option` for a variable that is not set */
function blockSettings(block: ModelBlock, { place, apiKey, fallbackKey }: BlockContext): ModelSettings {
  const { baseUrl, name: model, file, apiKeyEnv, timeoutMs: callTimeoutMs, headers, ...others } = block;
  if (baseUrl !== undefined && file !== undefined)
    throw new WinnowError('invalid_option', `${place}: an endpoint and a file are two models: name one of them.`);
  // Without an endpoint no secret is needed.
  if (baseUrl === undefined) return { ...others, baseUrl, model, modelFile: file, callTimeoutMs, headers };
  const named = apiKey ?? (apiKeyEnv && requireVariable(apiKeyEnv, `${place}.apiKeyEnv`));
  return {
    ...others,
    baseUrl,
    model,
    apiKey: named ?? fallbackKey ?? readVariable('WINNOW_API_KEY'),
    callTimeoutMs,
    headers: headers && expandHeaders(headers, `${place}.headers`),
  };
}

/** A header names the variable that holds its key. */
const HEADER_VARIABLE = /\$\{(\w+)\}/gu;

/** Values to mask in logs: each key, and each variable that a header names. */
export function configuredSecrets(config: ConfigFile): string[] {
  const blocks = [config.model, config.planningModel, config.rerank?.model];
  const headers = blocks.flatMap((block) => Object.values(block?.headers ?? {}));
  const variables = [
    ...['WINNOW_API_KEY', OPENAI.variable],
    ...blocks.map((block) => block?.apiKeyEnv),
    ...headers.flatMap((text) => [...text.matchAll(HEADER_VARIABLE)].map(([, name]) => name)),
  ];
  return variables.flatMap((name) => (name && readVariable(name)) ?? []);
}

function expandHeaders(headers: Readonly<Record<string, string>>, place: string): Record<string, string> {
  const expand = ([name, text]: [string, string]) => [
    name,
    text.replace(HEADER_VARIABLE, (_, variable: string) => requireVariable(variable, `${place}.${name}`)),
  ];
  return Object.fromEntries(Object.entries(headers).map(expand));
}

function requireVariable(name: string, place: string): string {
  const value = readVariable(name);
  if (value !== undefined) return value;
  throw new WinnowError('invalid_option', `${place}: the environment variable ${name} is not set.`);
}

/** Whether the local store has the name; runs are identified by the file's id instead. */
export function isStoreName(name: string): boolean {
  return name === DEFAULT_MODEL.name;
}

/** The store's name for a file id. Undefined: the store does not have it, or an endpoint serves the model. */
export function storeNameOf(id: string): string | undefined {
  const { file, bytes, name } = DEFAULT_MODEL;
  const start = `${file}:${bytes}:`;
  return id.startsWith(start) && /^[\da-f]{16}$/u.test(id.slice(start.length)) ? name : undefined;
}
