/**
 * Lines of the call log where a tool has an argument marked secret. Which of the user's words is its value, only the plan
 * shows: so the lines of a request wait until it has ended, and what any of its calls showed is masked in all of them.
 * Where nothing was shown, since planning failed or asked back, the words are left out.
 */
import type { CallAbout } from '../model/model.js';
import type { CallLog, CallLogEntry } from './call-log-file.js';
import { secretValuesIn } from './secret-values.js';

export interface CallLine extends CallLogEntry {
  readonly stage: string;
  readonly prompt: { readonly system: string; readonly user: string };
  readonly answer: unknown;
  readonly outcome: string;
}

interface Shown {
  readonly values: Set<string>;
  /** By an answer, so that what the user wrote is masked too. */
  byAnswer: boolean;
}

/** Both models of a planner write lines of one request. */
const shownIn = new WeakMap<Promise<boolean>, Shown>();

export function writeLine(log: CallLog, line: CallLine, about: CallAbout | undefined): void {
  const { secrets = [], secretNames = [], ended } = about ?? {};
  if (secretNames.length === 0) {
    log.write(line, { secrets });
    return;
  }
  const shown = (ended && shownIn.get(ended)) ?? { values: new Set<string>(), byAnswer: false };
  if (ended) shownIn.set(ended, shown);
  // The prompt of a repair holds the answer before, and what the caller extracted stands in every prompt.
  for (const value of secretValuesIn(line.prompt.user, secretNames)) shown.values.add(value);
  const answered = typeof line.answer === 'string' ? secretValuesIn(line.answer, secretNames) : [];
  for (const value of answered) shown.values.add(value);
  shown.byAnswer ||= answered.length > 0;
  const write = (isKnown: boolean) => {
    const masked = { secrets: [...secrets, ...shown.values], secretNames };
    log.write(isKnown || shown.byAnswer ? line : withoutWords(line), masked);
  };
  if (ended) void ended.then(write);
  else write(line.outcome === 'ok');
}

const LEFT_OUT = '[left out: it may hold the value of an argument marked secret]';

/** A text of the model may repeat the words of its prompt. */
function withoutWords({ prompt, answer, ...line }: CallLine): CallLogEntry {
  const said = typeof answer === 'string' ? LEFT_OUT : answer;
  return { ...line, variables: LEFT_OUT, prompt: { ...prompt, user: LEFT_OUT }, answer: said };
}
