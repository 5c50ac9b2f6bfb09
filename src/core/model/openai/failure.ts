/**
 * Failures of a server: as facts, while another attempt or another form of the request may help, and as the WinnowError
 * that callers get. Messages contain no key and no quotation of a prompt.
 */
import { type ErrorCode, isNeverConnected, isUntrusted, WinnowError } from '../../errors.js';
import { createKeyMask, maskKeysIn } from '../../secret-forms.js';
import type { Prompt } from '../model.js';
import { parseJson } from '../structured.js';
import type { OpenAISettings } from './options.js';

/** With `status`: a refusal. With `code`: a failed connection. With neither: a malformed answer. */
export interface FailureFacts {
  readonly status?: number;
  readonly code?: string;
  readonly text: string;
  readonly retryAfterMs?: number | undefined;
}

/** Internal to this folder; callers get a WinnowError. */
export class ServerFailure extends Error {
  readonly facts: FailureFacts;

  constructor(facts: FailureFacts) {
    super('The model server failed.');
    // The name that traces show.
    this.name = String(facts.status ?? (facts.code || 'unusable_answer'));
    this.facts = facts;
  }
}

const CONTEXT_EXCEEDED =
  /context.?(length|window|size)|maximum (model|context|input) length|prompt is too long|too many (input )?tokens|input is too long|exceeds? the (model'?s )?context/i;
const QUOTA = /insufficient_quota|billing/i;

export function isContextExceeded({ status = 0, text }: FailureFacts): boolean {
  return status >= 400 && CONTEXT_EXCEEDED.test(text);
}

const FORM = /response_format|\bformat\b|schema|grammar|sampler|json.?(?:mode|object)/i;

/** Whether the server refused the form of the request; llama.cpp and Ollama then answer with status 500. */
export function isFormRefused({ status = 0, text }: FailureFacts): boolean {
  return [400, 404, 422, 500, 501].includes(status) && FORM.test(text);
}

export function isTransient(facts: FailureFacts): boolean {
  const { status, code, text } = facts;
  if (status === undefined) return code === undefined || !isNeverConnected(code);
  if (isContextExceeded(facts) || isFormRefused(facts) || (status === 429 && QUOTA.test(text))) return false;
  return status === 408 || status === 429 || (status >= 500 && status !== 501);
}

export function toModelError({ facts }: ServerFailure, settings: OpenAISettings, prompt: Prompt): WinnowError {
  const { baseUrl, model } = settings;
  const { status, code, text } = facts;
  const wordsOf = (said: string) => shownWords(said, settings, prompt);
  const toError = (code: ErrorCode, message: string, more: object = {}) =>
    new WinnowError(code, message, { details: { baseUrl, model, ...more } });
  if (code !== undefined) {
    const [says, advice] = isUntrusted(code)
      ? ['No trusted certificate at', ' Name its authority by NODE_EXTRA_CA_CERTS.']
      : isNeverConnected(code)
        ? ['No model server answers at', ' Start it, or correct the base URL.']
        : ['The connection was cut by', ''];
    const message = `${says} ${baseUrl} (${code || wordsOf(text) || 'no connection'}).${advice}`;
    return toError(isNeverConnected(code) ? 'model_unavailable' : 'model_failed', message, { code });
  }
  if (status === undefined)
    return toError('model_failed', `The server at ${baseUrl} gave no usable answer: ${wordsOf(text)}.`);
  const words = wordsOf(serverMessage(text));
  const message = `The server at ${baseUrl} answered ${status}${words && `: ${words}`}`.replace(
    /(?<![.\s])[.\s]+$/,
    '',
  );
  if (isContextExceeded(facts))
    return toError('context_exceeded', `${message}. Set contextTokens of the model to what the server takes.`, {
      status,
    });
  const advice = adviceOn({ ...facts, status });
  return toError(isTransient(facts) ? 'model_failed' : 'model_refused', `${message}. ${advice}`, { status });
}

function adviceOn({ status, text, retryAfterMs = 0 }: FailureFacts & { status: number }): string {
  if (status < 400) return 'Redirections are not followed: correct the base URL.';
  if (status === 401 || status === 403) return 'Check the key.';
  if (status === 404) return 'Check the name of the model and the base URL (it often ends in /v1).';
  const seconds = Math.ceil(retryAfterMs / 1_000);
  if (status === 429 && QUOTA.test(text)) return 'Check the quota of the key.';
  if (status === 429) return `Wait${seconds > 0 ? ` ${seconds} s` : ''}, or ask for less at once.`;
  if (status >= 500) return 'The log of the server should show why.';
  return 'Headers and further fields of each call can be set: headers and extraBody of the model.';
}

/** The server's message: OpenAI's `error.message`, else other common fields, else the body. */
function serverMessage(body: string): string {
  const parsed = parseJson(body);
  const { error, message, detail } = Object(parsed);
  const places: unknown[] = [error?.message, error, message, detail];
  const found = places.find((part) => typeof part === 'string' && part !== '');
  // Serialised again, JSON has no \u escapes, which would hide a quotation.
  return String(found ?? (parsed === undefined ? body : JSON.stringify(parsed)));
}

const MAX_READ_CHARACTERS = 4_000;
const MAX_SHOWN_CHARACTERS = 600;

/** Masks keys before the text is cut, since part of a key would not be recognised. */
function shownWords(text: string, { apiKey, headers }: OpenAISettings, prompt: Prompt): string {
  const masked = maskKeysIn(createKeyMask([apiKey, ...Object.values(headers)])(text.replace(/\s+/g, ' ').trim()));
  return untilQuotation(masked.slice(0, MAX_READ_CHARACTERS), prompt).slice(0, MAX_SHOWN_CHARACTERS);
}

/** A Chinese character counts as a word. The letter of `\n`, `\r` and `\t` in JSON does not. */
const WORD = /(?<=\\[nrt]|(?<!\\))(?:\p{Script=Han}|(?:(?!\p{Script=Han})[\p{L}\p{M}\p{N}_'-])+)/gu;
/** Fewer words can match a prompt by chance. */
const QUOTED_WORDS = 4;
/** Codes and passwords reveal much in one word. */
const TELLING = /^(?=.*\p{N}).{4,}/u;

/** The text up to its first quotation of the prompt: errors go into logs, which must not contain prompts. */
export function untilQuotation(text: string, { system, user }: Prompt): string {
  const wordsOf = (part: string) => [...part.toLowerCase().matchAll(WORD)];
  const inLine = (words: readonly RegExpExecArray[]) => ` ${words.map(([word]) => word).join(' ')} `;
  const [known, asked, said] = [inLine(wordsOf(system)), inLine(wordsOf(user)), wordsOf(text)];
  const first = said.find((word, at) => {
    const run = inLine(said.slice(at, at + QUOTED_WORDS));
    const isRun = at + QUOTED_WORDS <= said.length && (known.includes(run) || asked.includes(run));
    return isRun || (TELLING.test(word[0]) && asked.includes(inLine([word])) && !known.includes(inLine([word])));
  });
  return first ? `${text.slice(0, first.index)}[…]` : text;
}
