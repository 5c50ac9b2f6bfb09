/** `winnow eval` and `winnow tune` within the process of the test. */
import { type Printed, runHere } from './run-here.js';

export function runEval(words: readonly string[]): Promise<Printed> {
  return runHere(words);
}
