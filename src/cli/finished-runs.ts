/** Finished runs: compares two, or writes the outputs of one again. A failed gate sets the exit code. */
import { WinnowError } from '../core/errors.js';
import { compareRuns } from '../eval/compare.js';
import { summarise } from '../eval/evaluate.js';
import { parseGate } from '../eval/gate.js';
import { writeComparisonPage } from '../eval/outputs.js';
import { readSummary, withRun } from '../eval/run-store.js';
import { onlyOf } from '../eval/run-summary.js';
import type { FlagsOf } from './command.js';
import type { COMPARE, GATE } from './eval-options.js';
import type { JSON_OUTPUT } from './flags.js';
import { judgeBars, refuseUnjudged, setExitCode, withGate, writeRun } from './gate-outcome.js';
import { print } from './output.js';
import { renderComparison } from './render-comparison.js';

type Flags = FlagsOf<typeof JSON_OUTPUT & typeof GATE>;

/** @throws WinnowError `invalid_option` for a gate that can't be read, `not_found` where there is no run */
export async function printComparison(first: string, second: string, flags: FlagsOf<typeof COMPARE>): Promise<void> {
  const bars = parseGate(flags.gate ?? '');
  await refuseUnjudged(bars, onlyOf(await readSummary(second)));
  const comparison = await compareRuns(first, second);
  if (comparison.cases === 0)
    throw new WinnowError('not_found', `There is nothing to compare: ${first} and ${second} have no case in common.`);
  const gate = await judgeBars(bars, comparison.second, second);
  if (flags.out !== undefined) await writeComparisonPage(comparison, [first, second], flags.out);
  print(flags, { value: { ...comparison, gate }, text: withGate(renderComparison(comparison), gate) });
  setExitCode(gate);
}

/** @throws WinnowError `invalid_option` for a gate that can't be read, `not_found` where there is no run */
export async function writeReport(path: string, flags: Flags): Promise<void> {
  const bars = parseGate(flags.gate ?? '');
  const earlier = await readSummary(path);
  await refuseUnjudged(bars, onlyOf(earlier));
  const { endedAt } = earlier;
  const now = endedAt === undefined ? undefined : new Date(endedAt);
  const summary = await withRun(path, (store) => summarise(store, earlier, now));
  const gate = await judgeBars(bars, summary, path);
  await writeRun(path, { summary, gate }, flags);
  setExitCode(gate);
}
