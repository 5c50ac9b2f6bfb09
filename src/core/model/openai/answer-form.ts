/**
 * The form in which a server takes a question. It is found by asking, from the strictest form down, and remembered for
 * the life of the model: a format for each response schema by its name, since a server may dislike one schema only; the
 * fields for all, since it is the model that refuses them.
 */
import { sameJson } from '../../catalog/schema/json.js';
import type { JsonSchema } from '../../catalog/tool.js';
import type { CompletionRequest } from '../model.js';
import { type FailureFacts, isContextExceeded, ServerFailure } from './failure.js';
import { toStrictSchema } from './strict-schema.js';

/** `strict`: the schema in the subset of OpenAI's strict mode, which says less; see `strict-schema.ts`. */
const FORMATS = ['json_schema', 'strict', 'json_object', 'text'] as const;
type Format = (typeof FORMATS)[number];

/** Fields of a request that some models refuse. */
export interface Fields {
  readonly temperature: boolean;
  /** Which field limits the answer. OpenAI's reasoning models take the newer one alone. */
  readonly limit: 'max_tokens' | 'max_completion_tokens';
}

export interface AnswerForm {
  readonly format: 'json_schema' | 'json_object' | 'text';
  /** As it is sent. */
  readonly schema?: { name: string; schema: JsonSchema };
  /** The text as it would be under the schema that was given. */
  unwrap(text: string): string;
}

interface Memory {
  readonly answered: Set<Format>;
  /** Not asked in again. A format that was answered once never gets here. */
  readonly refused: Set<Format>;
}

type Ask<T> = (form: AnswerForm, fields: Fields) => Promise<T>;

/** @returns a function that asks in the best known form, and in lower ones while the server refuses the form */
export function createFormFinder(): <T>(schema: CompletionRequest['schema'], ask: Ask<T>) => Promise<T> {
  const memories = new Map<string, Memory>();
  let fields: Fields = { temperature: true, limit: 'max_tokens' };

  return async (schema, ask) => {
    const name = schema?.name ?? '';
    const memory = memories.get(name) ?? { answered: new Set(), refused: new Set() };
    memories.set(name, memory);
    const refused: Format[] = [];
    let tried = fields;
    let failure: unknown;
    const askIn = async (form: AnswerForm): Promise<Awaited<ReturnType<typeof ask>>> => {
      try {
        return await ask(form, tried);
      } catch (error) {
        const other = withoutRefused(tried, error);
        if (!other) throw error;
        tried = other;
        return askIn(form);
      }
    };
    for (const format of FORMATS.filter((one) => !memory.refused.has(one))) {
      const form = formOf(format, schema);
      if (!form) continue;
      try {
        const answer = await askIn(form);
        fields = tried;
        memory.answered.add(format);
        for (const one of refused) if (!memory.answered.has(one)) memory.refused.add(one);
        return answer;
      } catch (error) {
        if (!(error instanceof ServerFailure) || !isAboutFormat(error.facts)) throw error;
        refused.push(format);
        failure = error;
      }
    }
    throw failure;
  };
}

/** None where the format can't say the schema, or says the same as a stricter one. */
function formOf(format: Format, schema: CompletionRequest['schema']): AnswerForm | undefined {
  const unwrap = (text: string) => text;
  if (format === 'text') return { format, unwrap };
  if (!schema) return undefined;
  if (format === 'json_object') return { format, unwrap };
  if (format === 'json_schema') return { format, schema, unwrap };
  const strict = toStrictSchema(schema.schema);
  if (!strict || sameJson(strict.schema, schema.schema)) return undefined;
  return { format: 'json_schema', schema: { ...schema, schema: strict.schema }, unwrap: strict.unwrap };
}

function withoutRefused(fields: Fields, error: unknown): Fields | undefined {
  const facts = error instanceof ServerFailure ? error.facts : undefined;
  if (facts?.kind !== 'status' || facts.status !== 400) return undefined;
  if (fields.limit === 'max_tokens' && facts.body.includes('max_completion_tokens'))
    return { ...fields, limit: 'max_completion_tokens' };
  return fields.temperature && /temperature/i.test(facts.body) ? { ...fields, temperature: false } : undefined;
}

function isAboutFormat(facts: FailureFacts): boolean {
  if (facts.kind !== 'status' || isContextExceeded(facts)) return false;
  const speaksOfFormat = /response_format|schema|json/i.test(facts.body);
  return facts.status === 400 || ([404, 422, 501].includes(facts.status) && speaksOfFormat);
}
