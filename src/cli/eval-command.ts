/** `winnow eval`: measures selection and plans on cases, keeps every result at once, and goes on where it stopped. */
import { Command } from 'commander';
import { cacheCommand, compareCommand, historyCommand, reportCommand } from './eval-more-commands.js';
import { addEvalOptions, type EvalFlags } from './eval-options.js';

/** What a run needs is loaded with the run: other commands should not wait for it. */
export function evalCommand(): Command {
  const command = new Command('eval').description('measure selection and plans on cases with known answers');
  // Else a flag after the name of a command below would be taken for one of this command.
  command.enablePositionalOptions();
  return addEvalOptions(command)
    .addCommand(compareCommand())
    .addCommand(historyCommand())
    .addCommand(reportCommand())
    .addCommand(cacheCommand())
    .action(async (flags: EvalFlags) => {
      const { runEvaluation } = await import('./eval-run.js');
      await runEvaluation(flags);
    });
}
