/** From flags to all that a run is about, before any model: cheap checks come first, so that a bad line costs no loading. */

import { createLogger } from '../agents/logging/logger.js';
import { WinnowError } from '../core/errors.js';
import { type Options, resolveOptions } from '../core/options.js';
import { type CaseFilter, type CaseSource, openCases } from '../eval/case-source.js';
import { loadPrices, type PriceTable } from '../eval/prices.js';
import { withRun } from '../eval/run-store.js';
import { PLANNING_ALONE, promptHashesOf, type Suite, type SuitePlannerOptions } from '../eval/suite.js';
import type { ConfigFile } from './config-file.js';
import { type EvalFlags, expandSet, RUNS_FOLDER } from './eval-options.js';
import { loadSuites } from './eval-suites.js';
import { chooseOut } from './out-folder.js';
import { logLevelOf, readConfig } from './read-config.js';
import { plannerOptions, promptPaths } from './set-up.js';

export interface EvaluationSetup {
  readonly flags: EvalFlags;
  readonly config: ConfigFile;
  /** Folder of the run. */
  readonly out: string;
  readonly options: Options;
  readonly prompts: SuitePlannerOptions['prompts'];
  readonly promptHashes: Readonly<Record<string, string>>;
  readonly suites: readonly Suite[];
  readonly source: CaseSource;
  readonly prices: PriceTable | undefined;
}

export interface SetupContext {
  stderr: NodeJS.WriteStream;
  signal: AbortSignal;
}

export async function setUpEvaluation(flags: EvalFlags, { stderr, signal }: SetupContext): Promise<EvaluationSetup> {
  const config = await readConfig(flags);
  const out = chooseOut('eval', RUNS_FOLDER, flags);
  const options = optionsOf(flags, config);
  const prompts = promptPaths(flags, config);
  const promptHashes = promptHashesOf(prompts);
  const prices = flags.prices === undefined ? undefined : await loadPrices(flags.prices);
  const logger = createLogger({ level: logLevelOf(config) });
  const { suite, cases, catalog = config.catalog, strict = config.strict ?? false } = flags;
  const suites = await loadSuites({ suite, cases, catalog, strict }, { config, logger, signal });
  const source = await openCases(suites, await filterOf(flags));
  for (const notice of source.notices) stderr.write(`${notice}\n`);
  return { flags, config, out, options, prompts, promptHashes, suites, source, prices };
}

function optionsOf(flags: EvalFlags, config: ConfigFile): Options {
  const given = plannerOptions({ ...flags, set: expandSet(flags.set) });
  return resolveOptions({ ...config.options, ...given, ...(flags.only === 'plan' ? PLANNING_ALONE : {}) });
}

async function filterOf(flags: EvalFlags): Promise<CaseFilter> {
  const { tag: tags, sample, seed, limit, failingOf, distractors } = flags;
  const ids = failingOf === undefined ? undefined : await failingIds(failingOf);
  return { tags, ids, sample, seed, limit, needsCandidates: distractors !== undefined };
}

/** Not right in one of its repeats, or ended with an error. */
async function failingIds(path: string): Promise<Set<string>> {
  const ids = new Set<string>();
  await withRun(path, async (store) => {
    for await (const { id, outcome, scores } of store.records()) {
      if (outcome === 'error' || scores.right === 0) ids.add(id);
    }
  });
  if (ids.size === 0) throw new WinnowError('invalid_option', `--failing-of: no case of ${path} has failed.`);
  return ids;
}
