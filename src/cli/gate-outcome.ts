/** Sets the exit code of a run by the bars of `--gate` and by whether any case was answered. */
import { ERROR_TABLE, toWinnowError, WinnowError } from '../core/errors.js';
import { compareRuns } from '../eval/compare.js';
import { type Bar, type BarResult, judgeGate } from '../eval/gate.js';
import { isOfStage } from '../eval/metrics.js';
import { writeOutputs } from '../eval/outputs.js';
import { readSummary } from '../eval/run-store.js';
import { type Only, onlyOf, type RunSummary } from '../eval/run-summary.js';
import { print } from './output.js';
import { renderGate, renderRun } from './render-eval.js';

const STAGES: Readonly<Record<Only, string>> = { all: 'both stages', select: 'selection only', plan: 'plans only' };

/**
 * Refuses bars that a run of these stages can't be judged by, before it spends time.
 * @throws WinnowError `invalid_option` for a metric without values in the run, and for another run that can't be compared
 */
export async function refuseUnjudged(bars: readonly Bar[], only: Only): Promise<void> {
  for (const bar of bars) {
    const why =
      bar.kind === 'noWorseThan'
        ? await whyNotBeside(bar.run, only)
        : isOfStage(bar.metric, only)
          ? undefined
          : `a run of ${STAGES[only]} has no value of it.`;
    if (why !== undefined) throw new WinnowError('invalid_option', `--gate ${bar.text}: ${why}`);
  }
}

async function whyNotBeside(run: string, only: Only): Promise<string | undefined> {
  try {
    const other = onlyOf(await readSummary(run));
    if (other === only) return undefined;
    return `that run judged ${STAGES[other]}, this one ${STAGES[only]}: what is right is not the same in both.`;
  } catch (error) {
    return toWinnowError(error).message;
  }
}

/** @param path folder of the judged run. @returns an empty list without bars */
export async function judgeBars(bars: readonly Bar[], summary: RunSummary, path: string): Promise<BarResult[]> {
  return bars.length === 0 ? [] : judgeGate(bars, summary, (other) => compareRuns(other, path));
}

/** Writes the files of a run, and prints it with its bars. @throws WinnowError `invalid_option` where it can't be written */
export async function writeRun(
  out: string,
  { summary, gate }: { summary: RunSummary; gate: readonly BarResult[] },
  flags: { json?: boolean },
): Promise<void> {
  const report = await writeOutputs(out, summary);
  print(flags, { value: { ...summary, gate }, text: withGate(renderRun(summary), gate) });
  process.stderr.write(`${report}\n`);
}

export function withGate(text: string, gate: readonly BarResult[]): string {
  return gate.length === 0 ? text : `${text}\n\n${renderGate(gate)}`;
}

/** A run without an answered case gets the exit code of its commonest error. */
export function setExitCodeOfErrors({ counts, commonestError }: RunSummary): void {
  if (counts.answered > 0 || !commonestError) return;
  const known = Object.entries(ERROR_TABLE).find(([code]) => code === commonestError.code);
  process.exitCode = (known?.[1] ?? ERROR_TABLE.internal).exitCode;
}

export function setExitCode(gate: readonly BarResult[]): void {
  if (gate.some(({ passed }) => !passed)) process.exitCode = ERROR_TABLE.gate_failed.exitCode;
}
