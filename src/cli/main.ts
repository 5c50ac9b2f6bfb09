#!/usr/bin/env node
/** The entry of the command line: the only place that ends the process. stdout is data, stderr is everything else. */
import { Command, CommanderError } from 'commander';
import { readVersion } from '../core/environment.js';
import { ERROR_TABLE, toWinnowError } from '../core/errors.js';
import { adaptationCommand } from './adaptation-command.js';
import { approvalsCommand } from './approvals-command.js';
import { colours as pc } from './colours.js';
import { evalCommand } from './eval-command.js';
import { indexCommand } from './index-command.js';
import { mcpCommand } from './mcp-command.js';
import { modelCommand } from './model-command.js';
import { planCommand, selectCommand } from './plan-command.js';
import { policyCommand } from './policy-command.js';
import { printable } from './printable.js';
import { privateToolsCommand } from './private-tools-command.js';
import { rulesCommand } from './rules-command.js';
import { runCommand } from './run-command.js';
import { serveCommand } from './serve-command.js';
import { sessionsCommand } from './sessions-command.js';
import { storeCommand } from './store-command.js';
import { telemetryCommand } from './telemetry-command.js';
import { toolsCommand } from './tools-command.js';
import { tuneCommand } from './tune-command.js';
import { workerCommand } from './worker-command.js';

const program = new Command('winnow')
  .description('Plans for systems with many tools: choose by one line a tool, load the schemas of only the chosen.')
  .version(readVersion())
  // Else a flag behind `eval compare` would be taken for one of `eval`.
  .enablePositionalOptions()
  .addCommand(planCommand())
  .addCommand(selectCommand())
  .addCommand(runCommand())
  .addCommand(serveCommand())
  .addCommand(mcpCommand())
  .addCommand(sessionsCommand())
  .addCommand(approvalsCommand())
  .addCommand(storeCommand())
  .addCommand(telemetryCommand())
  .addCommand(adaptationCommand())
  .addCommand(privateToolsCommand())
  .addCommand(rulesCommand())
  .addCommand(indexCommand())
  .addCommand(policyCommand())
  .addCommand(toolsCommand())
  .addCommand(modelCommand())
  .addCommand(evalCommand())
  .addCommand(tuneCommand())
  .addCommand(workerCommand());

/** Else commander ends the process itself, and a mistyped flag would end with the code of a fault of Winnow. */
function letThrow(command: Command): void {
  command.exitOverride();
  for (const below of command.commands) letThrow(below);
}

/** @returns the exit code */
async function run(): Promise<number | string> {
  try {
    await program.parseAsync();
    return process.exitCode ?? 0;
  } catch (error) {
    // Help, version and what is wrong with the words have been printed.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : ERROR_TABLE.invalid_option.exitCode;
    const failure = toWinnowError(error);
    const untold = failure.issues.filter((issue) => !failure.message.includes(issue)).slice(0, 20);
    const lines = [
      `${pc.red('winnow:')} ${printable(failure.message)}`,
      ...untold.map((one) => `  - ${printable(one)}`),
    ];
    if (failure.code === 'internal' && failure.cause instanceof Error) lines.push(printable(failure.cause.stack ?? ''));
    process.stderr.write(`${lines.join('\n')}\n`);
    return failure.meaning.exitCode;
  }
}

const STREAMS = [process.stdout, process.stderr];
// Whoever reads no further (`| head`) is no fault of the command: a write then fails, and nothing is said.
for (const stream of STREAMS)
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
letThrow(program);
const exitCode = await run();
// The end of the process throws away what a pipe has not taken yet.
for (const stream of STREAMS) await new Promise((drained) => stream.write('', drained));
process.exit(exitCode);
