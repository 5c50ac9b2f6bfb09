/** A small model that has lost the thread writes the same words again and again; nothing useful comes after. */

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
