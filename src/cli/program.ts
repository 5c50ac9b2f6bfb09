/** All commands. Only commander and picocolors are loaded with them, so that help and errors come fast. */
import { Command } from 'commander';
import { readVersion } from '../core/environment.js';
import { withExamples } from './command.js';
import { approvalsCommand } from './commands/approvals.js';
import { auditCommand } from './commands/audit.js';
import { completionCommand } from './commands/completion.js';
import { configCommand } from './commands/config.js';
import { doctorCommand } from './commands/doctor.js';
import { evalCommand } from './commands/eval.js';
import { initCommand } from './commands/init.js';
import { mcpCommand } from './commands/mcp.js';
import { modelCommand } from './commands/model.js';
import { planCommand, selectCommand } from './commands/plan.js';
import { policyCommand } from './commands/policy.js';
import { runCommand } from './commands/run.js';
import { serveCommand } from './commands/serve.js';
import { storeCommand } from './commands/store.js';
import { toolsCommand } from './commands/tools.js';
import { tuneCommand } from './commands/tune.js';
import { workerCommand } from './commands/worker.js';
import { printable } from './output.js';

export function createProgram(): Command {
  const program = new Command('winnow')
    .description('Plans for systems with many tools: choose by one line a tool, load the schemas of only the chosen.')
    .version(readVersion())
    // Otherwise a flag after `eval compare` would count as one of `eval`.
    .enablePositionalOptions();
  const commands = [
    ...[initCommand(), doctorCommand(), planCommand(), selectCommand(), runCommand(), serveCommand(), mcpCommand()],
    ...[toolsCommand(), policyCommand(), approvalsCommand(), auditCommand()],
    ...[storeCommand(), modelCommand(), evalCommand(), tuneCommand(), workerCommand()],
    ...[configCommand(), completionCommand(() => program)],
  ];
  for (const one of commands) program.addCommand(one);
  letThrow(program);
  return withExamples(program, ['winnow init', 'winnow plan "What is the weather in Oslo?" --catalog tools.json']);
}

/**
 * Keeps commander from ending the process, which would give a mistyped flag the exit code of an internal error, and from
 * printing a word as it came: a shell may have put the name of a file there.
 */
function letThrow(command: Command): void {
  command.exitOverride().configureOutput({ outputError: (text, write) => write(printable(text)) });
  for (const below of command.commands) letThrow(below);
}
