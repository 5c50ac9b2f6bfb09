/**
 * Questions of an MCP server to the person at the client during a call (elicitation), validated and cleaned before
 * anybody sees them: forms of bounded size, without hidden characters, that ask for no secret.
 */
import { specTypeSchemas } from '@modelcontextprotocol/client';
import { isObject } from '../../../core/catalog/schema/json.js';
import { secretArgumentNames } from '../../../core/catalog/schema/secrets.js';
import { hidesText, oneLine } from '../../../core/visible-text.js';
import type { ServerQuestion } from '../../hearing.js';

const MAX_MESSAGE_CHARACTERS = 4_000;
const MAX_FORM_CHARACTERS = 32_000;

type Read = { ok: true; question: ServerQuestion } | { ok: false; reason: string };

/** @param asked the parameters of its request, unchecked */
export function readQuestion(server: string, asked: unknown): Read {
  const secrets = secretArgumentNames(Object(Object(asked).requestedSchema));
  if (secrets.length > 0) return { ok: false, reason: 'it asks for a secret' };
  // Drops keywords outside the protocol, such as patterns; the rest checks the answer.
  const read = specTypeSchemas.ElicitRequestFormParams['~standard'].validate(asked);
  if (read.issues !== undefined) return { ok: false, reason: 'its question is no form as MCP has it' };
  const { message, requestedSchema } = read.value;
  const { type, properties, required = [] } = requestedSchema;
  const data: string[] = [...required];
  const form = { type, properties: withWords(properties, { data }), ...(required.length > 0 ? { required } : {}) };
  const isLong = message.length > MAX_MESSAGE_CHARACTERS || JSON.stringify(form).length > MAX_FORM_CHARACTERS;
  if (isLong) return { ok: false, reason: 'its question is too long to read' };
  if (data.some(hidesText)) return { ok: false, reason: 'its question has hidden characters' };
  return { ok: true, question: { server, message: oneLine(message), requestedSchema: form } };
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
