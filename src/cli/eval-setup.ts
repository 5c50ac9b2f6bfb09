/** From flags to a run that is ready to go: sets, model, cache, planners, the folder's settings. */
import { join } from 'node:path';
import { type ConfigFile, loadConfigFile } from '../config/config-file.js';
import { readEnvironment } from '../config/environment.js';
import { type Options, resolveOptions } from '../config/options.js';
import { WinnowError } from '../errors.js';
import { ANSWERS_FOLDER, createAnswerCache } from '../evaluation/answer-cache.js';
import { type CaseRunner, type CaseRunnerOptions, createCaseRunner } from '../evaluation/case-runner.js';
import { type CaseFilter, type CaseSource, openCases } from '../evaluation/case-source.js';
import { loadPrices } from '../evaluation/prices.js';
import { readRecords } from '../evaluation/run-folder.js';
import type { RunStart } from '../evaluation/run-summary.js';
import { createSuitePlanners, promptHashesOf, type Suite, type SuitePlannerOptions } from '../evaluation/suite.js';
import { createCallLog, withCallLog } from '../logging/call-log.js';
import { createLogger } from '../logging/logger.js';
import type { Model } from '../model/model.js';
import { cacheFolder } from '../model/store/cache-folder.js';
import { type EvalFlags, expandSet, RUNS_FOLDER } from './eval-options.js';
import { earlierRun, refuseOtherSettings, settingsOf, startOf, todayOf } from './eval-settings.js';
import { loadSuites } from './eval-suites.js';
import { logLevelOf, modelSettings, openModel, plannerOptions, texts } from './shared-options.js';

export interface EvaluationSetup {
  /** Folder of the run. */
  out: string;
  source: CaseSource;
  start: RunStart;
  createRunner(onStablePart: SuitePlannerOptions['onStablePart']): CaseRunner;
  /** What other processes need to do the cases as this one would. */
  suites: readonly Suite[];
  options: Options;
  judging: Judging;
  close(): Promise<void>;
}

/** How cases are put and judged. */
export type Judging = Omit<CaseRunnerOptions, 'suites'>;

export interface SetupContext {
  stderr: NodeJS.WriteStream;
  signal: AbortSignal;
}

/** Cheap checks come first: a mistyped flag or a bad line must not cost the loading of a model. */
export async function setUpEvaluation(flags: EvalFlags, context: SetupContext): Promise<EvaluationSetup> {
  const config = await loadConfig(flags);
  const out = flags.out ?? join(RUNS_FOLDER, new Date().toISOString().replace(/[:.]/gu, '-'));
  const earlier = earlierRun(out, flags);
  const { options, prompts, promptHashes } = plannerParts(flags, config);
  const suites = await readSuites(flags, config, context);
  const source = await openCases(suites, await filterOf(flags));
  for (const notice of source.notices) context.stderr.write(`${notice}\n`);
  const model = await openModel(modelSettings(flags, config), context);
  const today = flags.today ?? todayOf(earlier) ?? new Date().toISOString().slice(0, 10);
  const parts = { suites, source, model, promptHashes };
  const settings = settingsOf(flags, { ...parts, options, today });
  if (earlier) refuseOtherSettings(earlier, settings);
  const prices = flags.prices === undefined ? undefined : await loadPrices(flags.prices, model.id);
  const { answering, close } = withLogAndCache(model, flags, config);
  const { only, candidates, distractors, seed, ignoreCase = false } = flags;
  const judging = { only, candidates, distractors, seed, ignoreCase, today, prices, maxTools: options.maxTools };
  return {
    out,
    source,
    start: startOf(flags, { ...parts, out, earlier, settings, prices }),
    createRunner: (onStablePart) => createRunner(suites, { ...answering, options, prompts, onStablePart }, judging),
    suites,
    options,
    judging,
    close,
  };
}

async function loadConfig(flags: EvalFlags): Promise<ConfigFile> {
  const path = flags.config ?? readEnvironment().config;
  return path === undefined ? {} : loadConfigFile(path);
}

/** Planning alone skips selection, whatever the number of tools. */
function plannerParts(flags: EvalFlags, config: ConfigFile) {
  const given = plannerOptions({ ...flags, set: expandSet(flags.set) });
  const options = resolveOptions({
    ...config.options,
    ...given,
    ...(flags.only === 'plan' ? { passthroughTools: 128 } : {}),
  });
  const prompts = { ...config.prompts, ...texts(flags.prompt) };
  return { options, prompts, promptHashes: promptHashesOf(prompts) };
}

function readSuites(flags: EvalFlags, config: ConfigFile, { stderr, signal }: SetupContext): Promise<Suite[]> {
  const logger = createLogger({ level: logLevelOf(readEnvironment().logLevel ?? config.logLevel) });
  const { suite, cases, catalog = config.catalog, strict = config.strict ?? false } = flags;
  return loadSuites({ suite, cases, catalog, strict }, { logger, signal, stderr });
}

function withLogAndCache(model: Model, flags: EvalFlags, config: ConfigFile) {
  const callLog = createCallLog({ destination: flags.callLog ?? config.callLog ?? 'off' });
  const logged = withCallLog(model, callLog);
  const folder = join(cacheFolder(), ANSWERS_FOLDER);
  const cache = flags.cache ? createAnswerCache(logged, { folder }) : undefined;
  const close = async () => {
    cache?.close();
    callLog.close();
    await model.close();
  };
  return { answering: { model: logged, cache }, close };
}

function createRunner(suites: readonly Suite[], parts: SuitePlannerOptions, judging: Judging): CaseRunner {
  const planners = suites.map((suite) => [suite.name, createSuitePlanners(suite, parts)] as const);
  return createCaseRunner({ ...judging, suites: new Map(planners) });
}

async function filterOf(flags: EvalFlags): Promise<CaseFilter> {
  const { tag: tags, sample, seed, limit, failingOf, candidates } = flags;
  const ids = failingOf === undefined ? undefined : await failingIds(failingOf);
  return { tags, ids, sample, seed, limit, needsCandidates: candidates === 'only' };
}

/** Not right in one of its repeats, or ended with an error. */
async function failingIds(path: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for await (const { id, outcome, scores } of readRecords(path)) {
    if (outcome === 'error' || scores.right === 0) ids.add(id);
  }
  if (ids.size === 0) throw new WinnowError('invalid_option', `--failing-of: no case of ${path} has failed.`);
  return ids;
}
