/**
 * The call log: one JSON line a model call, with the whole prompt and answer, for those who tune prompts. It is off
 * unless a file is named, since prompts hold what users wrote. A logged model answers exactly as the bare one.
 * Where a visible tool has an argument marked secret, a line has no words, unless the operator asks for them.
 */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { toWinnowError, WinnowError } from '../errors.js';
import type { CallAbout, Model, Prompt, Usage } from '../model/model.js';
import { watchReader, wrapModel } from '../model/wrap-model.js';
import { createKeyMask, maskKeysIn } from '../secret-forms.js';

export interface CallLog {
  readonly isOn: boolean;
  /** Whether words are logged where a visible tool has an argument marked secret. */
  readonly includesSecrets: boolean;
  /** Never throws: a full disk must not fail a request. */
  write(entry: Readonly<Record<string, unknown>>): void;
  /** Idempotent. */
  close(): void;
}

export interface CallLogOptions {
  /** A file to which lines are appended, readable by its owner only. */
  destination: 'off' | (string & {});
  /** Default: false. */
  includesSecrets?: boolean | undefined;
  /** Literal values that no line may hold: keys of the configuration. Default: none. */
  secrets?: readonly string[] | undefined;
  /** Called once, when writing fails for the first time. */
  onError?: ((error: unknown) => void) | undefined;
}

/** @throws WinnowError `invalid_option` when the file cannot be opened. */
export function createCallLog(options: CallLogOptions): CallLog {
  const { destination, includesSecrets = false, secrets = [], onError } = options;
  let file = destination === 'off' ? undefined : openForAppending(destination);
  let hasFailed = false;
  const mask = createKeyMask(secrets);
  return {
    isOn: file !== undefined,
    includesSecrets,
    write(entry) {
      if (file === undefined) return;
      try {
        writeSync(file, `${maskKeysIn(mask(JSON.stringify(entry)))}\n`);
      } catch (error) {
        if (!hasFailed) onError?.(error);
        hasFailed = true;
      }
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

function openForAppending(path: string): number {
  try {
    mkdirSync(dirname(path), { recursive: true });
    return openSync(path, 'a', 0o600);
  } catch (cause) {
    throw new WinnowError('invalid_option', `The call log "${path}" cannot be written.`, { cause });
  }
}

interface Asked {
  stage?: string | undefined;
  prompt: Prompt;
  about?: CallAbout | undefined;
}

interface Outcome {
  outcome: string;
  answer?: unknown;
  finish?: string;
  error?: string;
  usage: Usage;
}

/** The model itself when the log is off. A reader has one line, written when it is closed. */
export function withCallLog(model: Model, log: CallLog): Model {
  if (!log.isOn) return model;
  const startCall = (asked: Asked) => {
    const startedAt = performance.now();
    return (outcome: Outcome): void => {
      const milliseconds = Math.round(performance.now() - startedAt);
      log.write({ ...factsOf(model, asked, outcome), milliseconds, ...wordsOf(log, asked, outcome) });
    };
  };
  return wrapModel(model, {
    async complete(request) {
      const write = startCall(request);
      try {
        const completion = await model.complete(request);
        const { text, finish, usage } = completion;
        write({ outcome: 'ok', answer: text, finish, usage });
        return completion;
      } catch (error) {
        write(failed(error));
        throw error;
      }
    },
    openReader(request, open) {
      const write = startCall(request);
      return watchReader(open, request, {
        onRefused: (error) => write(failed(error)),
        onClose(reader, failure, read) {
          const answer = { opening: request.opening, ...read };
          write({ outcome: 'ok', ...(failure ? failed(failure.error) : {}), answer, usage: reader.usage() });
        },
      });
    },
  });
}

/** What a line always tells: nothing here was written by a user or a model. */
function factsOf(model: Model, { stage = 'selection', about }: Asked, { outcome, finish, usage }: Outcome) {
  const { calls, read, cached, written } = usage;
  return {
    time: new Date().toISOString(),
    requestId: about?.requestId,
    session: about?.session,
    model: model.id,
    stage,
    module: about?.module,
    promptName: about?.promptName,
    promptHash: about?.promptHash,
    outcome,
    finish,
    tokens: { calls, read, cached, written },
  };
}

const LEFT_OUT = 'A visible tool has an argument marked secret; --call-log-secrets logs its calls whole.';

function wordsOf(log: CallLog, { prompt, about }: Asked, { answer, error }: Outcome) {
  if (about?.secretNames?.length && !log.includesSecrets) return { leftOut: LEFT_OUT };
  const { system, user } = prompt;
  return { variables: about?.variables, prompt: { system, user }, answer, error };
}

function failed(thrown: unknown): Outcome {
  const error = toWinnowError(thrown);
  const usage = { calls: 0, read: 0, cached: 0, written: 0, ...Object(error.details.usage) };
  return { outcome: error.code, error: error.message, usage };
}
