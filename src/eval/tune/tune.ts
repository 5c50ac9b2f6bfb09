/** `winnow tune` as a whole: the cases are split once, each prompt is tuned by itself, and what came of it is written. */
import { join } from 'node:path';
import type { Model } from '../../core/model/model.js';
import type { Options, OptionsInput } from '../../core/options.js';
import { defaultPromptPath, type PromptPaths, readPrompt } from '../../core/prompts/prompts.js';
import { type AnswerCacheOptions, createAnswerCache } from '../answer-cache.js';
import type { EvaluationCase } from '../case.js';
import { createCaseRunner } from '../case-runner.js';
import { createSuitePlanners, PLANNING_ALONE, type Suite } from '../suite.js';
import { type Budget, type BudgetLimits, createBudget, type Spent } from './budget.js';
import { type Journal, openJournal } from './journal.js';
import { type CreateRunner, createMeasurer } from './measure.js';
import { objectiveOf } from './objective.js';
import type { TunedPrompt } from './prompt-draft.js';
import { createPromptGate, holdsTextOf } from './prompt-gate.js';
import { PARTS, type Shares, type Split, splitCases, stratumOf } from './split-cases.js';
import type { TunePromptParts } from './tune-parts.js';
import { type TunedResult, tunePrompt } from './tune-prompt.js';
import type { TuneReport } from './tune-record.js';
import { keepSettings } from './tune-settings.js';
import { createExamples } from './worked-example.js';
import { writeTuneOutputs } from './write-tune-outputs.js';

export interface TuneOptions {
  /** Of the run; it is there already. */
  folder: string;
  suites: readonly Suite[];
  cases: readonly EvaluationCase[];
  /** Which prompts, in this order. */
  prompts: readonly TunedPrompt[];
  /** Files to begin with. */
  promptPaths: PromptPaths;
  options: Options;
  model: Model;
  /** Where answers are remembered; without it every answer is asked for. */
  cache?: AnswerCacheOptions | undefined;
  limits: BudgetLimits;
  /** Growth of the stable part of a prompt as it is sent, as a fraction. */
  maxTokensGrowth: number;
  /** At most so many rounds a prompt. */
  rounds: number;
  /** Candidates of each kind in a round. */
  tries: number;
  shares: Shares;
  seed: number;
  /** A metric of `winnow eval` in place of the usual objectives. */
  metric?: string | undefined;
  /** Day of the cases that name none, YYYY-MM-DD. */
  today: string;
  ignoreCase: boolean;
  /** Cases at once. */
  jobs: number;
  /** All that changes what comes out: a resumed run must have the same. */
  settings: Readonly<Record<string, unknown>>;
  /** No new case is begun; the run then throws `cancelled` and can be resumed. */
  stop: AbortSignal;
  /** Cases under way are given up, too. */
  cancel: AbortSignal;
  onProgress: (text: string) => void;
}

/** @throws WinnowError `cancelled`, `model_failed`, `prompt_invalid`; `invalid_option` for other settings or too few cases */
export async function tune(options: TuneOptions): Promise<TuneReport> {
  const { folder, limits, model } = options;
  const texts = new Map(options.prompts.map((name) => [name, textOf(name, options.promptPaths)]));
  const { split, notices } = splitOf(options, [...texts.values()]);
  keepSettings(folder, options.settings);
  const budget = createBudget(limits);
  const journal = openJournal(join(folder, 'journal.jsonl'), budget);
  const metered = budget.meter(model);
  const cache = options.cache && createAnswerCache(metered, options.cache);
  try {
    const results: TunedResult[] = [];
    for (const [place, prompt] of options.prompts.entries()) {
      const reserve = reserveFor(options.prompts.length - place - 1, { limits, budget });
      const run: PromptRun = {
        prompt,
        texts,
        split,
        reserve,
        budget,
        journal,
        notices,
        answering: { model: metered, cache },
      };
      results.push(await tunePrompt(partsOf(options, run)));
    }
    const report = reportOf(options, { split, notices, results, spent: budget.spent() });
    writeTuneOutputs(folder, { report, results, texts, promptPaths: options.promptPaths });
    return report;
  } finally {
    journal.close();
    cache?.close();
  }
}

function textOf(name: TunedPrompt, paths: PromptPaths): string {
  return readPrompt(paths[name] ?? defaultPromptPath(name));
}

function splitOf({ cases, seed, shares }: TuneOptions, texts: readonly string[]): { split: Split; notices: string[] } {
  const stands = holdsTextOf(texts);
  const shown = new Set(cases.filter(stands).map(({ id }) => id));
  const split = splitCases(cases, { seed, shares, mustTrain: ({ id }) => shown.has(id) });
  const notices =
    shown.size === 0
      ? []
      : [`Cases whose words stand in a prompt already, so that they only train: ${[...shown].join(', ')}.`];
  return { split, notices };
}

