/**
 * Lines of the call log where a tool has an argument marked secret. Which of the user's words is its value, only the plan
 * shows: so the lines of a request wait until it has ended, and what any of its calls showed is masked in all of them.
 * Where that is not all that the words may tell, they are left out: there is no plan, or it shows a value that does not
 * stand in them as it is, so that the user's own may be written in another way.
 */
import type { CallAbout } from '../model/model.js';
import { MASK } from '../secret-forms.js';
import type { CallLog, CallLogEntry } from './call-log-file.js';
import { createRedactor, type RedactOptions } from './redact.js';
import { secretValuesIn } from './secret-values.js';
import { standsWhole } from './stands-whole.js';

export interface CallLine extends CallLogEntry {
  readonly stage: string;
  readonly prompt: { readonly system: string; readonly user: string };
  readonly answer: unknown;
  readonly outcome: string;
  readonly variables: unknown;
  readonly error: unknown;
}

interface Shown {
  readonly values: Set<string>;
  /** Those that the model wrote itself. */
  readonly answered: Set<string>;
}

/** Both models of a planner write lines of one request. */
const shownIn = new WeakMap<Promise<boolean>, Shown>();

export function writeLine(log: CallLog, line: CallLine, about: CallAbout | undefined): void {
  const { secrets = [], secretNames = [], ended } = about ?? {};
  if (secretNames.length === 0) {
    log.write(secrets.length === 0 ? line : masked(line, { secrets }));
    return;
  }
  const shown = (ended && shownIn.get(ended)) ?? { values: new Set<string>(), answered: new Set<string>() };
  if (ended) shownIn.set(ended, shown);
  // The prompt of a repair holds the answer before, and what the caller extracted stands in every prompt.
  for (const value of secretValuesIn(line.prompt.user, secretNames)) shown.values.add(value);
  const answered = typeof line.answer === 'string' ? secretValuesIn(line.answer, secretNames) : [];
  for (const value of answered) shown.values.add(value);
  for (const value of answered.filter((one) => !REFERENCE.test(one))) shown.answered.add(value);
  const write = (isPlan: boolean) => {
    const isKnown = isPlan && [...shown.answered].every((value) => isSaid(value, line));
    const options = { secrets: [...secrets, ...shown.values], secretNames };
    log.write(isKnown ? masked(line, options) : withoutWords(masked(line, options)));
  };
  if (ended) void ended.then(write);
  else write(line.outcome === 'ok');
}

/** What an earlier step finds; it tells nothing of the user's words. */
const REFERENCE = /^\$\{[^{}]*\}$/;

/** What the prompt was filled with are the words of the request alone, without an earlier answer. */
function isSaid(value: string, { variables }: CallLine): boolean {
  const said = Object.values(variables ?? {}).filter((text) => typeof text === 'string');
  return standsWhole(said.join('\n'), value);
}

/** In the words alone: a short value must not make the name of a stage unreadable. */
function masked(line: CallLine, options: RedactOptions): CallLine {
  const redact = createRedactor(options);
  const { system, user } = line.prompt;
  return {
    ...line,
    variables: redact(line.variables),
    prompt: { system: String(redact(system)), user: String(redact(user)) },
    answer: redact(line.answer),
    error: redact(line.error),
  };
}

const LEFT_OUT = '[left out: it may hold the value of an argument marked secret]';

/** A text of the model may repeat the words of its prompt, and an error may quote them. */
function withoutWords(line: CallLine): CallLine {
  const { prompt, answer, error } = line;
  return {
    ...line,
    variables: LEFT_OUT,
    prompt: { ...prompt, user: LEFT_OUT },
    answer: typeof answer === 'string' ? LEFT_OUT : answer,
    error: typeof error === 'string' ? unsaid(error, prompt) : error,
  };
}

const WORD = /[\p{L}\p{N}]{3,}/gu;

/** Without each word that stands in the changing part of the prompt alone: the rest is what the server says itself. */
function unsaid(error: string, { system, user }: CallLine['prompt']): string {
  const [stable, said] = [system.toLowerCase(), user.toLowerCase()];
  return error.replace(WORD, (word) => {
    const plain = word.toLowerCase();
    return said.includes(plain) && !stable.includes(plain) ? MASK : word;
  });
}
