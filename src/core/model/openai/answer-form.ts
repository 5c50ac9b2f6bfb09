/**
 * The form in which a server takes a question. It is found by asking, from the strictest form down, and remembered for
 * the life of the model: a format for each response schema by its name, since a server may dislike one schema only; the
 * fields for all, since it is the model that refuses them.
 */
import type { CompletionRequest } from '../model.js';
import { type FailureFacts, isContextExceeded, ServerFailure } from './failure.js';

const FORMATS = ['json_schema', 'json_object', 'text'] as const;

/** Fields of a request that some models refuse. */
interface Fields {
  readonly temperature: boolean;
  /** Which field limits the answer. OpenAI's reasoning models take the newer one alone. */
  readonly limit: 'max_tokens' | 'max_completion_tokens';
}

export interface AnswerForm extends Fields {
  readonly format: (typeof FORMATS)[number];
}

/** @returns a function that asks in the best known form, and in lower ones while the server refuses the form */
export function createFormFinder() {
  /** Of each schema name, the place of the format that was answered first: those above it were refused then. */
  const answered = new Map<string, number>();
  let fields: Fields = { temperature: true, limit: 'max_tokens' };

  return async <T>(schema: CompletionRequest['schema'], ask: (form: AnswerForm) => Promise<T>): Promise<T> => {
    if (!schema) answered.set('', FORMATS.indexOf('text'));
    const name = schema?.name ?? '';
    let place = answered.get(name) ?? 0;
    for (let tried = fields; ; ) {
      const format = FORMATS[place] ?? 'text';
      try {
        const answer = await ask({ ...tried, format });
        fields = tried;
        if (!answered.has(name)) answered.set(name, place);
        return answer;
      } catch (error) {
        if (!(error instanceof ServerFailure)) throw error;
        const other = withoutRefused(tried, error.facts);
        if (!other && (format === 'text' || !isAboutFormat(error.facts))) throw error;
        if (other) tried = other;
        else place += 1;
      }
    }
  };
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
