/** Which model: flags win over the environment, the environment over the configuration file. */
import type { ConfigFile, ModelBlock } from '../config/config-file.js';
import { readEnvironment, readVariable } from '../config/environment.js';
import { WinnowError } from '../errors.js';
import type { ModelSettings } from '../model/create-model.js';
import type { SharedFlags } from './shared-options.js';

/** @throws WinnowError `invalid_option` for an endpoint without a model, or a variable that is not set */
export function modelSettings(flags: SharedFlags, config: ConfigFile): ModelSettings {
  const environment = readEnvironment();
  const ofFile = environment.modelFile === undefined ? config.model?.baseUrl : undefined;
  const file =
    flags.modelFile ?? (flags.baseUrl === undefined ? (environment.modelFile ?? config.model?.file) : undefined);
  const baseUrl = flags.baseUrl ?? (flags.modelFile === undefined ? (environment.baseUrl ?? ofFile) : undefined);
  const model = flags.model ?? environment.model ?? config.model?.name;
  if (baseUrl !== undefined && model === undefined) {
    throw new WinnowError(
      'invalid_option',
      'The endpoint needs the name of a model: --model, WINNOW_MODEL or model.name.',
    );
  }
  const apiKeyEnv = flags.apiKeyEnv ?? config.model?.apiKeyEnv;
  return blockSettings({ ...config.model, baseUrl, name: model, file, apiKeyEnv });
}

/** A block of the configuration file as it is. */
export function blockSettings({ baseUrl, name, file, apiKeyEnv, ...limits }: ModelBlock): ModelSettings {
  return {
    baseUrl,
    model: name,
    apiKey: apiKeyEnv === undefined ? readVariable('WINNOW_API_KEY') : requireVariable(apiKeyEnv),
    modelFile: baseUrl === undefined ? file : undefined,
    contextTokens: limits.contextTokens,
    callTimeoutMs: limits.timeoutMs,
    threads: limits.threads,
  };
}

function requireVariable(name: string): string {
  const value = readVariable(name);
  if (value !== undefined) return value;
  throw new WinnowError('invalid_option', `--api-key-env: the environment variable ${name} is not set.`);
}
