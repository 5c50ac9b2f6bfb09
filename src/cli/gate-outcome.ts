/** What a run comes to, in the exit code: its bars of `--gate`, also shown below its text, and whether any case was answered. */
import { ERROR_TABLE } from '../errors.js';
import { compareRuns } from '../evaluation/compare.js';
import { type Bar, type BarResult, judgeGate } from '../evaluation/gate.js';
import type { RunSummary } from '../evaluation/run-summary.js';
import { renderGate } from './render-eval.js';

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
