/** Sets up a run from flags, with the settings that a resumed run must share. Cheap checks come before the model is loaded. */
import { basename } from 'node:path';
import { createLogger } from '../agents/logging/logger.js';
import { WinnowError } from '../core/errors.js';
import { type OptionsInput, resolveOptions } from '../core/options.js';
import type { Judging } from '../eval/case-runner.js';
import { type CaseFilter, openCases } from '../eval/case-source.js';
import type { Dispatcher } from '../eval/evaluate.js';
import { hasRun, openRunStore, runFile, usingStore, withRun } from '../eval/run-store.js';
import {
  dayOf,
  hashesOfSets,
  type RunStart,
  type RunSummary,
  refuseOtherSettings,
  type Settings,
  toSettings,
} from '../eval/run-summary.js';
import { type OnStablePart, PLANNING_ALONE, promptHashesOf } from '../eval/suite.js';
import type { FlagsOf } from './command.js';
import type { CASES, EvalFlags } from './eval-options.js';
import { loadSuites, refuseUnusedCatalog } from './eval-suites.js';
import { checkOut, chooseOut } from './out-folder.js';
import { writeLine } from './output.js';
import { logLevelOf, readConfig } from './read-config.js';

/** Set-up of `winnow eval` and `winnow tune`. */
export type CasesSetup = Awaited<ReturnType<typeof setUpCases>>;

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
) {
  refuseUnusedCatalog(flags);
  const config = await readConfig(flags);
  const out = chooseOut(kind, flags);
  const options = resolveOptions({ ...config.options, ...more });
  const { prompts = {} } = config;
  const promptHashes = promptHashesOf(prompts);
  const logger = createLogger({ level: logLevelOf(config) });
  const suites = await loadSuites(flags.suite ?? [], { config, logger, signal });
  const { tag: tags, sample, seed, limit } = flags;
  const source = await openCases(suites, { tags, sample, seed, limit, ...filter });
  for (const notice of source.notices) writeLine(notice, stderr);
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

/** Runs cases: in this process, or by workers of a queue. */
export interface Evaluator {
  /** The model, or both. */
  readonly model: string;
  /** Settings of the model. Undefined: the workers have them. */
  readonly asked?: Settings;
  dispatcher(parts: { judging: Judging; onStablePart: OnStablePart }): Dispatcher;
  close(): Promise<void>;
}

/** Name and judging of a resumed or a new run. */
export interface RunIdentity {
  readonly earlier: RunSummary | undefined;
  readonly name: string;
  readonly startedAt: string;
  readonly judging: Judging;
}

/** Call it under the folder's lock, since another process may have written there meanwhile. */
export async function identifyRun({ out, flags, options }: EvaluationSetup): Promise<RunIdentity> {
  checkOut(out, flags);
  // An earlier process may have been killed before it made the tables.
  const store = hasRun(out) ? await openRunStore(runFile(out)) : undefined;
  const earlier = store && (await usingStore(store, (one) => one.summary()));
  const { only, distractors, seed } = flags;
  const today = dayOf(flags.today, earlier?.settings);
  return {
    earlier,
    name: earlier?.name ?? basename(out),
    startedAt: earlier?.startedAt ?? new Date().toISOString(),
    judging: { only, distractors, seed, today, maxTools: options.maxTools },
  };
}

/** @throws WinnowError `invalid_option` naming each setting in which a resumed run differs */
export function startOf(setup: EvaluationSetup, run: RunIdentity, evaluator: Evaluator): RunStart {
  const { model } = evaluator;
  const settings = settingsOf(setup, run.judging, evaluator);
  if (run.earlier) refuseOtherSettings(run.earlier.settings, settings);
  const { source, flags, promptHashes, suites } = setup;
  return {
    name: run.name,
    startedAt: run.startedAt,
    model,
    settings,
    promptHashes: { ...promptHashes },
    planned: source.total * flags.repeat,
    cases: source.total,
    suites: suites.map(({ name, catalog }) => ({
      name,
      catalog: catalog.name,
      tools: catalog.tools.length,
      caseHash: source.hashes[name] ?? '',
    })),
  };
}

function settingsOf(
  { flags, suites, source, options, promptHashes }: EvaluationSetup,
  { today, distractors, seed }: Judging,
  { model, asked }: Evaluator,
): Settings {
  const { only, repeat, limit, sample, tag, failingOf } = flags;
  return toSettings({
    only: only ?? 'all',
    repeat,
    model,
    asked,
    prompts: promptHashes,
    suites: hashesOfSets(suites, source),
    filter: { limit, sample, seed, tags: tag, failingOf },
    distractors,
    today,
    options,
  });
}
