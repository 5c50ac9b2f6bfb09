/** Effective configuration: flags over environment over file over defaults, in the form of the file and without secrets. */

import { loadSynonyms } from '../agents/search/source-synonyms.js';
import { isObject } from '../core/catalog/schema/json.js';
import { resolveOptions } from '../core/options.js';
import { loadNamedPrompt, loadPrompts } from '../core/prompts/prompts.js';
import { createKeyMask, MASK, maskKeysIn, withoutUrlKeys } from '../core/secret-forms.js';
import { openPolicy } from './agents-setup.js';
import { readAuth } from './auth-setup.js';
import { requireModule } from './catalog-setup.js';
import { type ConfigFile, fillSections, type ModelBlock } from './config-file.js';
import { readConnections } from './connections-setup.js';
import type { ConfigFlags } from './flags.js';
import { configuredSecrets, modelSettings, planningModelSettings, rerankModelSettings } from './model-settings.js';
import { counted } from './output.js';
import { configPathOf, logLevelOf, readConfig, storePlaceOf } from './read-config.js';
import { endpointOf } from './tracing.js';

/**
 * Reads all but the sources, and calls no server.
 * @returns `file` is undefined where there is none
 * @throws WinnowError `invalid_option`, `prompt_invalid` for the first problem
 */
export async function readEffective(flags: ConfigFlags): Promise<{ file: string | undefined; config: object }> {
  const config = await readConfig(flags);
  planningModelSettings(config, modelSettings(config));
  rerankModelSettings(config);
  readAuth(config.auth);
  readConnections(config.connections);
  await readOwnFiles(config);
  requireModule('toolsModule', config.toolsModule);
  requireModule('workerModule', config.workerModule);
  await openPolicy(config.policy);
  storePlaceOf(config);
  const mask = createKeyMask(configuredSecrets(config));
  const effective = {
    ...config,
    strict: config.strict ?? false,
    model: config.model && withMaskedHeaders(config.model),
    planningModel: config.planningModel && withMaskedHeaders(config.planningModel),
    rerank: config.rerank && { ...config.rerank, model: config.rerank.model && withMaskedHeaders(config.rerank.model) },
    options: resolveOptions(config.options),
    logLevel: logLevelOf(config),
    tracing: { endpoint: endpointOf(config) },
    callLog: config.callLog ?? 'off',
    ...(await fillSections(config)),
  };
  return { file: configPathOf(flags), config: JSON.parse(maskKeysIn(mask(JSON.stringify(effective))), withoutKeys) };
}

/**
 * Reads the user's own prompts and synonyms.
 * @returns how many there are, in words
 * @throws WinnowError `prompt_invalid`, `invalid_option`
 */
export async function readOwnFiles(config: ConfigFile): Promise<string> {
  const { prompts = {} } = config;
  loadPrompts(prompts);
  loadNamedPrompt('rerank-tools', prompts['rerank-tools']);
  if (config.synonyms !== undefined) await loadSynonyms(config.synonyms);
  return `${counted(Object.keys(prompts).length, 'prompt')} of your own, synonyms: ${config.synonyms ?? 'none'}`;
}

/** A JSON replacer that removes keys from URLs in texts and property names. */
function withoutKeys(_: string, part: unknown): unknown {
  if (typeof part === 'string') return withoutUrlKeys(part);
  if (!isObject(part)) return part;
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [withoutUrlKeys(key), value]));
}

/** Shows a header only where it names a variable; any other may be a secret. */
function withMaskedHeaders<Block extends Pick<ModelBlock, 'headers'>>(block: Block): Block {
  const written = Object.entries(block.headers ?? {}).map(([name, text]) => [name, text.includes('${') ? text : MASK]);
  return block.headers === undefined ? block : { ...block, headers: Object.fromEntries(written) };
}
