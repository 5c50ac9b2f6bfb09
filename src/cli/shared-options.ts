/** Flags that plan, select and serve have in common, and what they make: a catalogue and a planner. */
import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { Catalog } from '../catalog/catalog.js';
import { type LoadedCatalog, loadCatalog } from '../catalog/load.js';
import { type ConfigFile, loadConfigFile, type ModelBlock } from '../config/config-file.js';
import { readEnvironment, readVariable } from '../config/environment.js';
import type { OptionsInput } from '../config/options.js';
import { WinnowError } from '../errors.js';
import { type CallLog, createCallLog, withCallLog } from '../logging/call-log.js';
import { createLogger, LOG_LEVELS, type Logger, type LogLevel } from '../logging/logger.js';
import { createModel, type ModelSettings } from '../model/create-model.js';
import type { Model } from '../model/model.js';
import { createPlanner, type Planner, type PlannerParts } from '../planner.js';
import { defaultCatalogPath } from './default-catalog.js';
import { createProgressBar } from './progress-bar.js';

export interface SharedFlags {
  catalog?: string[];
  config?: string;
  strict?: boolean;
  set?: Record<string, unknown>;
  maxTools?: number;
  baseUrl?: string;
  model?: string;
  apiKeyEnv?: string;
  modelFile?: string;
  callLog?: string;
  prompt?: Record<string, unknown>;
}

export function addSharedOptions(command: Command): Command {
  return command
    .option('--catalog <source>', 'file, URL or folder with tools; may be given more than once', collect)
    .option('--config <file>', 'configuration file (YAML or JSON); see the README')
    .option('--strict', 'refuse a catalogue with a wrong entry')
    .option(
      '--set <option=value>',
      'an option of the planner, such as answer=list; may be given more than once',
      assign,
    )
    .option('--max-tools <number>', 'most tools handed on to planning', wholeNumber)
    .option('--prompt <name=file>', 'a prompt file in place of the default one', assign)
    .option('--base-url <url>', 'OpenAI-compatible endpoint, such as http://127.0.0.1:8080/v1')
    .option('--model <name>', 'model at the endpoint, or in the local store')
    .option('--api-key-env <variable>', 'name of the environment variable that holds the key')
    .option('--model-file <file>', 'a GGUF file of your own')
    .option('--call-log <file>', 'write one JSON line a model call to this file');
}

/** What tools there are, before any model. */
export interface ToolSetup {
  loaded: LoadedCatalog;
  /** What `loaded` was read from. */
  sources: readonly string[];
  config: ConfigFile;
  usedDefaultCatalog: boolean;
  logger: Logger;
}

export interface PlanningSetup {
  /** A planner over these tools; all of them share model and options. */
  plannerOf(catalog: Catalog): Planner;
  /** Its calls go to the call log. */
  model: Model;
  callLog: CallLog;
  close(): Promise<void>;
}

export interface Setup extends ToolSetup, PlanningSetup {
  planner: Planner;
}

interface SetupParts {
  signal?: AbortSignal | undefined;
  stderr: NodeJS.WriteStream;
  defaultLogLevel?: LogLevel;
}

/** Flags win over the environment, the environment over the configuration file. */
export async function setUp(flags: SharedFlags, parts: SetupParts): Promise<Setup> {
  const tools = await readTools(flags, parts);
  const planning = await openPlanning(flags, tools.config, parts);
  return { ...tools, ...planning, planner: planning.plannerOf(tools.loaded.catalog) };
}

/** @throws WinnowError `invalid_option`, `invalid_catalog`, `source_failed` */
export async function readTools(
  flags: Pick<SharedFlags, 'catalog' | 'config' | 'strict'>,
  { signal, stderr, defaultLogLevel }: SetupParts,
): Promise<ToolSetup> {
  const config = await readConfig(flags);
  const logger = createLogger({ level: logLevelOf(readEnvironment().logLevel ?? config.logLevel ?? defaultLogLevel) });
  const given = flags.catalog ?? config.catalog;
  const sources = given ?? [defaultCatalogPath()];
  const strict = flags.strict ?? config.strict ?? false;
  const loaded = await loadCatalog({ variable: readVariable, sources, strict, logger, signal });
  for (const failure of loaded.failures) stderr.write(`${failure.error.message}\n`);
  return { loaded, sources, config, usedDefaultCatalog: given === undefined, logger };
}

/** @throws WinnowError `invalid_option`, `prompt_invalid`, `model_unavailable` */
export async function openPlanning(
  flags: SharedFlags,
  config: ConfigFile,
  { signal, stderr }: SetupParts,
): Promise<PlanningSetup> {
  const callLog = createCallLog({ destination: flags.callLog ?? config.callLog ?? 'off' });
  const model = withCallLog(await openModel(modelSettings(flags, config), { stderr, signal }), callLog);
  const options = { ...config.options, ...plannerOptions(flags) };
  return {
    plannerOf: (catalog) => createPlanner({ catalog, model, options, prompts: promptPaths(flags, config) }),
    model,
    callLog,
    close: () => model.close(),
  };
}

/** Files in place of the prompts that come with the package. */
export function promptPaths(
  flags: Pick<SharedFlags, 'prompt'>,
  { prompts }: ConfigFile,
): NonNullable<PlannerParts['prompts']> {
  return { ...prompts, ...texts(flags.prompt) };
}

/** The file that flag or environment name; empty without one. */
export async function readConfig({ config }: Pick<SharedFlags, 'config'>): Promise<ConfigFile> {
  const path = config ?? readEnvironment().config;
  return path === undefined ? {} : loadConfigFile(path);
}

export async function openModel(
  settings: ModelSettings,
  { stderr, signal }: { stderr: NodeJS.WriteStream; signal: AbortSignal | undefined },
): Promise<Model> {
  const bar = createProgressBar('model', stderr);
  try {
    return await createModel(settings, { onProgress: bar.update, onNotice: bar.note, signal });
  } finally {
    bar.stop();
  }
}

/** Exported for tests. */
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

export function plannerOptions(flags: SharedFlags): OptionsInput {
  const given = { ...flags.set, ...(flags.maxTools === undefined ? {} : { maxTools: flags.maxTools }) };
  return given as OptionsInput;
}

export function texts(values: Record<string, unknown> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(values ?? {}).map(([name, value]) => [name, String(value)]));
}

export function logLevelOf(level: string | undefined): LogLevel {
  if (level === undefined) return 'warn';
  const known = LOG_LEVELS.find((one) => one === level);
  if (known) return known;
  throw new WinnowError('invalid_option', `WINNOW_LOG_LEVEL: "${level}" is none of ${LOG_LEVELS.join(', ')}.`);
}

/** `-` is stdin. */
export async function readText(path: string): Promise<string> {
  if (path !== '-') return readFile(path, 'utf8');
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString('utf8');
}

export function collect(value: string, earlier: string[] | undefined): string[] {
  return [...(earlier ?? []), value];
}

/** `fill=off` -> `{fill: false}`; numbers and true/false are read as such. */
export function assign(text: string, earlier: Record<string, unknown> | undefined): Record<string, unknown> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('write it as name=value.');
  return { ...earlier, [text.slice(0, at).trim()]: readValue(text.slice(at + 1).trim()) };
}

function readValue(text: string): unknown {
  if (text === 'on' || text === 'true') return true;
  if (text === 'off' || text === 'false') return false;
  return /^-?\d+(?:\.\d+)?$/u.test(text) ? Number(text) : text;
}

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('must be a whole number above 0.');
  return value;
}
