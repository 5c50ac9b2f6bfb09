/** Opens catalogue, models and planner from the configuration. */
import { type CallLog, createCallLog, withCallLog } from '../agents/logging/call-log.js';
import { createLogger, type Logger, type LogLevel } from '../agents/logging/logger.js';
import type { Catalog } from '../core/catalog/catalog.js';
import { createScope } from '../core/catalog/scope.js';
import { messageOf, orAborted, throwIfCancelled } from '../core/errors.js';
import { createOpening } from '../core/kept.js';
import { createLocalModels, createModel, type LocalModels, type ModelSettings } from '../core/model/create-model.js';
import type { Model } from '../core/model/model.js';
import { createPlanner, type Planner, type PlannerParts } from '../core/planner.js';
import type { ConfigFile } from './config-file.js';
import type { ConfigFlags } from './flags.js';
import { type LoadedTools, loadTools, requireSources } from './load-tools.js';
import { configuredSecrets, modelSettings, planningModelSettings } from './model-settings.js';
import { writeLine } from './output.js';
import { createDownloadLine } from './progress.js';
import { logLevelOf, readConfig } from './read-config.js';

/** The tools, before any model. */
export interface ToolSetup extends LoadedTools {
  config: ConfigFile;
  logger: Logger;
}

/** Models whose calls go to the call log. */
export interface OpenModels {
  /** For selection, and for planning without a model of its own. */
  model: Model;
  planningModel?: Model | undefined;
  /** The open local models, to share when another is opened. */
  localModels: LocalModels;
  callLog: CallLog;
  close(): Promise<void>;
}

export interface PlanningSetup extends OpenModels {
  /** A planner over these tools; all planners share model and options. */
  plannerOf(catalog: Catalog, rules?: PlannerParts['rules']): Planner;
}

export interface Setup extends ToolSetup, PlanningSetup {
  planner: Planner;
}

interface SetupParts {
  signal?: AbortSignal | undefined;
  stderr: NodeJS.WriteStream;
  defaultLogLevel?: LogLevel;
  /** Fails without a catalogue. Default: uses the example. */
  needsSources?: boolean;
  /** For log lines. Default: stderr. */
  logTo?: { write(text: string): void } | undefined;
}

export async function setUp(flags: ConfigFlags, parts: SetupParts): Promise<Setup> {
  const { stderr: _, ...quiet } = parts;
  const tools = await readTools(flags, quiet);
  const planning = await openPlanning(tools.config, parts);
  return { ...tools, ...planning, planner: planning.plannerOf(tools.loaded.catalog) };
}

/**
 * With `stderr`, it reports there that the catalogue is the example.
 * @throws WinnowError `invalid_option`, `invalid_catalog`, `source_failed`
 */
export async function readTools(
  flags: ConfigFlags,
  { signal, stderr, defaultLogLevel, logTo, needsSources = false }: Partial<SetupParts>,
): Promise<ToolSetup> {
  const config = await readConfig(flags);
  if (needsSources) requireSources(config);
  const level = logLevelOf(config, defaultLogLevel);
  const logger = createLogger({ level, secrets: configuredSecrets(config), destination: logTo });
  return { ...(await loadTools(config, { logger, signal, stderr })), config, logger };
}

/** @throws WinnowError `invalid_option`, `prompt_invalid`, `model_unavailable` */
export async function openPlanning(config: ConfigFile, context: ModelContext): Promise<PlanningSetup> {
  const models = await openModels(config, context);
  const { model, planningModel } = models;
  const { options, prompts } = config;
  const parts = { model, planningModel, options, prompts };
  return { ...models, plannerOf: (catalog, rules) => createPlanner({ ...parts, catalog, rules }) };
}

interface ModelContext {
  stderr: NodeJS.WriteStream;
  signal?: AbortSignal | undefined;
  localModels?: LocalModels | undefined;
}

/** @param one replaces both models. @throws WinnowError `invalid_option`, `model_unavailable`, `cancelled` */
export async function openModels(config: ConfigFile, context: ModelContext, one?: ModelSettings): Promise<OpenModels> {
  // Reads all settings before it opens a model.
  const settings = one ?? modelSettings(config);
  const planningSettings = one ? undefined : planningModelSettings(config, settings);
  const destination = config.callLog ?? 'off';
  const note = (notice: string) => writeLine(notice, context.stderr);
  const callLog = createCallLog({
    destination,
    includesSecrets: config.callLogSecrets,
    secrets: configuredSecrets(config),
    onNotice: note,
    onError: (error) => note(`The call log ${destination} can't be written, so lines are lost: ${messageOf(error)}`),
  });
  const opened: { close(): unknown }[] = [callLog];
  const close = async () => {
    for (const last of opened.splice(0).reverse()) await last.close();
  };
  const localModels = createLocalModels();
  const open = async (own: ModelSettings) => {
    const model = await openModel(own, { ...context, localModels });
    opened.push(model);
    return withCallLog(model, callLog);
  };
  try {
    const model = await open(settings);
    return { model, planningModel: planningSettings && (await open(planningSettings)), localModels, callLog, close };
  } catch (error) {
    await close();
    throw error;
  }
}

export async function openModel(
  settings: ModelSettings,
  { stderr, signal, localModels }: ModelContext,
): Promise<Model> {
  const bar = createDownloadLine('model', stderr);
  try {
    return await createModel(settings, { onProgress: bar.update, onNotice: bar.note, signal, localModels });
  } finally {
    bar.stop();
  }
}

/**
 * The first request opens the model, so that the start of a server does not wait for it.
 * @param open called once, and again with the next request where it failed
 */
export function createLazyPlanning(open: (signal: AbortSignal) => Promise<PlanningSetup>) {
  const life = new AbortController();
  const opening = createOpening(() => open(life.signal));

  return {
    plannerOf(catalog: Catalog, rules?: PlannerParts['rules']): Planner {
      const viewOf = createScope(catalog);
      let kept: Planner | undefined;
      const planner = async (signal: AbortSignal | undefined): Promise<Planner> => {
        const setup = await unlessCancelled(opening.get(), signal);
        kept ??= setup.plannerOf(catalog, rules);
        return kept;
      };
      return {
        plan: async (request, call) => (await planner(call?.signal)).plan(request, call),
        select: async (request, call) => (await planner(call?.signal)).select(request, call),
        view: (request = {}) => viewOf(request),
      };
    },

    /** Cancels the opening of a model. */
    async close() {
      life.abort();
      const setup = await opening.peek()?.catch(() => undefined);
      await setup?.close();
    },
  };
}

/** Stops waiting on cancellation, since a model may take minutes to load. */
async function unlessCancelled<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  throwIfCancelled(signal);
  return orAborted(work, signal).catch((error: unknown) => {
    throwIfCancelled(signal);
    throw error;
  });
}
