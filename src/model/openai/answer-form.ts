/**
 * In which form a server can be asked: found out by asking, from the strictest down, and remembered for the life of
 * the model object. A lower form is remembered only when it was answered, and never after the higher one was:
 * such a server merely dislikes one schema.
 */
import { type FailureFacts, isContextExceeded, ServerFailure } from './server-failure.js';

const FORMATS = ['json_schema', 'json_object', 'text'] as const;
export type AnswerFormat = (typeof FORMATS)[number];

export interface AnswerForm {
  readonly format: AnswerFormat;
  /** Whether a temperature is sent; reasoning models refuse any. */
  readonly temperature: boolean;
}

const SPEAKS_OF_FORMAT = /response_format|schema|json/i;
const MAY_REFUSE_FORMAT: readonly number[] = [400, 404, 422, 501];

/** @returns a function that asks in the best known form, and in lower ones while the server refuses the form. */
export function createFormFinder(): <T>(hasSchema: boolean, ask: (form: AnswerForm) => Promise<T>) => Promise<T> {
  let known: AnswerForm = { format: 'json_schema', temperature: true };
  const answered = new Set<AnswerFormat>();

  const remember = (form: AnswerForm, hasSchema: boolean) => {
    const isLower = FORMATS.indexOf(form.format) > FORMATS.indexOf(known.format);
    const format = hasSchema && isLower && !answered.has(known.format) ? form.format : known.format;
    known = { format, temperature: known.temperature && form.temperature };
    if (hasSchema) answered.add(form.format);
  };

  return async (hasSchema, ask) => {
    let form: AnswerForm = hasSchema ? known : { ...known, format: 'text' };
    for (;;) {
      try {
        const answer = await ask(form);
        remember(form, hasSchema);
        return answer;
      } catch (error) {
        const next = error instanceof ServerFailure ? nextForm(form, error.facts) : undefined;
        if (next === undefined) throw error;
        form = next;
      }
    }
  };
}

/** The form to try after a refusal; undefined when the refusal is about something else. */
function nextForm(form: AnswerForm, facts: FailureFacts): AnswerForm | undefined {
  if (facts.kind !== 'status' || isContextExceeded(facts)) return undefined;
  if (facts.status === 400 && form.temperature && /temperature/i.test(facts.body)) {
    return { ...form, temperature: false };
  }
  const isAboutFormat =
    facts.status === 400 || (MAY_REFUSE_FORMAT.includes(facts.status) && SPEAKS_OF_FORMAT.test(facts.body));
  const format = isAboutFormat ? FORMATS[FORMATS.indexOf(form.format) + 1] : undefined;
  return format === undefined ? undefined : { ...form, format };
}
