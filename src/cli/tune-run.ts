/** A run of `winnow tune`: set up, searched and written. An interrupt ends it cleanly; it goes on with --resume. */
import { join } from 'node:path';
import { createLogger } from '../agents/logging/logger.js';
import { toWinnowError, WinnowError } from '../core/errors.js';
import type { ModelSettings } from '../core/model/create-model.js';
import type { Model } from '../core/model/model.js';
import { withLock } from '../core/model/store/model-file.js';
import { type Options, resolveOptions } from '../core/options.js';
import type { AnswerCacheOptions } from '../eval/answer-cache.js';
import type { EvaluationCase } from '../eval/case.js';
import { type CaseSource, openCases } from '../eval/case-source.js';
import { dayOf, hashesOfSets, type Settings, toSettings } from '../eval/run-summary.js';
import { promptHashesOf, type Suite } from '../eval/suite.js';
import { objectiveOf } from '../eval/tune/measure.js';
import { TUNED_PROMPTS, type TunedPrompt } from '../eval/tune/prompt-draft.js';
import { DEFAULT_SHARES } from '../eval/tune/split-cases.js';
import { earlierSettings, type TuneOptions, tune } from '../eval/tune/tune.js';
import { renderGain, type TuneReport } from '../eval/tune/tune-report.js';
import type { ConfigFile } from './config-file.js';
import { expandSet } from './eval-options.js';
import { loadSuites } from './eval-suites.js';
import { catchInterrupts, type Interrupts } from './interrupts.js';
import { modelSettings, planningModelSettings } from './model-settings.js';
import { openLoggedModel } from './open-logged-model.js';
import { chooseOut, makeOut } from './out-folder.js';
import { printable, renderJson } from './output.js';
import { logLevelOf, readConfig } from './read-config.js';
import { plannerOptions, promptPaths as promptPathsOf } from './set-up.js';
import { TUNING_FOLDER, type TuneFlags } from './tune-options.js';

/** @throws WinnowError `cancelled` after an interrupt; errors of `tune` */
export async function runTuning(flags: TuneFlags): Promise<void> {
  const signals = catchInterrupts();
  const out = chooseOut('tune', TUNING_FOLDER, flags);
  try {
    const report = await runIn(out, flags, signals);
    process.stdout.write(flags.json ? `${renderJson(report)}\n` : printable(renderOutcome(report)));
    process.stderr.write(`${join(out, 'report.md')}\n`);
  } catch (error) {
    if (toWinnowError(error).code !== 'cancelled') throw error;
    throw new WinnowError(
      'cancelled',
      `Interrupted; what was measured is in ${out}. Go on with --resume --out ${out}.`,
    );
  } finally {
    signals.release();
  }
}

/** Cheap checks come first: a mistyped flag or a bad line must not cost the loading of a model. */
async function runIn(out: string, flags: TuneFlags, signals: Interrupts): Promise<TuneReport> {
  const { stderr } = process;
  const config = await readConfig(flags);
  const options = resolveOptions({ ...config.options, ...plannerOptions({ ...flags, set: expandSet(flags.set) }) });
  const promptPaths = promptPathsOf(flags, config);
  const promptHashes = promptHashesOf(promptPaths);
  for (const prompt of promptsOf(flags)) objectiveOf(prompt, flags.metric);
  const logger = createLogger({ level: logLevelOf(config) });
  const {
    suite,
    cases,
    catalog = config.catalog,
    strict = config.strict ?? false,
    tag: tags,
    sample,
    limit,
    seed,
  } = flags;
  const suites = await loadSuites({ suite, cases, catalog, strict }, { config, logger, signal: signals.stop });
  const source = await openCases(suites, { tags, sample, limit, seed });
  for (const notice of source.notices) stderr.write(`${notice}\n`);
  makeOut(out);
  const context = { flags, config, stderr, signal: signals.stop };
  const { model, answers, asked, close } = await openLoggedModel(tunedModelSettings(flags, config), context);
  const parts = { suites, source, options, promptPaths, promptHashes, model, answers, asked };
  try {
    const onWait = (owner: string) => stderr.write(`Waiting for ${owner}, which works in ${out}.\n`);
    return await withLock(join(out, '.lock'), { signal: signals.stop, onWait }, async () =>
      tune({ ...(await tuneOptions(out, flags, parts)), folder: out, stop: signals.stop, cancel: signals.cancel }),
    );
  } finally {
    await close();
  }
}

/** A prompt is tuned on the model that will read it. @throws WinnowError `invalid_option` where that is not one model */
function tunedModelSettings(flags: TuneFlags, config: ConfigFile): ModelSettings {
  const settings = modelSettings(flags, config);
  const planning = planningModelSettings(config, settings);
  if (planning === undefined || flags.only === 'select') return settings;
  if (flags.only === 'plan') return planning;
  const message =
    'Planning has a model of its own: tune the prompts one after the other, --only select and --only plan.';
  throw new WinnowError('invalid_option', message);
}

function promptsOf({ only }: TuneFlags): TunedPrompt[] {
  return TUNED_PROMPTS.filter(
    (name) => only === undefined || name === (only === 'select' ? 'select-tools' : 'plan-steps'),
  );
}

interface Parts {
  suites: readonly Suite[];
  source: CaseSource;
  options: Options;
  promptPaths: TuneOptions['promptPaths'];
  promptHashes: Readonly<Record<string, string>>;
  model: Model;
  answers: AnswerCacheOptions;
  asked: Settings;
}

async function tuneOptions(
  out: string,
  flags: TuneFlags,
  parts: Parts,
): Promise<Omit<TuneOptions, 'folder' | 'stop' | 'cancel'>> {
  const { suites, source, options, promptPaths, model } = parts;
  const { seed, metric, maxTokensGrowth, rounds, tries, jobs, budget, maxCalls, ignoreCase = false } = flags;
  const cases: EvaluationCase[] = [];
  for await (const one of source.cases()) cases.push(one);
  const today = dayOf(flags.today, await earlierSettings(out));
  const shares = flags.split ?? DEFAULT_SHARES;
  const prompts = promptsOf(flags);
  const chosen = { prompts, seed, metric, maxTokensGrowth, tries, shares, ignoreCase };
  return {
    ...chosen,
    ...{ suites, cases, promptPaths, options, model, rounds, jobs, today },
    cache: flags.cache ? parts.answers : undefined,
    limits: { milliseconds: budget, calls: maxCalls },
    settings: settingsOf({ ...chosen, today }, parts, flags),
    onProgress: (text) => process.stderr.write(`${text}\n`),
  };
}

function settingsOf(chosen: Record<string, unknown>, parts: Parts, flags: TuneFlags): Settings {
  const { suites, source, options, promptHashes, model, asked } = parts;
  const { limit, sample, tag: tags } = flags;
  return toSettings({
    ...chosen,
    model: model.id,
    asked,
    startedFrom: promptHashes,
    suites: hashesOfSets(suites, source),
    filter: { limit, sample, tags },
    options,
  });
}

function renderOutcome({ prompts }: TuneReport): string {
  const lines = prompts.flatMap(({ prompt, isChanged, reason, heldBack, tried }) => [
    `${prompt}: ${isChanged ? 'changed' : 'left as it was'}. ${reason}`,
    ...(heldBack ? [`  held back: ${renderGain(heldBack)}`] : []),
    `  ${tried.length} candidates`,
  ]);
  return `${lines.join('\n')}\n`;
}
