/** A small model that has lost the thread writes the same words again and again, or counts; nothing useful comes after. */

const MIN_ROUNDS = 4;
const MIN_LENGTH = 32;
const MAX_PERIOD = 64;

/** Whether a sequence of tokens ends in one block, written at least four times and over at least 32 tokens. */
export function endsInLoop(tokens: readonly number[]): boolean {
  for (let period = 1; period <= MAX_PERIOD; period++) {
    const length = Math.max(MIN_LENGTH, period * MIN_ROUNDS);
    if (length > tokens.length) return false;
    if (isPeriodic(tokens, period, length)) return true;
  }
  return false;
}

function isPeriodic(tokens: readonly number[], period: number, length: number): boolean {
  for (let place = tokens.length - 1; place >= tokens.length - length + period; place--)
    if (tokens[place] !== tokens[place - period]) return false;
  return true;
}

/** Nobody asks for so many numbers one by one. */
const MOST_COUNTED = 150;

/** Whether a text ends in whole numbers that go up by one, with the same between them: `1+2+3` and so on. */
export function endsInCount(text: string): boolean {
  const end = /(\d{1,9})(\D{1,4})\d*$/u.exec(text.slice(-LONGEST_END));
  if (!end) return false;
  const [rest, number, between] = end;
  const counted = Array.from({ length: MOST_COUNTED }, (_, place) => Number(number) - MOST_COUNTED + 1 + place);
  return text
    .slice(0, text.length - rest.length)
    .concat(number ?? '')
    .endsWith(counted.join(between));
}

/** In UTF-16 units: two numbers and what stands between them. */
const LONGEST_END = 24;
