/** What the bars of `--gate` come to: judged, shown below the text of a run, and in the exit code. */
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

export function setExitCode(gate: readonly BarResult[]): void {
  if (gate.some(({ passed }) => !passed)) process.exitCode = ERROR_TABLE.gate_failed.exitCode;
}
