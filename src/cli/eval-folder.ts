/** Whether the folder of a run is free for a new one, or holds the one to go on with. */
import { WinnowError } from '../errors.js';
import { hasRun } from '../evaluation/run-folder.js';
import type { EvalFlags } from './eval-options.js';

/** @throws WinnowError `invalid_option` where a run would be written over, or is not there to go on with. */
export function refuseOtherRun(out: string, flags: EvalFlags): void {
  if (flags.resume && flags.out === undefined) {
    throw new WinnowError('invalid_option', '--resume needs --out FOLDER: the run to go on with.');
  }
  if (flags.retryErrors && !flags.resume) {
    throw new WinnowError('invalid_option', '--retry-errors goes with --resume.');
  }
  if (hasRun(out) && !flags.resume) {
    throw new WinnowError(
      'invalid_option',
      `There is a run in ${out} already: go on with --resume, or give another --out.`,
    );
  }
}
