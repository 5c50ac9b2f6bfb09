/** One schema for all keys of the configuration file. Reading checks the whole file, whatever the command needs. */
import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { SERVER_DEFAULTS } from '../adapters/http/server-options.js';
import { LOG_LEVELS } from '../agents/logging/logger.js';
import { parseYaml } from '../core/catalog/sources/yaml.js';
import { messageOf, WinnowError } from '../core/errors.js';
import { optionsSchema } from '../core/options.js';
import { parseAs } from '../core/parse.js';
import { REPLACEABLE_NAMES, type ReplaceableName } from '../core/prompts/prompts.js';

type PathSchema = z.ZodType<string, string>;

const modelSchema = (path: PathSchema) =>
  z.strictObject({
    baseUrl: z.url().optional().describe('OpenAI-compatible endpoint. Default: none, the local model.'),
    name: z.string().optional().describe('Name of the model there, or in the local store.'),
    apiKeyEnv: z
      .string()
      .optional()
      .describe('Environment variable with the key; keys do not belong in files. Default: WINNOW_API_KEY.'),
    file: path.optional().describe('A GGUF file. Default: that of the local store.'),
    contextTokens: z
      .int()
      .min(512)
      .optional()
      .describe('Context, in tokens. Default: 32,768; of the local model 16,384.'),
    timeoutMs: z.int().min(1).optional().describe('Endpoint: a call with its retries, in ms. Default: 60,000.'),
    temperature: z.number().min(0).optional().describe('Endpoint. Default: 0.'),
    maxRetries: z.int().min(0).optional().describe('Endpoint: further attempts of a call that may pass. Default: 2.'),
    retryDelayMs: z
      .int()
      .min(0)
      .optional()
      .describe('Endpoint: first pause between attempts, in ms; it doubles. Default: 500.'),
    logprobs: z.boolean().optional().describe('Endpoint: ask for the probability of each token. Default: false.'),
    headers: z
      .record(z.string(), z.string())
      .optional()
      .describe('Endpoint: sent with each request; ${NAME} stands for a variable of the environment. Default: none.'),
    extraBody: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Endpoint: further fields of each request body. Default: none.'),
    threads: z.int().min(1).optional().describe('Local model. Default: the cores that are there.'),
  });

const promptsSchema = (path: PathSchema) => {
  const entries = REPLACEABLE_NAMES.map((name) => [name, path.optional().describe('A file in place of this prompt.')]);
  return z.strictObject(Object.fromEntries(entries) as Record<ReplaceableName, z.ZodOptional<PathSchema>>);
};

/** Refuses `*` and URLs with a path, which never equal the origin that a browser sends. */
function isOrigin(text: string): boolean {
  return !text.includes('*') && URL.canParse(text) && new URL(text).origin === text;
}

const serverSchema = z.strictObject({
  hostNames: z
    .array(z.string().min(1))
    .optional()
    .describe(
      'The only names, besides that of --host, under which it is reached. Default: any where callers give a proof.',
    ),
  concurrency: z
    .int()
    .min(1)
    .default(SERVER_DEFAULTS.concurrency)
    .describe('Most requests at once; one more is asked to come back.'),
  bodyLimitBytes: z
    .int()
    .min(1)
    .default(SERVER_DEFAULTS.bodyLimitBytes)
    .describe('Longest body of a request, in bytes.'),
  stopTimeoutMs: z
    .int()
    .min(1)
    .default(SERVER_DEFAULTS.stopTimeoutMs)
    .describe('Time that running requests get to end when the server stops, in ms.'),
  console: z.boolean().default(true).describe('A web page at / to try requests, decide on approvals and look around.'),
  cors: z
    .strictObject({
      origins: z
        .array(z.string().refine(isOrigin, { error: 'an origin is expected, such as https://app.example' }))
        .min(1)
        .describe('Of pages that may ask, each with a proof of who it asks for; not under /mcp. Default: none.'),
    })
    .optional()
    .describe('Needs auth; else pages of other places get nothing.'),
  readyModel: z.boolean().default(false).describe('GET /readyz asks the model, too, at most once a minute.'),
});

/** With its defaults. */
export const parseServerSettings = (settings: z.input<typeof serverSchema> = {}) => serverSchema.parse(settings);

