/** The configuration file: YAML or JSON. Every key is optional; an unknown key is refused with the nearest known one. */
import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { messageOf, WinnowError } from '../core/errors.js';
import { optionsSchema } from '../core/options.js';
import { parseAs } from '../core/parse.js';
import { REPLACEABLE_NAMES, type ReplaceableName } from '../core/prompts/prompts.js';

type PathSchema = z.ZodType<string, string>;

const settings = z.record(z.string(), z.unknown());

const modelSchema = (path: PathSchema) =>
  z.strictObject({
    baseUrl: z.url().optional(),
    name: z.string().optional(),
    apiKeyEnv: z.string().optional().describe('Environment variable with the key; keys do not belong in files.'),
    file: path.optional().describe('A GGUF file.'),
    contextTokens: z.int().min(512).optional(),
    timeoutMs: z.int().min(1).optional().describe('Endpoint: longest time of a call with its retries, in ms.'),
    temperature: z.number().min(0).optional().describe('Endpoint. Default: 0.'),
    maxRetries: z.int().min(0).optional().describe('Endpoint: further attempts of a call that may pass. Default: 2.'),
    retryDelayMs: z.int().min(0).optional().describe('Endpoint: first pause between them; it doubles. Default: 500.'),
    logprobs: z.boolean().optional().describe('Endpoint: ask for the probability of each token. Default: false.'),
    headers: z
      .record(z.string(), z.string())
      .optional()
      .describe('Endpoint: sent with each request; ${NAME} stands for a variable of the environment.'),
    extraBody: settings.optional().describe('Endpoint: further fields of each request body.'),
    threads: z.int().min(1).optional().describe('Local model. Default: the cores that are there.'),
  });

const promptsSchema = (path: PathSchema) => {
  const entries = REPLACEABLE_NAMES.map((name) => [name, path.optional()]);
  return z.strictObject(Object.fromEntries(entries) as Record<ReplaceableName, z.ZodOptional<PathSchema>>);
};

/** @param path gives a path of the file as it is from anywhere */
const configSchema = (path: PathSchema) =>
  z.strictObject({
    catalog: z
      .array(path, { error: 'a list is expected, also of one source: [tools.json]' })
      .min(1)
      .optional()
      .describe('Sources of tools.'),
    strict: z.boolean().optional(),
    sourceTimeoutMs: z
      .int()
      .min(1)
      .max(2 ** 31 - 2_000)
      .optional()
      .describe('For one URL, or one MCP server from its start to its last page, in ms. Default: 30,000.'),
    model: modelSchema(path).optional(),
    planningModel: modelSchema(path)
      .optional()
      .describe('For planning. Without baseUrl and file it is `model`, but for what is named. Default: `model`.'),
    options: optionsSchema.partial().optional(),
    prompts: promptsSchema(path).optional(),
    auth: settings.optional().describe('Who may ask `winnow serve`, and by what proof; see src/cli/auth-setup.ts.'),
    callLog: z.literal('off').or(path).optional().describe('File for one JSON line a model call. Default: "off".'),
    callLogSecrets: z
      .boolean()
      .optional()
      .describe('Log prompts whole, also where a visible tool has secret arguments. Default: false.'),
    logLevel: z.string().optional(),
    store: path.optional().describe('A SQLite file, or a postgres:// URL without a password.'),
    synonyms: path.optional().describe('A JSON file of words that stand for each other in a search for tools.'),
    policy: path.optional().describe('What agents may find, enable and run; a file of its own.'),
    reviewNew: z
      .boolean()
      .optional()
      .describe('Also the tools of a source seen for the first time wait for a look. Default: false.'),
    toolsModule: path.optional().describe('A module whose functions run tools of their names.'),
    workerModule: path.optional().describe('The same, each call in a thread of its own.'),
    // Checked where they are used, so that what only plans does not load it.
    sessions: settings.optional().describe('How long sessions last; see src/agents/sessions/session-settings.ts.'),
    retention: settings.optional().describe('Days that records last; see src/agents/retention.ts.'),
    quotas: settings.optional().describe('How much one user may take; see src/agents/quotas.ts.'),
    sandbox: settings.optional().describe('Time-outs, rates and room of calls; see src/agents/sandbox/limits.ts.'),
    http: settings.optional().describe('Hosts, base URLs and secrets of OpenAPI tools; see executors/http.'),
    index: settings.optional().describe('The index of tools; see src/agents/index/index-settings.ts.'),
    rerank: z
      .looseObject({ model: modelSchema(path).optional().describe('Default: the model that plans.') })
      .optional()
      .describe('A second opinion on what a search found; see src/agents/search/rerank.ts.'),
    adaptation: settings.optional().describe('Learning from use; see src/agents/adaptation/adaptation.ts.'),
  });

export type ConfigFile = z.output<ReturnType<typeof configSchema>>;
export type ModelBlock = NonNullable<ConfigFile['model']>;

/** Relative paths of the file are resolved from its folder. @throws WinnowError `invalid_option` naming file and key. */
export async function loadConfigFile(path: string): Promise<ConfigFile> {
  const { parse } = await import('yaml');
  let content: unknown;
  try {
    content = parse(await readFile(path, 'utf8')) ?? {};
  } catch (cause) {
    const message = `The configuration file ${path} can't be read: ${messageOf(cause)}`;
    throw new WinnowError('invalid_option', message, { cause });
  }
  const fromFolder = z
    .string()
    .min(1)
    .transform((text) => resolveFrom(dirname(path), text));
  const problem = `The configuration file ${path} is not usable`;
  const config = parseAs(configSchema(fromFolder), content, { code: 'invalid_option', problem, root: 'file' });
  // Only the options that were given: the defaults are filled in when flags have been added.
  const { options }: ConfigFile = Object(content);
  return options ? { ...config, options } : config;
}

/** A URL and an absolute path stay as they are; the prefix of a kind of source stays before its path. */
function resolveFrom(folder: string, text: string): string {
  const [, prefix = '', path = ''] = /^((?:(?:json|openapi|mcp|skills):)*)(.+)$/su.exec(text) ?? [];
  const isWhole = isAbsolute(path) || /^[a-z][a-z0-9+.-]*:/iu.test(path);
  return isWhole ? text : `${prefix}${resolve(folder, path)}`;
}
