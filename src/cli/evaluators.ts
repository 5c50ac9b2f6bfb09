/** Who answers the cases of an evaluation: models of this process, with a cache of answers, or the workers of a queue. */

import { join } from 'node:path';
import { readVersion } from '../core/environment.js';
import type { ModelSettings } from '../core/model/create-model.js';
import type { Model } from '../core/model/model.js';
import { cacheFolder } from '../core/model/store/model-file.js';
import { DEFAULT_MODEL } from '../core/model/store/sources.js';
import { loadOptional } from '../core/optional-package.js';
import { ANSWERS_FOLDER, type AnswerCacheOptions, createAnswerCache } from '../eval/answer-cache.js';
import { createCaseRunner } from '../eval/case-runner.js';
import { createLocalDispatcher } from '../eval/evaluate.js';
import { hashOf, pairId, type Settings } from '../eval/run-summary.js';
import { type AnsweringModel, createSuitePlanners } from '../eval/suite.js';
import type { ConfigFile } from './config-file.js';
import { QUEUE_PACKAGES } from './eval-options.js';
import type { EvaluationSetup, Evaluator, RunIdentity, SetupContext } from './eval-setup.js';
import { modelSettings, planningModelSettings } from './model-settings.js';
import { openModels } from './set-up.js';

/**
 * The models of both stages.
 * @returns `asked`: settings of each that change its answers; `answering`: for planners with or without a cache of answers
 * @throws WinnowError `invalid_option`, `model_unavailable`, `cancelled`
 */
export async function openAnsweringModels(
  config: ConfigFile,
  { cache: hasCache, ...context }: { stderr: NodeJS.WriteStream; signal: AbortSignal; cache: boolean },
) {
  const { model, planningModel, close } = await openModels(config, context);
  const settings = modelSettings(config);
  const ofPlanning = planningModelSettings(config, settings);
  const withCache = (one: Model, answers: AnswerCacheOptions): AnsweringModel => {
    return { model: one, cache: hasCache ? createAnswerCache(one, answers) : undefined };
  };
  const both = withCache(model, answersOf(settings));
  // Each process opens a cache file once, and the two models may differ only in their time-outs.
  const planning = ofPlanning && planningModel && withCache(planningModel, answersOf(ofPlanning, 'planning'));
  const as = (remembers: boolean, one: AnsweringModel) => (remembers ? one : { model: one.model });
  return {
    id: pairId(model.id, planningModel?.id),
    asked: { selection: askedOf(settings), planning: ofPlanning && askedOf(ofPlanning) },
    answering: (remembers: boolean) => ({ ...as(remembers, both), planning: planning && as(remembers, planning) }),
    async close() {
      await planning?.cache?.close();
      await both.cache?.close();
      await close();
    },
  };
}

/** Runs cases in this process. @throws WinnowError `invalid_option`, `model_unavailable`, `cancelled` */
export async function openLocalEvaluator(
  { flags, config, suites, options, prompts }: EvaluationSetup,
  context: SetupContext,
): Promise<Evaluator> {
  const { id, asked, answering, close } = await openAnsweringModels(config, { ...context, cache: flags.cache });
  return {
    model: id,
    asked,
    dispatcher({ judging, onStablePart }) {
      const parts = { ...answering(true), options, prompts, onStablePart };
      const planners = suites.map((suite) => [suite.name, createSuitePlanners(suite, parts)] as const);
      return createLocalDispatcher(createCaseRunner({ ...judging, suites: new Map(planners) }), flags.jobs);
    },
    close,
  };
}

/**
 * Workers on any machines run the cases with their model. Loads the queue's library only when a queue is used.
 * @throws WinnowError `store_failed`, `invalid_option`
 */
export async function openQueueEvaluator(
  { flags, config, suites, options, promptHashes }: EvaluationSetup,
  { earlier, name, startedAt, judging }: RunIdentity,
  onNotice: (text: string) => void,
): Promise<Evaluator> {
  const { openQueueCommand } = await loadOptional(() => import('../eval/queue/queue-command.js'), QUEUE_PACKAGES);
  const { paceSchema, runIdOf } = await import('../eval/queue/queued-run.js');
  const { queue: url = '', cache } = flags;
  const { model: { name: selecting = DEFAULT_MODEL.name } = {}, planningModel } = config;
  const model = earlier?.model ?? pairId(selecting, planningModel && (planningModel.name ?? selecting));
  const command = await openQueueCommand({
    url,
    run: {
      format: 4,
      id: runIdOf(name, startedAt),
      name,
      startedAt,
      identity: { version: readVersion(), prompts: { ...promptHashes }, model },
      catalogs: Object.fromEntries(suites.map((suite) => [suite.name, suite.catalog.fingerprint])),
      options,
      judging,
      cache,
      pace: paceSchema.parse({}),
    },
    onNotice,
  });
  return {
    model,
    dispatcher: ({ onStablePart }) => command.dispatcher({ onStablePart }),
    close: async () => command.close(),
  };
}

/** Settings that change answers, except the address; a resumed run must have the same. The body is hashed, since it may hold a key. */
export function askedOf({ temperature, logprobs, contextTokens, extraBody }: ModelSettings): Settings {
  const whole = { temperature: temperature || undefined, logprobs: logprobs || undefined, contextTokens };
  return { ...whole, extraBody: extraBody && hashOf(extraBody) };
}

/** Separates models of one name on different servers, and one model under different settings. */
export function answersOf(settings: ModelSettings, stage?: string): AnswerCacheOptions {
  const { baseUrl, temperature, logprobs, extraBody } = settings;
  const folder = join(cacheFolder(), ANSWERS_FOLDER);
  return { folder, parameters: { baseUrl, temperature, logprobs, extraBody, stage } };
}
