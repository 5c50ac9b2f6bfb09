/** What is done with runs that are there: compare two, list them, write their outputs anew; and the cache of answers. */
import { Command } from 'commander';
import { RUNS_FOLDER } from './eval-options.js';
import type { ComparisonFlags, FinishedRunFlags } from './finished-runs.js';

export function compareCommand(): Command {
  return new Command('compare')
    .description('two runs case by case: what was won, what was lost, and whether it is more than chance')
    .argument('<first>', 'folder of a run')
    .argument('<second>', 'folder of the run that is compared with it')
    .option('--gate <bars>', 'bars for the second run that give the exit code')
    .option('--junit <file>', 'write what was won and lost, and the bars, for build servers')
    .option('--json', 'print JSON, with all cases won and lost')
    .action(async (first: string, second: string, flags: ComparisonFlags) => {
      const { printComparison } = await import('./finished-runs.js');
      await printComparison(first, second, flags);
    });
}

export function historyCommand(): Command {
  return new Command('history')
    .description('the runs in a folder over time, each set of cases by itself')
    .argument('[folder]', 'folder of runs', RUNS_FOLDER)
    .option('--json', 'print JSON')
    .action(async (folder: string, flags: FinishedRunFlags) => {
      const { printHistory } = await import('./finished-runs.js');
      await printHistory(folder, flags);
    });
}

export function reportCommand(): Command {
  return new Command('report')
    .description('write the summary, the table, the JUnit file and the page of a run anew, from its cases')
    .argument('<run>', 'folder of a run')
    .option('--gate <bars>', 'bars that give the exit code')
    .option('--json', 'print the summary as JSON')
    .action(async (path: string, flags: FinishedRunFlags) => {
      const { writeReport } = await import('./finished-runs.js');
      await writeReport(path, flags);
    });
}

export function cacheCommand(): Command {
  const command = new Command('cache').description('the answers that models gave before');
  command
    .command('clear')
    .description('forget them')
    .action(async () => {
      const { clearAnswers } = await import('./kept-answers.js');
      clearAnswers();
    });
  command
    .command('path')
    .description('where they lie')
    .action(async () => {
      const { answersFolder } = await import('./kept-answers.js');
      process.stdout.write(`${answersFolder()}\n`);
    });
  return command;
}
