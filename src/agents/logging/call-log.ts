/**
 * The call log: one JSON line per model call, with the whole prompt and answer, for prompt tuning. It is off unless a
 * file is named, since prompts hold users' words. Logging never changes a model's answer. Where a visible tool has an
 * argument marked secret, lines leave out all words, unless the operator wants them.
 */
import { closeSync, fstatSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { WinnowError } from '../../core/errors.js';
import {
  type CallEnd,
  type CompletionRequest,
  type Model,
  type ReaderRequest,
  watchModel,
} from '../../core/model/model.js';
import { createKeyMask, maskKeysIn } from '../../core/secret-forms.js';
import { tightenFiles } from '../store/sql/sqlite-file.js';

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
  /** A file to which lines are appended, readable by its owner only, even if it was there before. */
  destination: 'off' | (string & {});
  /** Default: false. */
  includesSecrets?: boolean | undefined;
  /** Literal values that no line may hold: keys of the configuration. Default: none. */
  secrets?: readonly string[] | undefined;
  /** Called once, when writing fails for the first time. */
  onError?: ((error: unknown) => void) | undefined;
  /** Gets a sentence where other users could read the file. */
  onNotice?: ((notice: string) => void) | undefined;
}

/**
 * One JSON line for each call of a model.
 * @throws WinnowError `invalid_option` when the file cannot be opened.
 * @example
 * const log = createCallLog({ destination: 'calls.jsonl' });
 */
export function createCallLog(options: CallLogOptions): CallLog {
  const { destination, includesSecrets = false, secrets = [], onError, onNotice } = options;
  let file = destination === 'off' ? undefined : openForAppending(destination, onNotice);
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

function openForAppending(path: string, onNotice?: CallLogOptions['onNotice']): number {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const file = openSync(path, 'a', 0o600);
    // Not of a device, such as /dev/stderr, which others use, too.
    for (const notice of fstatSync(file).isFile() ? tightenFiles(path) : []) onNotice?.(notice);
    return file;
  } catch (cause) {
    throw new WinnowError('invalid_option', `The call log "${path}" cannot be written.`, { cause });
  }
}

/**
 * Returns the model itself when the log is off. A reader logs one line, when it is closed.
 * @example
 * const logged = withCallLog(model, createCallLog({ destination: 'calls.jsonl' }));
 */
export function withCallLog(model: Model, log: CallLog): Model {
  if (!log.isOn) return model;
  return watchModel(model, (request) => {
    const startedAt = performance.now();
    return (end) => {
      const milliseconds = Math.round(performance.now() - startedAt);
      log.write({ ...factsOf(model, request, end), milliseconds, ...wordsOf(log, request, end) });
    };
  });
}

type Asked = CompletionRequest | ReaderRequest;

/** Fields that every line has; none of them holds words of a user or a model. */
function factsOf(model: Model, { stage = 'selection', about }: Asked, { completion, error, usage }: CallEnd) {
  const { requestId, session, module, promptName, promptHash } = about ?? {};
  const { calls, read, cached, written } = usage;
  return {
    time: new Date().toISOString(),
    ...{ requestId, session, model: model.id, stage, module, promptName, promptHash },
    outcome: error?.code ?? 'ok',
    finish: completion?.finish,
    tokens: { calls, read, cached, written },
  };
}

const LEFT_OUT =
  'A visible tool has an argument marked secret; callLogSecrets: true in the configuration logs its calls whole.';

function wordsOf(log: CallLog, asked: Asked, { completion, reading, error }: CallEnd) {
  const { prompt, about } = asked;
  if (about?.secretNames?.length && !log.includesSecrets) return { leftOut: LEFT_OUT };
  const found = reading && 'opening' in asked ? { opening: asked.opening, ...reading } : undefined;
  const { system, user } = prompt;
  return {
    variables: about?.variables,
    prompt: { system, user },
    answer: completion?.text ?? found,
    error: error?.message,
  };
}
