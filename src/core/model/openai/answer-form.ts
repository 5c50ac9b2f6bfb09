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

type Ask<T> = (form: AnswerForm, fields: Fields) => Promise<T>;

/** @returns a function that asks in the best known form, and in lower ones while the server refuses the form */
export function createFormFinder(): <T>(schema: CompletionRequest['schema'], ask: Ask<T>) => Promise<T> {
  /** Of each schema name. What was answered once stays; what was refused then is not asked in again. */
  const memories = new Map<string, Map<Format, 'answered' | 'refused'>>();
  let fields: Fields = { temperature: true, limit: 'max_tokens' };

  return async (schema, ask) => {
    const memory = memories.get(schema?.name ?? '') ?? new Map<Format, 'answered' | 'refused'>();
    memories.set(schema?.name ?? '', memory);
    const formats = FORMATS.filter((format) => memory.get(format) !== 'refused');
    const refused: Format[] = [];
    let tried = fields;
    const askFrom = async (place: number): ReturnType<typeof ask> => {
      const format = formats[place] ?? 'text';
      const form = formOf(format, schema);
      if (!form) return askFrom(place + 1);
      try {
        const answer = await ask(form, tried);
        fields = tried;
        memory.set(format, 'answered');
        for (const one of refused) if (!memory.has(one)) memory.set(one, 'refused');
        return answer;
      } catch (error) {
        if (!(error instanceof ServerFailure)) throw error;
        const other = withoutRefused(tried, error.facts);
        if (!other && (format === 'text' || !isAboutFormat(error.facts))) throw error;
        if (!other) refused.push(format);
        tried = other ?? tried;
        return askFrom(other ? place : place + 1);
      }
    };
    return askFrom(0);
  };
}

const TEXT: AnswerForm = { format: 'text', unwrap: (text) => text };

/** None where the format can't say the schema, or says the same as a stricter one. */
function formOf(format: Format, schema: CompletionRequest['schema']): AnswerForm | undefined {
  if (format === 'text') return TEXT;
  if (!schema) return undefined;
  if (format === 'json_object') return { ...TEXT, format };
  if (format === 'json_schema') return { ...TEXT, format, schema };
  const strict = toStrictSchema(schema.schema);
  if (!strict || sameJson(strict.schema, schema.schema)) return undefined;
  return { format: 'json_schema', schema: { ...schema, schema: strict.schema }, unwrap: strict.unwrap };
}

function withoutRefused(fields: Fields, facts: FailureFacts): Fields | undefined {
  if (facts.kind !== 'status' || facts.status !== 400) return undefined;
  if (fields.limit === 'max_tokens' && facts.body.includes('max_completion_tokens'))
    return { ...fields, limit: 'max_completion_tokens' };
  return fields.temperature && /temperature/i.test(facts.body) ? { ...fields, temperature: false } : undefined;
}

function isAboutFormat(facts: FailureFacts): boolean {
  if (facts.kind !== 'status' || isContextExceeded(facts)) return false;
  const speaksOfFormat = /response_format|schema|json/i.test(facts.body);
  return facts.status === 400 || ([404, 422, 501].includes(facts.status) && speaksOfFormat);
}
