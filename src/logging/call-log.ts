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
import { watchReader } from '../model/watch-reader.js';
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

/** The model itself when the log is off. */
export function withCallLog(model: Model, log: CallLog): Model {
  if (!log.isOn) return model;
  const { openReader } = model;
  return {
    id: model.id,
    limits: model.limits,
    preferredAnswer: model.preferredAnswer,
    complete: (request) => loggedComplete(model, log, request),
    ...(openReader ? { openReader: (request) => loggedReader({ ...model, openReader }, log, request) } : {}),
    countTokens: (text) => model.countTokens(text),
    close: () => model.close(),
  };
}

async function loggedComplete(model: Model, log: CallLog, request: CompletionRequest): Promise<Completion> {
  const call = { stage: request.stage, prompt: request.prompt, about: request.about, startedAt: performance.now() };
  try {
    const completion = await model.complete(request);
    const { text, finish, usage } = completion;
    writeCall(log, model, { call, outcome: { outcome: 'ok', answer: text, finish, usage } });
    return completion;
  } catch (error) {
    writeCall(log, model, { call, outcome: failed(error) });
    throw error;
  }
}

/** One line a reader, written when it is closed: a line for each weighing would repeat the prompt ten times. */
function loggedReader(
  model: Model & Required<Pick<Model, 'openReader'>>,
  log: CallLog,
  request: ReaderRequest,
): Promise<TokenReader> {
  const call = { stage: 'selection', prompt: request.prompt, about: request.about, startedAt: performance.now() };
  const tell = (outcome: Outcome) => writeCall(log, model, { call, outcome });
  return watchReader(model.openReader, request, {
    onRefused: (error) => tell(failed(error)),
    onClose(reader, failure, read) {
      const answer = { opening: request.opening, ...read };
      tell({ outcome: 'ok', ...(failure ? failed(failure.error) : {}), answer, usage: reader.usage() });
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
