/** `winnow eval` and `winnow tune` within the process of the test: what it prints, and how the process would end. */
import { jest } from '@jest/globals';
import { Command } from 'commander';
import { evalCommand } from '../../src/cli/eval-command.js';
import { tuneCommand } from '../../src/cli/tune-command.js';
import { WinnowError } from '../../src/core/errors.js';

export interface Printed {
  stdout: string;
  stderr: string;
  /** As the process would end with it. */
  exitCode: number;
  error?: unknown;
}

export async function runEval(words: readonly string[]): Promise<Printed> {
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    jest.spyOn(process[name], 'write').mockImplementation((text) => {
      printed[name] += String(text);
      return true;
    });
  }
  const program = new Command('winnow').enablePositionalOptions().exitOverride();
  for (const command of [evalCommand(), tuneCommand()]) program.addCommand(command.exitOverride());
  try {
    await program.parseAsync([...words], { from: 'user' });
    return { ...printed, exitCode: Number(process.exitCode ?? 0) };
  } catch (error) {
    return { ...printed, exitCode: error instanceof WinnowError ? error.meaning.exitCode : 2, error };
  } finally {
    process.exitCode = undefined;
    jest.restoreAllMocks();
  }
}