/** What is left is shared evenly among the prompts that are still to come. */
function reserveFor(later: number, { limits, budget }: { limits: BudgetLimits; budget: Budget }): Spent {
  const spent = budget.spent();
  const share = later / (later + 1);
  return {
    calls: limits.calls === undefined ? 0 : Math.floor(Math.max(0, limits.calls - spent.calls) * share),
    milliseconds: Math.max(0, limits.milliseconds - spent.milliseconds) * share,
  };
}

interface PromptRun {
  prompt: TunedPrompt;
  texts: ReadonlyMap<TunedPrompt, string>;
  split: Split;
  reserve: Spent;
  budget: Budget;
  journal: Journal;
  /** What people should know; grows. */
  notices: string[];
  answering: { model: Model; cache: ReturnType<typeof createAnswerCache> | undefined };
}

function partsOf(options: TuneOptions, run: PromptRun): TunePromptParts {
  const { prompt, texts, split, budget, journal, answering, reserve } = run;
  const { suites, maxTokensGrowth, rounds, tries, seed, stop, cancel, jobs, folder } = options;
  const catalogs = new Map(suites.map(({ name, catalog }) => [name, catalog]));
  const tools = [...catalogs.values()].flatMap((catalog) => catalog.tools);
  const known = [
    ...texts.values(),
    ...tools.flatMap(({ name, description, category = '' }) => [name, description, category]),
  ];
  const withheld = [...split.choosing, ...split.heldBack];
  return {
    prompt,
    text: texts.get(prompt) ?? '',
    split,
    gate: createPromptGate({ training: split.training, withheld, known }),
    measure: createMeasurer({
      prompt,
      objective: objectiveOf(prompt, options.metric),
      createRunner: runnerOf(options, run),
      journal,
      budget,
      countTokens: answering.model.countTokens,
      folder: join(folder, 'variants'),
      jobs,
      stop,
      cancel,
      onError: ({ id, error }) =>
        run.notices.push(`${prompt}: the case ${id} was left out once, with ${error?.code}: ${error?.message}`),
    }),
    jobs,
    journal,
    budget,
    reserve,
    model: answering.model,
    catalogs,
    options: options.options,
    exampleOf: createExamples(prompt, catalogs, options.options),
    maxTokensGrowth,
    rounds,
    tries,
    seed,
    signal: cancel,
    onProgress: (text) => options.onProgress(`${prompt}: ${text}`),
  };
}

/** Each stage is judged alone, so that a prompt's gain is its own: planning gets the expected tools and others. */
function runnerOf(options: TuneOptions, { prompt, answering }: PromptRun): CreateRunner {
  const { suites, promptPaths, seed, today, ignoreCase } = options;
  const only = prompt === 'select-tools' ? 'select' : 'plan';
  return (variant, promptFile, onStablePart) => {
    const input: OptionsInput = {
      ...options.options,
      ...variant.options,
      ...(only === 'plan' ? PLANNING_ALONE : {}),
    };
    const prompts = { ...promptPaths, [prompt]: promptFile };
    const planners = suites.map(
      (suite) =>
        [suite.name, createSuitePlanners(suite, { ...answering, options: input, prompts, onStablePart })] as const,
    );
    const { maxTools } = options.options;
    return createCaseRunner({
      suites: new Map(planners),
      only,
      maxTools,
      candidates: 'all',
      distractors: 0,
      seed,
      today,
      ignoreCase,
    });
  };
}

interface Outcome {
  split: Split;
  notices: readonly string[];
  results: readonly TunedResult[];
  spent: Spent;
}

function reportOf({ seed, settings }: TuneOptions, { split, notices, results, spent }: Outcome): TuneReport {
  const strata: TuneReport['split']['strata'] = {};
  for (const part of PARTS) {
    for (const one of split[part]) {
      const row = strata[stratumOf(one)] ?? { training: 0, choosing: 0, heldBack: 0 };
      row[part] += 1;
      strata[stratumOf(one)] = row;
    }
  }
  const idsOf = (part: (typeof PARTS)[number]) => split[part].map(({ id }) => id);
  return {
    format: 1,
    settings: { ...settings },
    spent: { calls: spent.calls, milliseconds: Math.round(spent.milliseconds) },
    split: {
      seed,
      strata,
      ids: { training: idsOf('training'), choosing: idsOf('choosing'), heldBack: idsOf('heldBack') },
    },
    notices: [...notices],
    prompts: results.map(({ report }) => report),
  };
}