/** Schemas kept beside what they configure. Each is loaded only when the file has its key. */
const SECTIONS = {
  server: async () => serverSchema.describe('winnow serve.'),
  auth: async () =>
    (await import('./auth-setup.js')).authSettingsSchema.describe('Who may ask winnow serve, and by what proof.'),
  connections: async () =>
    (await import('./connections-setup.js')).connectionSettingsSchema.describe(
      'MCP servers that each user authorizes (`grant: authorization_code`).',
    ),
  mcp: async () =>
    (await import('../adapters/mcp/mcp-options.js')).mcpOptionsSchema
      .extend({
        http: z.boolean().default(true).describe('MCP under /mcp of winnow serve.'),
        planner: z.boolean().default(true).describe('winnow mcp: the tools plan and select, which need a model.'),
        offers: z
          .enum(['stdio', 'all', 'none'])
          .default('stdio')
          .describe(
            'Who gets the resources, prompts and completions of the MCP servers: the one who starts winnow mcp, all clients, ' +
              'or none. No policy is asked.',
          ),
      })
      .describe('Winnow as an MCP server.'),
  sessions: async () => (await import('../agents/parts.js')).sessionSettingsSchema.describe('Sessions of agents.'),
  retention: async () => (await import('../agents/quotas.js')).retentionSchema.describe('How long records last.'),
  quotas: async () => (await import('../agents/quotas.js')).quotasSchema.describe('How much one user may take.'),
  sandbox: async () =>
    (await import('../agents/sandbox/limits.js')).sandboxLimitsSchema.describe('Time-outs, rates and room of calls.'),
  http: async () =>
    (await import('../agents/sandbox/executors/http/http.js')).httpSettingsSchema.describe('OpenAPI tools.'),
  index: async () =>
    (await import('../agents/index/kept-index.js')).indexSettingsSchema.describe('The index of tools.'),
  adaptation: async () =>
    (await import('../agents/adaptation/adaptation.js')).adaptationOptionsSchema.describe('Learning from use.'),
};
type Sections = typeof SECTIONS;
type SectionName = keyof Sections;
/** As given in the file. Defaults are filled in where they are used, with the flags. */
type Given = { [Name in SectionName]?: z.input<Awaited<ReturnType<Sections[Name]>>> };

/** @param path resolves a path in the file */
const fileSchema = (path: PathSchema) =>
  z.strictObject({
    $schema: z.string().optional().describe('For editors of JSON, without effect. Default: none.'),
    catalog: z
      .array(path, { error: 'a list is expected, also of one source: ["tools.json"]' })
      .min(1)
      .optional()
      .describe('Sources of tools. Default: none; serve and mcp then stop, other commands take the example catalogue.'),
    strict: z.boolean().optional().describe('A wrong entry or a failing source is an error. Default: false.'),
    sourceTimeoutMs: z
      .int()
      .min(1)
      .max(2 ** 31 - 2_000)
      .optional()
      .describe('For one URL, or one MCP server from its start to its last page, in ms. Default: 30,000.'),
    mcpIdleMs: z
      .int()
      .min(1_000)
      .max(2 ** 31 - 2_000)
      .optional()
      .describe('An MCP server without a call for so long is stopped; the next call starts it. Default: 900,000.'),
    model: modelSchema(path).optional().describe('The model of selection, and of planning where that has none.'),
    planningModel: modelSchema(path)
      .optional()
      .describe('For planning. Without baseUrl and file it is `model`, but for what is named. Default: `model`.'),
    options: optionsSchema.partial().optional().describe('Of the planner.'),
    prompts: promptsSchema(path).optional().describe('Prompts of your own.'),
    callLog: z.literal('off').or(path).optional().describe('File for one JSON line a model call. Default: "off".'),
    callLogSecrets: z
      .boolean()
      .optional()
      .describe('Log prompts whole, also where a visible tool has secret arguments. Default: false.'),
    logLevel: z.enum(LOG_LEVELS).optional().describe('Default: warn; of winnow serve: info.'),
    store: path
      .optional()
      .describe('A SQLite file, or a postgres:// URL without a password. Default: memory, as long as the process.'),
    evaluations: path
      .optional()
      .describe('The folder of runs of winnow eval that winnow serve shows to operators. Default: .winnow/eval.'),
    redis: z
      .string()
      .optional()
      .describe(
        'A redis:// URL without a password: servers share rates and quotas.modelTokens. Default: each its own.',
      ),
    tracing: z
      .strictObject({
        endpoint: z.url().describe('An OTLP/HTTP receiver, such as http://127.0.0.1:4318. Default: none.'),
      })
      .optional()
      .describe('Where traces go; the variables of OpenTelemetry (OTEL_…) win. Default: none are sent.'),
    synonyms: path
      .optional()
      .describe('A JSON file of words that stand for each other in a search for tools. Default: none.'),
    policy: path
      .optional()
      .describe('What agents may find, enable and run; a file of its own. Default: high risk asks for an approval.'),
    reviewNew: z
      .boolean()
      .optional()
      .describe('Also the tools of a source seen for the first time wait for a look. Default: false.'),
    toolsModule: path.optional().describe('A module whose functions run tools of their names. Default: none.'),
    workerModule: path.optional().describe('The same, each call in a thread of its own. Default: none.'),
    rerank: z
      .looseObject({ model: modelSchema(path).optional().describe('Default: the model that plans.') })
      .optional()
      .describe('A second opinion on what a search found.'),
  });

