/**
 * What a server did wrong, before it is known whether it matters: it may be retried, answered by asking in another
 * form, or become a WinnowError. Neither keys nor what is quoted of a prompt get from here into a message.
 */
import { type ErrorCode, isNeverConnected, isUntrusted, WinnowError } from '../../errors.js';
import { createKeyMask, maskKeysIn } from '../../secret-forms.js';
import type { Prompt } from '../model.js';
import type { OpenAISettings } from './options.js';
import { withoutPrompt } from './without-prompt.js';

export type FailureFacts =
  | { kind: 'status'; status: number; body: string; retryAfterMs: number | undefined }
  | { kind: 'network'; code: string; message: string }
  | { kind: 'answer'; message: string };

type StatusFacts = Extract<FailureFacts, { kind: 'status' }>;

/** Internal: never leaves the room. */
export class ServerFailure extends Error {
  readonly facts: FailureFacts;

  constructor(facts: FailureFacts, cause?: unknown) {
    super(facts.kind === 'status' ? `HTTP ${facts.status}` : facts.message, { cause });
    this.name = 'ServerFailure';
    this.facts = facts;
  }
}

const CONTEXT_EXCEEDED =
  /context.?(length|window|size)|maximum (model|context|input) length|prompt is too long|too many (input )?tokens|input is too long|exceeds? the (model'?s )?context/i;
const QUOTA = /insufficient_quota|billing/i;
const MAX_QUOTED_CHARACTERS = 600;

/** The innermost code and message of a failed fetch; errors of another realm are no instances of Error here. */
export function networkFailure(error: unknown): ServerFailure {
  let code = '';
  let message = '';
  for (let link = error, depth = 0; typeof link === 'object' && depth < 5; link = fieldOf(link, 'cause'), depth += 1) {
    code = textOr(fieldOf(link, 'code'), code);
    message = textOr(fieldOf(link, 'message'), message);
  }
  return new ServerFailure({ kind: 'network', code, message }, error);
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}

export function isContextExceeded(facts: FailureFacts): boolean {
  return facts.kind === 'status' && facts.status >= 400 && CONTEXT_EXCEEDED.test(facts.body);
}

/** Whether the same request may succeed a moment later. */
export function isPassing(facts: FailureFacts): boolean {
  if (facts.kind === 'network') return !isNeverConnected(facts.code);
  if (facts.kind === 'answer') return true;
  if (isContextExceeded(facts) || (facts.status === 429 && QUOTA.test(facts.body))) return false;
  return facts.status === 408 || facts.status === 429 || (facts.status >= 500 && facts.status !== 501);
}

/** The failure of a call with this prompt as it leaves the room. */
export function toModelError(failure: ServerFailure, settings: OpenAISettings, prompt: Prompt): WinnowError {
  const { facts } = failure;
  // Cut afterwards: half a key would not be known for one.
  const wordsOf = (text: string) =>
    maskKeys(withoutPrompt(text, prompt), settings).trim().slice(0, MAX_QUOTED_CHARACTERS);
  const details = { baseUrl: settings.baseUrl, model: settings.model };
  if (facts.kind === 'network') return networkError(facts, settings, failure);
  if (facts.kind === 'answer') {
    const message = `The server at ${settings.baseUrl} gave no usable answer: ${wordsOf(facts.message)}.`;
    return new WinnowError('model_failed', message, { details });
  }
  const said = wordsOf(serverMessage(facts.body));
  const code = codeOf(facts);
  const message = `The server at ${settings.baseUrl} answered ${facts.status}${said ? `: ${said}` : ''}`;
  return new WinnowError(code, `${message.replace(/[.\s]+$/, '')}.${adviceFor(facts)}`, {
    details: { ...details, status: facts.status },
  });
}

function networkError(facts: { code: string; message: string }, settings: OpenAISettings, cause: Error): WinnowError {
  const why = facts.code || maskKeys(facts.message, settings) || 'no connection';
  const details = { baseUrl: settings.baseUrl, model: settings.model, code: facts.code };
  if (isNeverConnected(facts.code)) {
    const message = isUntrusted(facts.code)
      ? `The certificate of ${settings.baseUrl} is not accepted (${why}). Name its authority by NODE_EXTRA_CA_CERTS.`
      : `No model server answers at ${settings.baseUrl} (${why}). Start it, or correct the base URL.`;
    return new WinnowError('model_unavailable', message, { details, cause });
  }
  const message = `The connection to ${settings.baseUrl} was cut (${why}).`;
  return new WinnowError('model_failed', message, { details, cause });
}

function codeOf(facts: StatusFacts): ErrorCode {
  if (isContextExceeded(facts)) return 'context_exceeded';
  return isPassing(facts) ? 'model_failed' : 'model_refused';
}

function adviceFor(facts: StatusFacts): string {
  const { status, body } = facts;
  if (isContextExceeded(facts)) return '';
  if (status === 401 || status === 403) return ' Check the key.';
  if (status === 404) return ' Check the name of the model and the base URL (it often ends in /v1).';
  if (status === 429) return QUOTA.test(body) ? ' Check the quota of the key.' : ' Wait, or ask for less at once.';
  if (status >= 500) return ' The log of the server should tell more.';
  return ' Headers and further fields of each call can be set: headers and extraBody of the model.';
}

/** The words of the server: OpenAI's `error.message`, else the usual other places, else the body. */
function serverMessage(body: string): string {
  const parsed = parseJson(body);
  const error = fieldOf(parsed, 'error');
  const found = [fieldOf(error, 'message'), error, fieldOf(parsed, 'message'), fieldOf(parsed, 'detail')].find(
    (part) => typeof part === 'string' && part !== '',
  );
  // Written anew, JSON has no letters as \u codes, by which a quotation could not be known.
  const text = typeof found === 'string' ? found : parsed === undefined ? body : JSON.stringify(parsed);
  return text.replace(/\s+/g, ' ').trim();
}

function maskKeys(text: string, { apiKey, headers }: OpenAISettings): string {
  return maskKeysIn(createKeyMask([apiKey, ...Object.values(headers)])(text));
}

export function fieldOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
