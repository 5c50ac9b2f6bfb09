/** A small model that has lost the thread writes the same words again and again; nothing useful comes after. */

const MIN_ROUNDS = 4;
const MIN_LENGTH = 32;
const MAX_PERIOD = 64;

/** Whether a sequence of tokens ends in one block, written at least four times and over at least 32 tokens. */
export function endsInLoop(tokens: readonly number[]): boolean {
  for (let period = 1; period <= MAX_PERIOD; period++) {
    const length = Math.max(MIN_LENGTH, period * MIN_ROUNDS);
    if (length > tokens.length) return false;
    const end = tokens.slice(-length);
    if (end.every((token, place) => place < period || token === end[place - period])) return true;
  }
  return false;
}
