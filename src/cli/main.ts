#!/usr/bin/env node
/** The entry of the command line: the only place that ends the process. stdout is data, stderr is everything else. */
import { CommanderError } from 'commander';
import { ERROR_TABLE, toWinnowError } from '../core/errors.js';
import { colours, printable } from './output.js';
import { createProgram } from './program.js';

/** @returns the exit code */
async function run(): Promise<number | string> {
  try {
    await createProgram().parseAsync();
    return process.exitCode ?? 0;
  } catch (error) {
    // Help, version and what is wrong with the words have been printed.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : ERROR_TABLE.invalid_option.exitCode;
    const failure = toWinnowError(error);
    const untold = failure.issues.filter((issue) => !failure.message.includes(issue)).slice(0, 20);
    const lines = [
      `${colours.red('winnow:')} ${printable(failure.message)}`,
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
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') return;
    if (stream !== process.stderr) process.stderr.write(`winnow: the output can't be written (${code}).\n`);
    process.exit(ERROR_TABLE.invalid_option.exitCode);
  });
const exitCode = await run();
// The end of the process throws away what a pipe has not taken yet.
for (const stream of STREAMS) await new Promise((drained) => stream.write('', drained));
process.exit(exitCode);
