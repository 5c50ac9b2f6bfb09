/** What holds for a command: flags over environment over file over defaults, in the form of the file and without a secret. */

import { optionsSchema } from '../core/options.js';
import { createKeyMask, MASK, maskKeysIn } from '../core/secret-forms.js';
import { openPolicy } from './agents-setup.js';
import { readAuth } from './auth-setup.js';
import { type ConfigFile, fillSections } from './config-file.js';
import type { AgentFlags, PlanningFlags } from './flags.js';
import { configuredSecrets, modelSettings, planningModelSettings } from './model-settings.js';
import { configPathOf, logLevelOf, readConfig, storePlaceOf } from './read-config.js';
import { plannerOptions, promptPaths } from './set-up.js';

type Flags = PlanningFlags & AgentFlags;

export interface EffectiveConfig {
  /** Undefined: there is none. */
  readonly file: string | undefined;
  readonly config: Readonly<Record<string, unknown>>;
}

/** Reads all of it but sources, and asks no server. @throws WinnowError `invalid_option` for the first thing that is wrong */
export async function readEffective(flags: Flags): Promise<EffectiveConfig> {
  const config = await readConfig(flags);
  const model = modelSettings(flags, config);
  const planningModel = planningModelSettings(config, model);
  const sections = await fillSections(config);
  readAuth(config.auth);
  const policy = flags.policy ?? config.policy;
  await openPolicy(policy);
  const mask = createKeyMask(configuredSecrets(flags, config));
  const effective = {
    ...config,
    catalog: flags.catalog ?? config.catalog,
    strict: flags.strict ?? config.strict ?? false,
    model: withoutSecrets(model, config.model),
    planningModel: planningModel && withoutSecrets(planningModel, config.planningModel),
    options: optionsSchema.parse({ ...config.options, ...plannerOptions(flags) }),
    prompts: promptPaths(flags, config),
    logLevel: logLevelOf(config),
    store: renderStore(storePlaceOf(flags, config)),
    policy,
    toolsModule: flags.toolsModule ?? config.toolsModule,
    callLog: flags.callLog ?? config.callLog ?? 'off',
    ...sections,
  };
  return { file: configPathOf(flags), config: JSON.parse(maskKeysIn(mask(JSON.stringify(effective)))) };
}

/** A header stands as the file has it, if it names a variable; else nobody can tell whether it is a secret. */
function withoutSecrets(model: ReturnType<typeof modelSettings>, block: ConfigFile['model']) {
  const { apiKey, headers, model: name, modelFile: file, callTimeoutMs: timeoutMs, ...settings } = model;
  const written = Object.entries(block?.headers ?? {}).map(([name, text]) => [name, text.includes('${') ? text : MASK]);
  return {
    ...{ name, file, timeoutMs, ...settings },
    ...(apiKey === undefined ? {} : { apiKey: MASK }),
    ...(headers === undefined ? {} : { headers: Object.fromEntries(written) }),
  };
}

function renderStore(place: ReturnType<typeof storePlaceOf>): string | undefined {
  if (!place || 'file' in place) return place?.file;
  if (!URL.canParse(place.url)) return MASK;
  const url = new URL(place.url);
  // A password may also stand among the parameters.
  url.search = '';
  const password = url.password === '' ? '' : `:${MASK}`;
  url.password = '';
  return url.href.replace('@', `${password}@`);
}
