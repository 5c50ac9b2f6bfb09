/**
 * The call log: one JSON line a model call, with the whole prompt and answer, for those who tune prompts. Off
 * unless a file is named, since prompts hold what users wrote. A logged model answers exactly as the bare one. Where a visible
 * tool has an argument marked secret, lines are written when their request has ended: a process that is killed loses those
 * of the requests that were running.
 */
import { toWinnowError } from '../errors.js';
import type {
  CallAbout,
  Completion,
  CompletionRequest,
  Model,
  Prompt,
  ReaderRequest,
  TokenReader,
  Usage,
} from '../model/model.js';
import { watchReader, wrapModel } from '../model/wrap-model.js';
import type { CallLog } from './call-log-file.js';
import { writeLine } from './secret-line.js';

export { type CallLog, type CallLogEntry, type CallLogOptions, createCallLog } from './call-log-file.js';

interface Call {
  /** Readers are always of selection. */
  stage: string;
  prompt: Prompt;
  about: CallAbout | undefined;
  startedAt: number;
}

interface Outcome {
  outcome: string;
  answer?: unknown;
  finish?: string;
  error?: string;
  usage: Usage;
}

type Tell = (call: Call, outcome: Outcome) => void;

/** The model itself when the log is off. */
export function withCallLog(model: Model, log: CallLog): Model {
  if (!log.isOn) return model;
  const tell: Tell = (call, outcome) => writeCall(log, model, { call, outcome });
  return wrapModel(model, {
    complete: (request) => loggedComplete(model, request, tell),
    openReader: (request, open) => loggedReader(open, request, tell),
  });
}

async function loggedComplete(model: Model, request: CompletionRequest, tell: Tell): Promise<Completion> {
  const call = { stage: request.stage, prompt: request.prompt, about: request.about, startedAt: performance.now() };
  try {
    const completion = await model.complete(request);
    const { text, finish, usage } = completion;
    tell(call, { outcome: 'ok', answer: text, finish, usage });
    return completion;
  } catch (error) {
    tell(call, failed(error));
    throw error;
  }
}

/** One line a reader, written when it is closed: a line for each weighing would repeat the prompt ten times. */
function loggedReader(
  open: NonNullable<Model['openReader']>,
  request: ReaderRequest,
  tell: Tell,
): Promise<TokenReader> {
  const call = {
    stage: request.stage ?? 'selection',
    prompt: request.prompt,
    about: request.about,
    startedAt: performance.now(),
  };
  return watchReader(open, request, {
    onRefused: (error) => tell(call, failed(error)),
    onClose(reader, failure, read) {
      const answer = { opening: request.opening, ...read };
      tell(call, { outcome: 'ok', ...(failure ? failed(failure.error) : {}), answer, usage: reader.usage() });
    },
  });
}

function writeCall(log: CallLog, model: Model, { call, outcome }: { call: Call; outcome: Outcome }): void {
  const { about, prompt } = call;
  const { calls, read, cached, written } = outcome.usage;
  const line = {
    time: new Date().toISOString(),
    requestId: about?.requestId,
    session: about?.session,
    model: model.id,
    stage: call.stage,
    module: about?.module,
    promptName: about?.promptName,
    promptHash: about?.promptHash,
    variables: about?.variables,
    prompt: { system: prompt.system, user: prompt.user },
    answer: outcome.answer,
    finish: outcome.finish,
    tokens: { calls, read, cached, written },
    milliseconds: Math.round(performance.now() - call.startedAt),
    outcome: outcome.outcome,
    error: outcome.error,
  };
  writeLine(log, line, about);
}

function failed(thrown: unknown): Outcome {
  const error = toWinnowError(thrown);
  return {
    outcome: error.code,
    error: error.message,
    usage: { calls: 0, read: 0, cached: 0, written: 0, ...Object(error.details.usage) },
  };
}
