/** The configuration file: YAML or JSON, every key optional, unknown keys refused with their name. */
import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { messageOf, WinnowError } from '../errors.js';
import { parseAs } from '../parse.js';
import { REPLACEABLE_NAMES, type ReplaceableName } from '../prompts/prompt-table.js';
import { optionsSchema } from './options.js';

const promptPaths = Object.fromEntries(REPLACEABLE_NAMES.map((name) => [name, z.string().optional()])) as Record<
  ReplaceableName,
  z.ZodOptional<z.ZodString>
>;
const settings = z.record(z.string(), z.unknown());

const modelSchema = z.strictObject({
  baseUrl: z.url().optional(),
  name: z.string().optional(),
  apiKeyEnv: z
    .string()
    .optional()
    .describe('Name of the environment variable with the key; keys do not belong in files.'),
  file: z.string().optional().describe('A GGUF file, relative to this file.'),
  contextTokens: z.int().min(512).optional(),
  timeoutMs: z
    .int()
    .min(1)
    .optional()
    .describe('Endpoint: longest time of one call with its retries, in milliseconds.'),
  temperature: z.number().min(0).optional().describe('Endpoint. Default: 0.'),
  maxRetries: z.int().min(0).optional().describe('Endpoint: further attempts of a call that may pass. Default: 2.'),
  retryDelayMs: z
    .int()
    .min(0)
    .optional()
    .describe('Endpoint: pause before the first of them; it doubles. Default: 500.'),
  logprobs: z.boolean().optional().describe('Endpoint: ask for the probability of each written token. Default: false.'),
  headers: z
    .record(z.string(), z.string())
    .optional()
    .describe('Endpoint: sent with each request; ${NAME} stands for a variable of the environment.'),
  extraBody: settings.optional().describe('Endpoint: further fields of each request body.'),
  threads: z.int().min(1).optional().describe('Local model. Default: the cores that are there.'),
});
export type ModelBlock = z.infer<typeof modelSchema>;

const configSchema = z.strictObject({
  catalog: z
    .array(z.string().min(1), { error: 'a list is expected, also of one source: [tools.json]' })
    .min(1)
    .optional()
    .describe('Sources of tools; paths are relative to this file.'),
  strict: z.boolean().optional(),
  sourceTimeoutMs: z
    .int()
    .min(1)
    .max(2 ** 31 - 2_000)
    .optional()
    .describe('For one URL, or one MCP server from its start to its last page, in milliseconds. Default: 30,000.'),
  model: modelSchema.optional(),
  planningModel: modelSchema
    .optional()
    .describe(
      'For planning. Without baseUrl and file: as `model`, but for what is named here. Default: `model` does both.',
    ),
  options: optionsSchema.partial().optional(),
  prompts: z.strictObject(promptPaths).optional(),
  callLog: z.string().optional().describe('File for one JSON line a model call; "off" by default.'),
  callLogSecrets: z
    .boolean()
    .optional()
    .describe('Log prompts whole, also where a visible tool has secret arguments. Default: false.'),
  logLevel: z.string().optional(),
  store: z.string().min(1).optional().describe('A SQLite file, or a postgres:// URL without a password.'),
  synonyms: z
    .string()
    .min(1)
    .optional()
    .describe('Words that stand for each other in a search for tools; a JSON file.'),
  policy: z.string().min(1).optional().describe('What agents may find, enable and run; a file of its own.'),
  toolsModule: z.string().min(1).optional().describe('A module whose functions run tools of their names.'),
  workerModule: z.string().min(1).optional().describe('The same, each call in a thread of its own.'),
  // Checked where they are used, so that what only plans does not load it.
  sessions: settings.optional().describe('How long sessions last; see src/routing/sessions/session-settings.ts.'),
  sandbox: settings.optional().describe('Time-outs, rates and room of calls; see src/execution/limits.ts.'),
  http: settings
    .optional()
    .describe('Hosts, base URLs and secrets of OpenAPI tools; see src/execution/executors/http.'),
  index: settings.optional().describe('The index of tools; see src/routing/index/index-settings.ts.'),
  rerank: z
    .looseObject({ model: modelSchema.optional().describe('One of its own. Default: the model that plans.') })
    .optional()
    .describe('A second opinion on what a search found; see src/routing/search/rerank.ts.'),
  adaptation: settings.optional().describe('Learning from use; see src/routing/adaptation/adaptation.ts.'),
});
export type ConfigFile = z.input<typeof configSchema>;

/** @throws WinnowError `invalid_option` naming file and key. */
export async function loadConfigFile(path: string): Promise<ConfigFile> {
  const { parse } = await import('yaml');
  let content: unknown;
  try {
    content = parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw new WinnowError('invalid_option', `The configuration file ${path} can't be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const problem = `The configuration file ${path} is not usable`;
  const config = parseAs(configSchema, content ?? {}, { code: 'invalid_option', problem, root: 'file' });
  return withPaths(onlyGiven(content, config), dirname(path));
}

/** The defaults of the options are filled in later, when flags have been added. */
function onlyGiven(content: unknown, config: ConfigFile): ConfigFile {
  const given =
    typeof content === 'object' && content !== null && 'options' in content ? Object.keys(Object(content.options)) : [];
  if (!config.options) return config;
  return {
    ...config,
    options: Object.fromEntries(Object.entries(config.options).filter(([name]) => given.includes(name))),
  };
}

function withPaths(config: ConfigFile, folder: string): ConfigFile {
  const at = (path: string): string => {
    const [, prefix, rest = ''] = /^((?:json|openapi|mcp|skills):)(.+)$/su.exec(path) ?? [];
    if (prefix !== undefined) return `${prefix}${at(rest)}`;
    return isAbsolute(path) || /^[a-z][a-z0-9+.-]*:/iu.test(path) ? path : resolve(folder, path);
  };
  const paths = (values: Record<string, string | undefined>) =>
    Object.fromEntries(
      Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, at(value)]])),
    );
  return {
    ...config,
    ...(config.catalog ? { catalog: config.catalog.map(at) } : {}),
    ...(config.model ? { model: withFile(config.model, at) } : {}),
    ...(config.planningModel ? { planningModel: withFile(config.planningModel, at) } : {}),
    ...(config.rerank?.model ? { rerank: { ...config.rerank, model: withFile(config.rerank.model, at) } } : {}),
    ...(config.prompts ? { prompts: paths(config.prompts) } : {}),
    ...paths(pick(config)),
    ...(config.callLog && config.callLog !== 'off' ? { callLog: at(config.callLog) } : {}),
  };
}

function withFile(model: ModelBlock, at: (path: string) => string): ModelBlock {
  return model.file === undefined ? model : { ...model, file: at(model.file) };
}

function pick(config: ConfigFile): Record<string, string | undefined> {
  const { store, synonyms, policy, toolsModule, workerModule } = config;
  return { store, synonyms, policy, toolsModule, workerModule };
}
