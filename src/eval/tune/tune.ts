/** `winnow tune` as a whole: splits the cases once, tunes each prompt by itself, and writes the report. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Model } from '../../core/model/model.js';
import type { Options } from '../../core/options.js';
import { defaultPromptPath, type PromptPaths, readPrompt } from '../../core/prompts/prompts.js';
import { type AnswerCacheOptions, createAnswerCache } from '../answer-cache.js';
import type { EvaluationCase } from '../case.js';
import { createCaseRunner } from '../case-runner.js';
import type { Settings } from '../run-summary.js';
import { type AnsweringModel, createSuitePlanners, PLANNING_ALONE, type Suite } from '../suite.js';
import { createMeasurer, type MeasurerParts } from './measure.js';
import type { TunedPrompt } from './prompt-draft.js';
import { createPromptGate, holdsTextOf } from './prompt-gate.js';
import { type Split, splitCases } from './split-cases.js';
import { type TunePromptParts, tunePrompt } from './tune-prompt.js';
import { type TuneReport, writeTuneOutputs } from './tune-report.js';

export interface TuneOptions {
  /** Existing folder of the run. */
  folder: string;
  suites: readonly Suite[];
  cases: readonly EvaluationCase[];
  /** Prompts to tune, in this order. */
  prompts: readonly TunedPrompt[];
  /** Initial prompt files. */
  promptPaths: PromptPaths;
  options: Options;
  model: Model;
  /** Cache of answers; without it every answer comes from the model. */
  cache?: AnswerCacheOptions | undefined;
  /** Time for all prompts, in milliseconds. */
  budget: number;
  /** Milliseconds of a clock that never goes back. Default: `performance.now`. */
  now?: () => number;
  /** Growth of a prompt's sent stable part, as a fraction. */
  maxTokensGrowth: number;
  /** Most rounds for each prompt. */
  rounds: number;
  /** Candidates of each kind in a round. */
  tries: number;
  seed: number;
  /** Day of the cases that name none, YYYY-MM-DD. */
  today: string;
  /** Cases at once. */
  jobs: number;
  /** All that changes results, for the report. */
  settings: Settings;
  /** Starts no new case; the run then throws `cancelled`. */
  stop: AbortSignal;
  /** Abandons running cases, too. */
  cancel: AbortSignal;
  onProgress: (text: string) => void;
}

export const hasTuning = (folder: string) => existsSync(join(folder, 'report.json'));

/** @throws WinnowError `cancelled`, `model_failed`, `prompt_invalid`; `invalid_option` for too few cases */
export async function tune(options: TuneOptions): Promise<TuneReport> {
  const { folder, prompts, promptPaths, settings, model, now = () => performance.now() } = options;
  const texts = new Map(prompts.map((name) => [name, readPrompt(promptPaths[name] ?? defaultPromptPath(name))]));
  const { split, notices } = splitOf(options, [...texts.values()]);
  const startedAt = now();
  const left = () => options.budget - (now() - startedAt);
  const budget = { millisecondsLeft: (reserve = 0) => left() - reserve };
  const cache = options.cache && createAnswerCache(model, options.cache);
  try {
    const results = [];
    for (const [place, prompt] of prompts.entries()) {
      // Later prompts get an even share of what is left.
      const later = prompts.length - place - 1;
      const reserve = (Math.max(0, left()) * later) / (later + 1);
      const run = { prompt, texts, split, reserve, budget, notices, answering: { model, cache } };
      results.push(await tunePrompt(partsOf(options, run)));
    }
    const report: TuneReport = {
      format: 1,
      settings: { ...settings },
      milliseconds: Math.round(now() - startedAt),
      split: { training: idsOf(split.training), choosing: idsOf(split.choosing), heldBack: idsOf(split.heldBack) },
      notices: [...notices],
      prompts: results.map((one) => one.report),
    };
    const kept = results.flatMap(({ best }) => best ?? []);
    writeTuneOutputs(folder, { report, kept, texts, promptPaths });
    return report;
  } finally {
    await cache?.close();
  }
}

const idsOf = (cases: readonly EvaluationCase[]) => cases.map(({ id }) => id);

function splitOf({ cases, seed }: TuneOptions, texts: readonly string[]): { split: Split; notices: string[] } {
  const shown = new Set(cases.filter(holdsTextOf(texts)).map(({ id }) => id));
  const split = splitCases(cases, { seed, mustTrain: ({ id }) => shown.has(id) });
  const notice = `Cases whose words stand in a prompt already, so that they only train: ${[...shown].join(', ')}.`;
  return { split, notices: shown.size === 0 ? [] : [notice] };
}

interface PromptRun extends Pick<TunePromptParts, 'prompt' | 'split' | 'reserve' | 'budget'> {
  texts: ReadonlyMap<TunedPrompt, string>;
  /** Warnings for people, added during the run. */
  notices: string[];
  answering: AnsweringModel;
}

function partsOf(options: TuneOptions, run: PromptRun): TunePromptParts {
  const { prompt, texts, split, budget, answering } = run;
  const { suites, stop, cancel, jobs, folder } = options;
  const catalogs = new Map(suites.map(({ name, catalog }) => [name, catalog]));
  const tools = [...catalogs.values()].flatMap((catalog) => catalog.tools);
  const ofTools = tools.flatMap(({ name, description, category = '' }) => [name, description, category]);
  const withheld = [...split.choosing, ...split.heldBack];
  return {
    ...options,
    ...run,
    text: texts.get(prompt) ?? '',
    gate: createPromptGate({ training: split.training, withheld, known: [...texts.values(), ...ofTools] }),
    measure: createMeasurer({
      prompt,
      createRunner: runnerOf(options, run),
      budget,
      countTokens: answering.model.countTokens,
      folder: join(folder, 'variants'),
      jobs,
      stop,
      cancel,
      onError: ({ id, error }) =>
        run.notices.push(`${prompt}: the case ${id} was left out once, with ${error?.code}: ${error?.message}`),
    }),
    model: answering.cache?.model ?? answering.model,
    catalogs,
    signal: cancel,
    onProgress: (text) => options.onProgress(`${prompt}: ${text}`),
  };
}

/** Judges each stage alone, so that a gain is the prompt's own: planning gets the expected tools and others. */
function runnerOf(options: TuneOptions, { prompt, answering }: PromptRun): MeasurerParts['createRunner'] {
  const { suites, promptPaths, seed, today } = options;
  const only = prompt === 'select-tools' ? 'select' : 'plan';
  const { maxTools } = options.options;
  const judging = { only, maxTools, seed, today } as const;
  return (variant, promptFile, onStablePart) => {
    const input = { ...options.options, ...variant.options, ...(only === 'plan' ? PLANNING_ALONE : {}) };
    const parts = { ...answering, options: input, prompts: { ...promptPaths, [prompt]: promptFile }, onStablePart };
    const planners = suites.map((suite) => [suite.name, createSuitePlanners(suite, parts)] as const);
    return createCaseRunner({ ...judging, suites: new Map(planners) });
  };
}