const NO_PATH: PathSchema = z.string().min(1);

/** @param names of the needed sections */
async function configSchema(path: PathSchema, names: readonly string[]) {
  const wanted = (Object.keys(SECTIONS) as SectionName[]).map(async (name) => {
    return [name, names.includes(name) ? (await SECTIONS[name]()).optional() : z.unknown().optional()] as const;
  });
  const sections = Object.fromEntries(await Promise.all(wanted));
  if (!names.includes('rerank')) return fileSchema(path).extend(sections);
  const { rerankSettingsSchema } = await import('../agents/search/rerank.js');
  const { rerank } = fileSchema(path).shape;
  const enabled = rerankSettingsSchema.shape.enabled.describe('Whether the model is asked.');
  return fileSchema(path).extend({
    ...sections,
    rerank: rerank
      .unwrap()
      .extend({ ...rerankSettingsSchema.shape, enabled })
      .strict()
      .optional(),
  });
}

export type ConfigFile = z.output<ReturnType<typeof fileSchema>> & Given;
export type ModelBlock = NonNullable<ConfigFile['model']>;

/** All sections with their defaults, also those that the file lacks. */
export async function fillSections(config: ConfigFile): Promise<Record<string, unknown>> {
  const filled = (Object.keys(SECTIONS) as SectionName[]).map(async (name) => {
    return [name, (await SECTIONS[name]()).parse(config[name] ?? {})] as const;
  });
  return Object.fromEntries(await Promise.all(filled));
}

/** Whether a dotted name begins with a key of the file. */
export function isKeyOfFile(name: string): boolean {
  const [first = ''] = name.split('.');
  return first in SECTIONS || first in fileSchema(NO_PATH).shape;
}

/** For editors, and for `winnow config keys`. */
export async function configJsonSchema() {
  const schema = await configSchema(NO_PATH, [...Object.keys(SECTIONS), 'rerank']);
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
}

/** Resolves relative paths from the file's folder. @throws WinnowError `invalid_option` naming file and key */
export async function loadConfigFile(path: string): Promise<ConfigFile> {
  let content: unknown;
  try {
    content = (await parseYaml(await readFile(path, 'utf8'))) ?? {};
  } catch (cause) {
    const message = `The configuration file ${path} can't be read: ${messageOf(cause)}`;
    throw new WinnowError('invalid_option', message, { cause });
  }
  if (isCatalog(content))
    throw new WinnowError('invalid_option', `${path} holds tools, and no configuration: give it by --catalog ${path}.`);
  const fromFolder = NO_PATH.transform((text) => resolveFrom(dirname(path), text));
  return parseConfig(content, fromFolder, `The configuration file ${path} is not usable`);
}

/** Checks a file with what flags and environment put over it. @throws WinnowError `invalid_option` */
export function checkConfig(content: object): Promise<ConfigFile> {
  return parseConfig(content, NO_PATH, 'The configuration by flags and environment is not usable');
}

async function parseConfig(content: unknown, path: PathSchema, problem: string): Promise<ConfigFile> {
  const schema = await configSchema(path, Object.keys(Object(content)));
  const config = parseAs(schema, content, { code: 'invalid_option', problem, root: 'file' });
  // Keeps what was given, without defaults, so that flags can be added.
  const asGiven = ['options', ...Object.keys(SECTIONS)].filter((name) => name in Object(content));
  const { rerank }: ConfigFile = config;
  return {
    ...config,
    ...Object.fromEntries(asGiven.map((name) => [name, Object(content)[name]])),
    ...(rerank && { rerank: { ...Object(content).rerank, ...(rerank.model && { model: rerank.model }) } }),
  };
}

/** `-c tools.json` is a likely mistake. */
function isCatalog(content: unknown): boolean {
  const keys = ['mcpServers', 'servers', 'openapi', 'swagger', 'tools'];
  return Array.isArray(content) || keys.some((key) => key in Object(content));
}

/** Keeps URLs, absolute paths and the prefix of a kind of source. */
function resolveFrom(folder: string, text: string): string {
  const [, prefix = '', path = ''] = /^((?:(?:json|openapi|mcp|skills):)*)(.+)$/su.exec(text) ?? [];
  const isWhole = isAbsolute(path) || /^[a-z][a-z0-9+.-]*:/iu.test(path);
  return isWhole ? text : `${prefix}${resolve(folder, path)}`;
}
