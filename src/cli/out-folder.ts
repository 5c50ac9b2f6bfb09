/** The folder of `--out`: refused before the model is opened if it can't be made or holds something else. */
import { accessSync, constants, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { messageOf, toWinnowError, WinnowError } from '../core/errors.js';
import { isOfFolder, withLock } from '../core/model/store/model-file.js';
import { hasRun } from '../eval/run-store.js';
import { hasTuning } from '../eval/tune/tune.js';
import { writeLine } from './output.js';

/** @throws WinnowError `invalid_option` where it can't be a folder, holds another run, or has no run to resume */
export function checkOut(out: string, flags: { out?: string; resume?: boolean }): void {
  if (flags.resume && flags.out === undefined) throw bad('--resume needs --out FOLDER: the run to go on with.');
  if (hasTuning(out) || (hasRun(out) && !flags.resume))
    throw bad(`There is a run in ${out} already: give another --out; winnow eval goes on with --resume.`);
  if (flags.resume && !hasRun(out) && !hasOnlyBegun(out))
    throw bad(`There is no run in ${out} to go on with. Mind the name; a new run begins without --resume.`);
}

/** Where runs lie that no `--out` puts elsewhere. */
export const runsFolder = (kind: 'eval' | 'tune') => join('.winnow', kind);

/** The given folder, else a new one in `runsFolder`. @throws WinnowError `invalid_option`: see `checkOut` */
export function chooseOut(kind: 'eval' | 'tune', flags: { out?: string; resume?: boolean }): string {
  const out = flags.out ?? join(runsFolder(kind), new Date().toISOString().replace(/[:.]/gu, '-'));
  checkOut(out, flags);
  return out;
}

/**
 * Makes and locks the folder while the run works; a second process waits.
 * @throws WinnowError `invalid_option`; `cancelled` with what to do next; errors of the work
 */
export async function runInFolder<T>(
  out: string,
  signal: AbortSignal,
  work: () => Promise<T>,
  goOn = `Go on with --resume --out ${out}.`,
): Promise<T> {
  makeFolder(out);
  const onWait = (owner: string) => writeLine(`Waiting for ${owner}, which works in ${out}.`);
  try {
    return await withLock(join(out, '.lock'), { signal, onWait }, work);
  } catch (error) {
    if (toWinnowError(error).code === 'cancelled') throw interrupted(out, goOn);
    throw isOfFolder(error) ? bad(`--out ${out}: can't be written (${messageOf(error)}).`, error) : error;
  }
}

function makeFolder(out: string): void {
  try {
    mkdirSync(out, { recursive: true });
  } catch (error) {
    const cause = whyNotWritten(out) ?? error;
    throw bad(`--out ${out}: the folder can't be made (${messageOf(cause)}).`, cause);
  }
}

/** Node tells of a missing folder (ENOENT) where it lies on a read-only disk. */
function whyNotWritten(out: string): unknown {
  let there = resolve(out);
  while (!existsSync(there)) there = dirname(there);
  try {
    accessSync(there, constants.W_OK);
    return undefined;
  } catch (error) {
    return error;
  }
}

export function interrupted(out: string, goOn = `Go on with --resume --out ${out}.`): WinnowError {
  return new WinnowError('cancelled', `Interrupted; what is done is in ${out}. ${goOn}`);
}

/** Whether the run ended before its first case, for example while the model was loading. */
function hasOnlyBegun(out: string): boolean {
  return existsSync(out) && readdirSync(out).every((name) => name.startsWith('.lock'));
}

function bad(message: string, cause?: unknown): WinnowError {
  return new WinnowError('invalid_option', message, { cause });
}
