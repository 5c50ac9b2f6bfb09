/** The answer of a server as the output of a tool: JSON parsed, text as text, other bytes as base64; never a secret. */
import type { CallFailure } from '../../failure.js';
import { fail } from '../../failure.js';
import type { Executed } from '../executor.js';
import type { HttpAnswer } from './send-request.js';

export interface ReadAnswerOptions {
  readonly mask: (text: string) => string;
  readonly maxBytes: number;
}

/** The server has not begun with these. */
const BUSY = new Set([429, 503]);
/** A gateway can't tell how far the server behind it came. */
const LOST = new Set([502, 504]);
const MAX_ERROR_CHARACTERS = 500;
const TEXT = /^(?:text\/|application\/(?:xml|javascript|yaml|x-ndjson|.+\+(?:xml|yaml))\b)/iu;
const JSON_TYPE = /^(?:application|text)\/(?:[\w.-]+\+)?json\b/iu;

export function readAnswer(answer: HttpAnswer, { mask, maxBytes }: ReadAnswerOptions): Executed {
  if (answer.tooLarge) return fail('output_too_large', `The server sent more than ${maxBytes} bytes.`);
  if (answer.status < 200 || answer.status > 299) return toFailure(answer, mask);
  if (answer.body.length === 0) return { ok: true, output: null };
  const type = answer.headers['content-type'] ?? '';
  if (JSON_TYPE.test(type)) return parseJson(mask(textOf(answer)));
  if (TEXT.test(type) || type === '') return { ok: true, output: mask(textOf(answer)) };
  const output = { contentType: type, base64: answer.body.toString('base64') };
  return { ok: true, output, notes: [`the server sent ${type}; its bytes are given as base64`] };
}

function parseJson(text: string): Executed {
  try {
    return { ok: true, output: JSON.parse(text) };
  } catch {
    return { ok: true, output: text, notes: ['the server said that it sends JSON, but it is none: given as text'] };
  }
}

function toFailure(answer: HttpAnswer, mask: (text: string) => string): CallFailure {
  const { status, headers } = answer;
  const words = mask(textOf(answer)).trim().slice(0, MAX_ERROR_CHARACTERS);
  const said = words === '' ? '' : `: ${words}`;
  const wait = headers['retry-after'] === undefined ? '' : ` It asks to wait ${headers['retry-after']} s.`;
  const reason = `The server answered with HTTP ${status}${said}.${wait}`;
  if (BUSY.has(status)) return fail('tool_unavailable', reason);
  return fail(LOST.has(status) ? 'connection_lost' : 'tool_failed', reason);
}

function textOf({ body, headers }: HttpAnswer): string {
  const [, charset] = /charset="?([\w-]+)/iu.exec(headers['content-type'] ?? '') ?? [];
  try {
    return new TextDecoder(charset ?? 'utf-8').decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}
