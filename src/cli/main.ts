#!/usr/bin/env node
/** Entry of the command line, and the only place that ends the process. stdout has data, stderr everything else. */
import { CommanderError } from 'commander';
import { ERROR_TABLE, toWinnowError } from '../core/errors.js';
import { maskKeysIn } from '../core/secret-forms.js';
import { colours, printable } from './output.js';
import { createProgram } from './program.js';

/** @returns the exit code */
async function run(): Promise<number | string> {
  try {
    await createProgram().parseAsync();
    return process.exitCode ?? 0;
  } catch (error) {
    // Commander has already printed help, version or the usage error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : ERROR_TABLE.invalid_option.exitCode;
    const failure = toWinnowError(error);
    const untold = failure.issues.filter((issue) => !failure.message.includes(issue)).slice(0, 20);
    // Messages may quote servers, which may quote keys.
    const shown = (text: string) => printable(maskKeysIn(text));
    const lines = [`${colours.red('winnow:')} ${shown(failure.message)}`, ...untold.map((one) => `  - ${shown(one)}`)];
    if (failure.code === 'internal' && failure.cause instanceof Error) lines.push(shown(failure.cause.stack ?? ''));
    process.stderr.write(`${lines.join('\n')}\n`);
    return failure.meaning.exitCode;
  }
}

const STREAMS = [process.stdout, process.stderr];
// A reader that stops early (`| head`) is no error: a failed write to it stays silent.
for (const stream of STREAMS)
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') return;
    if (stream !== process.stderr) process.stderr.write(`winnow: the output can't be written (${code}).\n`);
    process.exit(ERROR_TABLE.invalid_option.exitCode);
  });
const exitCode = await run();
// Waits for the pipes, since `exit` discards unwritten output.
for (const stream of STREAMS) await new Promise((drained) => stream.write('', drained));
process.exit(exitCode);
