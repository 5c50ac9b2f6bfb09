/** Models as evaluation and tuning ask them: every call is logged where that is wanted, and the answers have a place. */

import { join } from 'node:path';
import { withCallLog } from '../agents/logging/call-log.js';
import type { ModelSettings } from '../core/model/create-model.js';
import { createLocalModels } from '../core/model/create-model.js';
import type { Model } from '../core/model/model.js';
import { cacheFolder } from '../core/model/store/model-file.js';
import { ANSWERS_FOLDER, type AnswerCacheOptions, createAnswerCache } from '../eval/answer-cache.js';
import { pairId } from '../eval/prices.js';
import { hashOf, type Settings } from '../eval/run-summary.js';
import type { AnsweringModel } from '../eval/suite.js';
import type { ConfigFile } from './config-file.js';
import type { PlanningFlags } from './flags.js';
import { modelSettings, planningModelSettings } from './model-settings.js';
import { openCallLog, openModel } from './set-up.js';

export interface LoggedModel {
  readonly model: Model;
  /** Where its answers may be remembered. */
  readonly answers: AnswerCacheOptions;
  readonly asked: Settings;
  close(): Promise<void>;
}

export interface AnsweringModels {
  /** Of both models, where there are two. */
  readonly id: string;
  /** How each of them is asked. */
  readonly asked: Settings;
  /** For planners that remember answers, or never do. */
  answering(remembers: boolean): AnsweringModel & { planning: AnsweringModel | undefined };
  close(): Promise<void>;
}

interface Context {
  stderr: NodeJS.WriteStream;
  signal: AbortSignal;
}

/**
 * The model of one stage alone, which is that of both where there is no other.
 * @throws WinnowError `invalid_option`, `model_unavailable`, `cancelled`
 */
export async function openLoggedModel(
  settings: ModelSettings,
  { flags, config, ...context }: Context & { flags: PlanningFlags; config: ConfigFile },
): Promise<LoggedModel> {
  const callLog = openCallLog(flags, config);
  try {
    const model = await openModel(settings, context);
    return {
      model: withCallLog(model, callLog),
      answers: answersOf(settings),
      asked: askedOf(settings),
      close: async () => {
        callLog.close();
        await model.close();
      },
    };
  } catch (error) {
    callLog.close();
    throw error;
  }
}

/** The models of both stages. @throws WinnowError `invalid_option`, `model_unavailable`, `cancelled` */
export async function openAnsweringModels(
  flags: PlanningFlags,
  config: ConfigFile,
  context: Context & { cache: boolean },
): Promise<AnsweringModels> {
  const settings = modelSettings(flags, config);
  const planningSettings = planningModelSettings(config, settings);
  const opened: { close(): unknown }[] = [];
  const localModels = createLocalModels();
  const close = async () => {
    for (const one of opened.splice(0).reverse()) await one.close();
  };
  const open = async (own: ModelSettings, answers: AnswerCacheOptions): Promise<AnsweringModel> => {
    const bare = await openModel(own, { ...context, localModels });
    opened.push(bare);
    const model = withCallLog(bare, callLog);
    const cache = context.cache ? createAnswerCache(model, answers) : undefined;
    if (cache) opened.push(cache);
    return { model, cache };
  };
  const callLog = openCallLog(flags, config);
  opened.push(callLog);
  try {
    const both = await open(settings, answersOf(settings));
    // A file has one writer a process, and the two may differ only in their time-outs.
    const planning = planningSettings && (await open(planningSettings, answersOf(planningSettings, 'planning')));
    const as = (remembers: boolean, one: AnsweringModel) => (remembers ? one : { model: one.model });
    return {
      id: pairId(both.model.id, planning?.model.id),
      asked: { selection: askedOf(settings), planning: planningSettings && askedOf(planningSettings) },
      answering: (remembers) => ({ ...as(remembers, both), planning: planning && as(remembers, planning) }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What changes its answers, but for its address: a run goes on with the same. A body may hold a key: its hash stands for it. */
function askedOf({ temperature, logprobs, contextTokens, extraBody }: ModelSettings): Settings {
  const whole = { temperature: temperature || undefined, logprobs: logprobs || undefined, contextTokens };
  return { ...whole, extraBody: extraBody && hashOf(extraBody) };
}

/** Two servers may have different models of one name, and one may be asked in different ways. */
function answersOf({ baseUrl, temperature, logprobs, extraBody }: ModelSettings, stage?: string): AnswerCacheOptions {
  return { folder: answersFolder(), parameters: { baseUrl, temperature, logprobs, extraBody, stage } };
}

/** Where the answers of models are kept on disk. */
function answersFolder(): string {
  return join(cacheFolder(), ANSWERS_FOLDER);
}
