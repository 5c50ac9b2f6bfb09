/** `winnow eval` and `winnow tune` within the process of the test. */
import { evalCommand } from '../../src/cli/eval-command.js';
import { tuneCommand } from '../../src/cli/tune-command.js';
import { type Printed, runHere } from './run-here.js';

export function runEval(words: readonly string[]): Promise<Printed> {
  return runHere([evalCommand(), tuneCommand()], words);
}
