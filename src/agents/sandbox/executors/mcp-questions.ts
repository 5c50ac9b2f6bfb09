/**
 * Questions of an MCP server to the person at the client during a call (elicitation), validated and cleaned before
 * anybody sees them: forms of bounded size, without hidden characters, that ask for no secret.
 */
import { specTypeSchemas } from '@modelcontextprotocol/client';
import { isObject, objectOf } from '../../../core/catalog/schema/json.js';
import { secretArgumentNames } from '../../../core/catalog/schema/secrets.js';
import { hidesText, oneLine } from '../../../core/visible-text.js';
import type { ServerQuestion } from '../../hearing.js';
import { toJson } from '../json-value.js';

const MAX_MESSAGE_CHARACTERS = 4_000;
const MAX_FORM_CHARACTERS = 32_000;
/** A choice between 250 countries, each with its title, has 1,000. */
const MAX_FORM_PARTS = 2_000;

type Read = { ok: true; question: ServerQuestion } | { ok: false; reason: string };

/** @param asked the parameters of its request, unchecked, which may be large */
export function readQuestion(server: string, asked: unknown): Read {
  const { mode, message, requestedSchema } = objectOf(asked);
  if (isLong(message, requestedSchema)) return { ok: false, reason: 'its question is too long to read' };
  if (secretArgumentNames(objectOf(requestedSchema)).length > 0) return { ok: false, reason: 'it asks for a secret' };
  // Drops keywords outside the protocol, such as patterns; the rest checks the answer.
  const read = specTypeSchemas.ElicitRequestFormParams['~standard'].validate({ mode, message, requestedSchema });
  if (read.issues !== undefined) return { ok: false, reason: 'its question is no form as MCP has it' };
  const { type, properties, required = [] } = read.value.requestedSchema;
  const data: string[] = [...required];
  const form = { type, properties: withWords(properties, { data }), ...(required.length > 0 ? { required } : {}) };
  if (data.some(hidesText)) return { ok: false, reason: 'its question has hidden characters' };
  return { ok: true, question: { server, message: oneLine(read.value.message), requestedSchema: form } };
}

/** Measured before anything of it is read, and no further than the limits. */
function isLong(message: unknown, form: unknown): boolean {
  if (typeof message === 'string' && message.length > MAX_MESSAGE_CHARACTERS) return true;
  const json = toJson(form, { characters: MAX_FORM_CHARACTERS, parts: MAX_FORM_PARTS });
  return !json.ok || json.text.length > MAX_FORM_CHARACTERS;
}

/** Fields with texts for people; all else of a form is data that returns to the server unchanged. */
const WORDS = new Set(['title', 'description', 'enumNames']);

/** Puts each text for people on one line. @param data collects the other texts */
function withWords(value: unknown, { data, isWords = false }: { data: string[]; isWords?: boolean }): unknown {
  if (Array.isArray(value)) return value.map((item) => withWords(item, { data, isWords }));
  if (isObject(value)) {
    data.push(...Object.keys(value));
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map(([key, part]) => [key, withWords(part, { data, isWords: WORDS.has(key) })]));
  }
  if (typeof value !== 'string') return value;
  if (isWords) return oneLine(value);
  data.push(value);
  return value;
}
