/** A model as evaluation and tuning ask it: every call is logged where that is wanted, and its answers have a place. */
import type { ConfigFile } from '../config/config-file.js';
import type { AnswerCacheOptions } from '../evaluation/answer-cache.js';
import { createCallLog, withCallLog } from '../logging/call-log.js';
import type { Model } from '../model/model.js';
import { answersFolder } from './kept-answers.js';
import { modelSettings } from './model-settings.js';
import { openModel } from './set-up.js';
import type { SharedFlags } from './shared-options.js';

export interface LoggedModel {
  readonly model: Model;
  /** Where its answers may be remembered. */
  readonly answers: AnswerCacheOptions;
  close(): Promise<void>;
}

/** @throws WinnowError `invalid_option`, `model_unavailable`, `cancelled` */
export async function openLoggedModel(
  flags: SharedFlags,
  config: ConfigFile,
  context: { stderr: NodeJS.WriteStream; signal: AbortSignal },
): Promise<LoggedModel> {
  const settings = modelSettings(flags, config);
  const model = await openModel(settings, context);
  const callLog = createCallLog({ destination: flags.callLog ?? config.callLog ?? 'off' });
  return {
    model: withCallLog(model, callLog),
    // Two servers may have different models of one name.
    answers: { folder: answersFolder(), parameters: { baseUrl: settings.baseUrl } },
    close: async () => {
      callLog.close();
      await model.close();
    },
  };
}
