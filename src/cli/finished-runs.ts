/** Finished runs: judges, prints and writes one, or compares two. Bars that are not met, and a run without answers, set the exit code. */
import { ERROR_TABLE, toWinnowError, WinnowError } from '../core/errors.js';
import { compareRuns } from '../eval/compare.js';
import { summarise } from '../eval/evaluate.js';
import { type Bar, type BarResult, judgeGate, parseGate } from '../eval/gate.js';
import { isOfStage, repeatsFor } from '../eval/metrics.js';
import { writeComparisonPage, writeOutputs } from '../eval/outputs.js';
import { readSummary, withRun } from '../eval/run-store.js';
import { type Only, onlyOf, type RunSummary } from '../eval/run-summary.js';
import type { FlagsOf } from './command.js';
import type { COMPARE, GATE } from './eval-options.js';
import type { JSON_OUTPUT } from './flags.js';
import { print, writeLine } from './output.js';
import { renderComparison, renderGate, renderRun } from './render-eval.js';

type Flags = FlagsOf<typeof JSON_OUTPUT & typeof GATE>;

/** @throws WinnowError `invalid_option` for a gate that can't be read, `not_found` where there is no run */
export async function printComparison(first: string, second: string, flags: FlagsOf<typeof COMPARE>): Promise<void> {
  const bars = parseGate(flags.gate ?? '');
  await refuseUnjudged(bars, judgingOf(await readSummary(second)));
  const comparison = await compareRuns(first, second);
  if (comparison.cases === 0)
    throw new WinnowError('not_found', `There is nothing to compare: ${first} and ${second} have no case in common.`);
  const gate = await judgeBars(bars, comparison.second, second);
  if (flags.out !== undefined) {
    await writeComparisonPage(comparison, [first, second], flags.out);
    writeLine(flags.out);
  }
  print(flags, { value: { ...comparison, gate }, text: withGate(renderComparison(comparison), gate) });
  setExitCode(gate);
}

/** @throws WinnowError `invalid_option` for a gate that can't be read, `not_found` where there is no run */
export async function writeReport(path: string, flags: Flags): Promise<void> {
  const bars = parseGate(flags.gate ?? '');
  const earlier = await readSummary(path);
  await refuseUnjudged(bars, judgingOf(earlier));
  const { endedAt } = earlier;
  const now = endedAt === undefined ? undefined : new Date(endedAt);
  const summary = await withRun(path, (store) => summarise(store, earlier, now));
  const gate = await judgeBars(bars, summary, path);
  await writeRun(path, { summary, gate }, flags);
  setExitCode(gate);
}

const STAGES: Readonly<Record<Only, string>> = { all: 'both stages', select: 'selection only', plan: 'plans only' };

interface Judging {
  readonly only: Only;
  /** Runs of each case. */
  readonly repeat: number;
}

const judgingOf = (run: RunSummary): Judging => ({ only: onlyOf(run), repeat: run.planned / run.cases });

/**
 * Refuses bars that a run of these stages and repeats can't be judged by, before it spends time.
 * @throws WinnowError `invalid_option` for a metric without values in the run, and for another run that can't be compared
 */
export async function refuseUnjudged(bars: readonly Bar[], judging: Judging): Promise<void> {
  for (const bar of bars) {
    const why =
      bar.kind === 'noWorseThan' ? await whyNotBeside(bar.run, judging.only) : whyNoValue(bar.metric, judging);
    if (why !== undefined) throw new WinnowError('invalid_option', `--gate ${bar.text}: ${why}`);
  }
}

function whyNoValue(metric: string, { only, repeat }: Judging): string | undefined {
  if (!isOfStage(metric, only)) return `a run of ${STAGES[only]} has no value of it.`;
  const needed = repeatsFor(metric);
  return repeat >= needed ? undefined : `it needs each case ${needed} times (--repeat ${needed}), not ${repeat}.`;
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
  writeLine(report);
}

function withGate(text: string, gate: readonly BarResult[]): string {
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
