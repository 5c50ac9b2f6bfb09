/** What a run comes to, in the exit code: its bars of `--gate`, also shown below its text, and whether any case was answered. */
import { ERROR_TABLE, toWinnowError, WinnowError } from '../core/errors.js';
import { compareRuns } from '../eval/compare.js';
import { type Bar, type BarResult, judgeGate } from '../eval/gate.js';
import { readSummary } from '../eval/run-store.js';
import { type Only, onlyOf, type RunSummary } from '../eval/run-summary.js';
import { renderGate } from './render-eval.js';

/**
 * Before the first case: a bar that can't be judged should not cost a run.
 * @param only of the run that is judged
 * @throws WinnowError `invalid_option` for a bar whose run is not there, or judged another stage
 */
export async function refuseOtherRuns(bars: readonly Bar[], only: Only): Promise<void> {
  for (const bar of bars) {
    if (bar.kind !== 'noWorseThan') continue;
    const other = onlyOf(await readNamedRun(bar));
    if (other === only) continue;
    const message = `--gate ${bar.text}: that run judged ${STAGES[other]}, this one ${STAGES[only]}: what is right is not the same in both.`;
    throw new WinnowError('invalid_option', message);
  }
}

const STAGES: Readonly<Record<Only, string>> = { all: 'both stages', select: 'selection only', plan: 'plans only' };

async function readNamedRun({ text, run }: Extract<Bar, { kind: 'noWorseThan' }>): Promise<RunSummary> {
  try {
    return await readSummary(run);
  } catch (cause) {
    throw new WinnowError('invalid_option', `--gate ${text}: ${toWinnowError(cause).message}`, { cause });
  }
}

/** @param path folder of the run that is judged. @returns nothing where there are no bars */
export async function judgeBars(bars: readonly Bar[], summary: RunSummary, path: string): Promise<BarResult[]> {
  return bars.length === 0 ? [] : judgeGate(bars, summary, (other) => compareRuns(other, path));
}

export function withGate(text: string, gate: readonly BarResult[]): string {
  return gate.length === 0 ? text : `${text}\n\n${renderGate(gate)}`;
}

/** Where no case was answered there is nothing to judge: the run ended as the call of the model did. */
export function setExitCodeOfErrors({ counts, commonestError }: RunSummary): void {
  if (counts.answered > 0 || !commonestError) return;
  const known = Object.entries(ERROR_TABLE).find(([code]) => code === commonestError.code);
  process.exitCode = (known?.[1] ?? ERROR_TABLE.internal).exitCode;
}

export function setExitCode(gate: readonly BarResult[]): void {
  if (gate.some(({ passed }) => !passed)) process.exitCode = ERROR_TABLE.gate_failed.exitCode;
}
