/**
 * What a server did wrong: as facts, while it is open whether a further attempt or another form of the question helps,
 * and as the WinnowError that leaves the room. No key and no quotation of a prompt reaches a message.
 */
import { type ErrorCode, isNeverConnected, isUntrusted, WinnowError } from '../../errors.js';
import { createKeyMask, maskKeysIn } from '../../secret-forms.js';
import type { Prompt } from '../model.js';
import { parseJson } from '../structured.js';
import type { OpenAISettings } from './options.js';

/** With a status an answer that refuses, with a code a connection that failed; with neither an answer of another form. */
export interface FailureFacts {
  readonly status?: number;
  readonly code?: string;
  readonly text: string;
  readonly retryAfterMs?: number | undefined;
}

/** Internal: never leaves the room. */
export class ServerFailure extends Error {
  readonly facts: FailureFacts;

  constructor(facts: FailureFacts) {
    super('The model server failed.');
    // As traces name it.
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

/** A refused form of the question, of which llama.cpp and Ollama speak with status 500. */
export function isFormRefused({ status = 0, text }: FailureFacts): boolean {
  return [400, 404, 422, 500, 501].includes(status) && FORM.test(text);
}

export function isPassing(facts: FailureFacts): boolean {
  const { status, code, text } = facts;
  if (status === undefined) return code === undefined || !isNeverConnected(code);
  if (isContextExceeded(facts) || isFormRefused(facts) || (status === 429 && QUOTA.test(text))) return false;
  return status === 408 || status === 429 || (status >= 500 && status !== 501);
}

export function toModelError({ facts }: ServerFailure, settings: OpenAISettings, prompt: Prompt): WinnowError {
  const { baseUrl, model } = settings;
  const { status, code, text } = facts;
  const wordsOf = (said: string) => shownWords(said, settings, prompt);
  const tell = (code: ErrorCode, message: string, more: object = {}) =>
    new WinnowError(code, message, { details: { baseUrl, model, ...more } });
  if (code !== undefined) {
    const [says, advice] = isUntrusted(code)
      ? ['No trusted certificate at', ' Name its authority by NODE_EXTRA_CA_CERTS.']
      : isNeverConnected(code)
        ? ['No model server answers at', ' Start it, or correct the base URL.']
        : ['The connection was cut by', ''];
    const message = `${says} ${baseUrl} (${code || wordsOf(text) || 'no connection'}).${advice}`;
    return tell(isNeverConnected(code) ? 'model_unavailable' : 'model_failed', message, { code });
  }
  if (status === undefined)
    return tell('model_failed', `The server at ${baseUrl} gave no usable answer: ${wordsOf(text)}.`);
  const words = wordsOf(serverMessage(text));
  const message = `The server at ${baseUrl} answered ${status}${words && `: ${words}`}`.replace(/[.\s]+$/, '');
  if (isContextExceeded(facts)) return tell('context_exceeded', `${message}.`, { status });
  return tell(isPassing(facts) ? 'model_failed' : 'model_refused', `${message}. ${adviceOn(status, text)}`, { status });
}

function adviceOn(status: number, body: string): string {
  if (status < 400) return 'Redirections are not followed: correct the base URL.';
  if (status === 401 || status === 403) return 'Check the key.';
  if (status === 404) return 'Check the name of the model and the base URL (it often ends in /v1).';
  if (status === 429) return QUOTA.test(body) ? 'Check the quota of the key.' : 'Wait, or ask for less at once.';
  if (status >= 500) return 'The log of the server should tell more.';
  return 'Headers and further fields of each call can be set: headers and extraBody of the model.';
}

/** The words of the server: OpenAI's `error.message`, else the usual other places, else the body. */
function serverMessage(body: string): string {
  const parsed = parseJson(body);
  const { error, message, detail } = Object(parsed);
  const places: unknown[] = [error?.message, error, message, detail];
  const found = places.find((part) => typeof part === 'string' && part !== '');
  // Written anew, JSON has no letters as \u codes, by which a quotation could not be known.
  return String(found ?? (parsed === undefined ? body : JSON.stringify(parsed)));
}

const MAX_READ_CHARACTERS = 4_000;
const MAX_SHOWN_CHARACTERS = 600;

/** Keys are masked before the words are cut: half a key would not be known for one. */
function shownWords(text: string, { apiKey, headers }: OpenAISettings, prompt: Prompt): string {
  const masked = maskKeysIn(createKeyMask([apiKey, ...Object.values(headers)])(text.replace(/\s+/g, ' ').trim()));
  return untilQuotation(masked.slice(0, MAX_READ_CHARACTERS), prompt).slice(0, MAX_SHOWN_CHARACTERS);
}

/** A character of Chinese is a word. A letter behind a backslash is none: in JSON it stands for a line break. */
const WORD = /(?<=\\[nrt]|(?<!\\))(?:\p{Script=Han}|(?:(?!\p{Script=Han})[\p{L}\p{M}\p{N}_'-])+)/gu;
/** By chance fewer words stand in a prompt in the same order. */
const QUOTED_WORDS = 4;
/** Codes and passwords tell much in one word. */
const TELLING = /(?=.*\p{N}).{4,}/u;

/** The words of a server up to where they quote the prompt: errors go into logs, where no prompt may stand. */
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
