/** Sets the exit code of a run by the bars of `--gate` and by whether any case was answered. */
import { ERROR_TABLE, toWinnowError, WinnowError } from '../core/errors.js';
import { compareRuns } from '../eval/compare.js';
import { type Bar, type BarResult, judgeGate } from '../eval/gate.js';
import { isOfStage } from '../eval/metrics.js';
import { writeOutputs } from '../eval/outputs.js';
import { readSummary, withRun } from '../eval/run-store.js';
import { type Only, onlyOf, type RunSummary } from '../eval/run-summary.js';
import { print } from './output.js';
import { renderGate, renderRun } from './render-eval.js';

/** What a gate needs to know before the first case. */
export interface Judged {
  only: Only;
  repeats: number;
  isPriced: boolean;
  /** Ids of its cases. Undefined: no check of them. */
  ids?: ReadonlySet<string>;
}

export function judgedOf(summary: RunSummary): Judged {
  const { planned, cases, currency } = summary;
  return { only: onlyOf(summary), repeats: planned / cases, isPriced: currency !== undefined };
}

/**
 * Refuses bars that can't be judged before the run spends time.
 * @throws WinnowError `invalid_option` for a metric without values in the run, and for another run that can't be compared
 */
export async function refuseUnjudged(bars: readonly Bar[], judged: Judged): Promise<void> {
  for (const bar of bars) {
    const why = bar.kind === 'metric' ? whyNoValue(bar.metric, judged) : await whyNotBeside(bar.run, judged);
    if (why !== undefined) throw new WinnowError('invalid_option', `--gate ${bar.text}: ${why}`);
  }
}

const STAGES: Readonly<Record<Only, string>> = { all: 'both stages', select: 'selection only', plan: 'plans only' };

function whyNoValue(metric: string, { only, repeats, isPriced }: Judged): string | undefined {
  if (!isOfStage(metric, only)) return `a run of ${STAGES[only]} has no value of it.`;
  if (metric === 'cost' && !isPriced) return 'it needs --prices.';
  const power = metric === 'flipRate' ? 2 : /^pass\^(\d+)$/u.exec(metric)?.[1];
  const needed = power === undefined ? 1 : Math.max(2, Number(power));
  return needed > repeats ? `it needs --repeat ${needed}.` : undefined;
}

async function whyNotBeside(run: string, { only, ids }: Judged): Promise<string | undefined> {
  try {
    const other = onlyOf(await readSummary(run));
    if (other !== only)
      return `that run judged ${STAGES[other]}, this one ${STAGES[only]}: what is right is not the same in both.`;
    if (!ids) return undefined;
    return await withRun(run, async (store) => {
      for await (const { id, outcome } of store.records()) if (outcome === 'answered' && ids.has(id)) return undefined;
      return 'that run has no answer to a case of this one.';
    });
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
  const report = await writeOutputs(out, summary, gate);
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
