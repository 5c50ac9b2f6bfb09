/** Sets up a run from flags. Cheap checks come before the model is loaded. */

import { createLogger } from '../agents/logging/logger.js';
import { WinnowError } from '../core/errors.js';
import { type Options, type OptionsInput, resolveOptions } from '../core/options.js';
import { type CaseFilter, type CaseSource, openCases } from '../eval/case-source.js';
import { withRun } from '../eval/run-store.js';
import { PLANNING_ALONE, promptHashesOf, type Suite, type SuitePlannerOptions } from '../eval/suite.js';
import type { FlagsOf } from './command.js';
import type { ConfigFile } from './config-file.js';
import type { CASES, EvalFlags } from './eval-options.js';
import { loadSuites } from './eval-suites.js';
import { chooseOut } from './out-folder.js';
import { logLevelOf, readConfig } from './read-config.js';

/** Set-up of `winnow eval` and `winnow tune`. */
export interface CasesSetup {
  readonly config: ConfigFile;
  /** Folder of the run. */
  readonly out: string;
  readonly options: Options;
  readonly prompts: NonNullable<SuitePlannerOptions['prompts']>;
  readonly promptHashes: Readonly<Record<string, string>>;
  readonly suites: readonly Suite[];
  readonly source: CaseSource;
}

export interface EvaluationSetup extends CasesSetup {
  readonly flags: EvalFlags;
}

export interface SetupContext {
  stderr: NodeJS.WriteStream;
  signal: AbortSignal;
}

interface CasesContext extends SetupContext {
  /** Options that override flags and file. Default: none. */
  more?: OptionsInput;
  filter?: Pick<CaseFilter, 'ids' | 'needsCandidates'>;
}

export async function setUpCases(
  kind: 'eval' | 'tune',
  flags: FlagsOf<typeof CASES> & { resume?: boolean },
  { stderr, signal, more, filter }: CasesContext,
): Promise<CasesSetup> {
  const config = await readConfig(flags);
  const out = chooseOut(kind, flags);
  const options = resolveOptions({ ...config.options, ...more });
  const { prompts = {} } = config;
  const promptHashes = promptHashesOf(prompts);
  const logger = createLogger({ level: logLevelOf(config) });
  const suites = await loadSuites(flags.suite ?? [], { config, logger, signal });
  const { tag: tags, sample, seed, limit } = flags;
  const source = await openCases(suites, { tags, sample, seed, limit, ...filter });
  for (const notice of source.notices) stderr.write(`${notice}\n`);
  return { config, out, options, prompts, promptHashes, suites, source };
}

export async function setUpEvaluation(flags: EvalFlags, context: SetupContext): Promise<EvaluationSetup> {
  const { failingOf, distractors, only } = flags;
  const ids = failingOf === undefined ? undefined : await failingIds(failingOf);
  const filter = { ids, needsCandidates: distractors !== undefined };
  const more = only === 'plan' ? PLANNING_ALONE : {};
  return { ...(await setUpCases('eval', flags, { ...context, more, filter })), flags };
}

/** Cases with a repeat that was wrong or ended with an error. */
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
