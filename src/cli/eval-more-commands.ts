/** What is done with runs that are there: compare two, list them, write their outputs anew; and the cache of answers. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { ERROR_TABLE } from '../errors.js';
import { ANSWERS_FOLDER } from '../evaluation/answer-cache.js';
import { compareRuns } from '../evaluation/compare.js';
import { summarise } from '../evaluation/evaluate.js';
import { judgeGate, parseGate } from '../evaluation/gate.js';
import { readHistory } from '../evaluation/history.js';
import { readSummary } from '../evaluation/run-folder.js';
import { cacheFolder } from '../model/store/cache-folder.js';
import { formatBytes } from '../model/store/format-bytes.js';
import { RUNS_FOLDER } from './eval-options.js';
import { renderComparison, renderHistory } from './render-comparison.js';
import { renderGate, renderRun } from './render-eval.js';

interface Flags {
  json?: boolean;
  gate?: string;
}

const print = (flags: Flags, value: unknown, text: string) =>
  process.stdout.write(`${flags.json ? JSON.stringify(value, null, 2) : text}\n`);

export function compareCommand(): Command {
  return new Command('compare')
    .description('two runs case by case: what was won, what was lost, and whether it is more than chance')
    .argument('<first>', 'folder of a run')
    .argument('<second>', 'folder of the run that is compared with it')
    .option('--gate <bars>', 'bars for the second run that give the exit code')
    .option('--json', 'print JSON, with all cases won and lost')
    .action(async (first: string, second: string, flags: Flags) => {
      const bars = parseGate(flags.gate ?? '');
      const comparison = await compareRuns(first, second);
      const gate = await judgeGate(bars, comparison.second, (path) => compareRuns(path, second));
      const judged = bars.length > 0 ? gate : [];
      print(
        flags,
        { ...comparison, gate: judged },
        [renderComparison(comparison), ...(judged.length > 0 ? [renderGate(judged)] : [])].join('\n\n'),
      );
      if (judged.some(({ passed }) => !passed)) process.exitCode = ERROR_TABLE.gate_failed.exitCode;
    });
}

export function historyCommand(): Command {
  return new Command('history')
    .description('the runs in a folder over time, each set of cases by itself')
    .argument('[folder]', 'folder of runs', RUNS_FOLDER)
    .option('--json', 'print JSON')
    .action((folder: string, flags: Flags) => {
      const history = readHistory(folder);
      print(flags, history, renderHistory(history));
    });
}

export function reportCommand(): Command {
  return new Command('report')
    .description('write the summary, the table, the JUnit file and the page of a run anew, from its cases')
    .argument('<run>', 'folder of a run')
    .option('--gate <bars>', 'bars that give the exit code')
    .option('--json', 'print the summary as JSON')
    .action(async (path: string, flags: Flags) => {
      const bars = parseGate(flags.gate ?? '');
      const earlier = readSummary(path);
      const { endedAt } = earlier;
      const summary = await summarise(path, earlier, endedAt === undefined ? undefined : new Date(endedAt));
      const gate = bars.length > 0 ? await judgeGate(bars, summary, (other) => compareRuns(other, path)) : [];
      const { writeOutputs } = await import('../evaluation/write-outputs.js');
      const { report } = await writeOutputs(path, summary, gate);
      print(
        flags,
        { ...summary, gate },
        [renderRun(summary), ...(gate.length > 0 ? [renderGate(gate)] : [])].join('\n\n'),
      );
      process.stderr.write(`${report}\n`);
      if (gate.some(({ passed }) => !passed)) process.exitCode = ERROR_TABLE.gate_failed.exitCode;
    });
}

export function cacheCommand(): Command {
  const folder = () => join(cacheFolder(), ANSWERS_FOLDER);
  const command = new Command('cache').description('the answers that models gave before');
  command
    .command('clear')
    .description('forget them')
    .action(() => {
      const bytes = sizeOf(folder());
      rmSync(folder(), { recursive: true, force: true });
      process.stderr.write(`${formatBytes(bytes)} of answers are forgotten.\n`);
    });
  command
    .command('path')
    .description('where they lie')
    .action(() => {
      process.stdout.write(`${folder()}\n`);
    });
  return command;
}

function sizeOf(folder: string): number {
  try {
    return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  } catch {
    return 0;
  }
}
