/**
 * In which form a server can be asked: found out by asking, from the best down, and remembered for the life of the
 * model object, for each response schema by its name. A lower form is remembered only when it was answered, and never
 * after the higher one was: such a server merely dislikes the schema of one request.
 */
import { type FailureFacts, isContextExceeded, ServerFailure } from './server-failure.js';

/** `strict`: the schema in the subset of OpenAI's strict mode, which says less; see `strict-schema.ts`. */
const FORMATS = ['json_schema', 'strict', 'json_object', 'text'] as const;
export type AnswerFormat = (typeof FORMATS)[number];

export interface AnswerForm {
  readonly format: AnswerFormat;
  /** Whether a temperature is sent; reasoning models refuse any. */
  readonly temperature: boolean;
}

export interface FormQuestion<T> {
  /** Of the response schema; without one the answer is plain text. */
  schemaName: string | undefined;
  /** Whether the schema can be put in this form at all. */
  isPossible(format: AnswerFormat): boolean;
  ask(form: AnswerForm): Promise<T>;
}

interface Memory {
  readonly answered: Set<AnswerFormat>;
  /** Not asked in again. */
  readonly refused: Set<AnswerFormat>;
}

const SPEAKS_OF_FORMAT = /response_format|schema|json/i;
const MAY_REFUSE_FORMAT: readonly number[] = [400, 404, 422, 501];

/** @returns a function that asks in the best known form, and in lower ones while the server refuses the form. */
export function createFormFinder(): <T>(question: FormQuestion<T>) => Promise<T> {
  const memories = new Map<string, Memory>();
  // One for all schemas: it is the model that refuses a temperature.
  let temperature = true;

  return async ({ schemaName, isPossible, ask }) => {
    const memory = memoryOf(memories, schemaName);
    const open = FORMATS.filter((format) => !memory.refused.has(format));
    const firstFrom = (place: number) => open.find((format) => FORMATS.indexOf(format) >= place && isPossible(format));
    const refused: AnswerFormat[] = [];
    let form: AnswerForm = { format: (schemaName === undefined ? undefined : firstFrom(0)) ?? 'text', temperature };
    for (;;) {
      try {
        const answer = await ask(form);
        temperature &&= form.temperature;
        learn(memory, form.format, refused);
        return answer;
      } catch (error) {
        if (!(error instanceof ServerFailure)) throw error;
        if (isAboutTemperature(form, error.facts)) form = { ...form, temperature: false };
        else {
          const format = isAboutFormat(error.facts) ? firstFrom(FORMATS.indexOf(form.format) + 1) : undefined;
          if (format === undefined) throw error;
          refused.push(form.format);
          form = { ...form, format };
        }
      }
    }
  };
}

function memoryOf(memories: Map<string, Memory>, schemaName = ''): Memory {
  const memory = memories.get(schemaName) ?? { answered: new Set(), refused: new Set() };
  memories.set(schemaName, memory);
  return memory;
}

function learn({ answered, refused }: Memory, format: AnswerFormat, refusedNow: readonly AnswerFormat[]): void {
  answered.add(format);
  for (const one of refusedNow) if (!answered.has(one)) refused.add(one);
}

function isAboutTemperature(form: AnswerForm, facts: FailureFacts): boolean {
  return facts.kind === 'status' && facts.status === 400 && form.temperature && /temperature/i.test(facts.body);
}

function isAboutFormat(facts: FailureFacts): boolean {
  if (facts.kind !== 'status' || isContextExceeded(facts)) return false;
  return facts.status === 400 || (MAY_REFUSE_FORMAT.includes(facts.status) && SPEAKS_OF_FORMAT.test(facts.body));
}
