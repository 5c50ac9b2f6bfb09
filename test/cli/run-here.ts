/** Commands within the process of the test: what they print, and how the process would end. */
import { jest } from '@jest/globals';
import { Command } from 'commander';
import { WinnowError } from '../../src/core/errors.js';

export interface Printed {
  stdout: string;
  stderr: string;
  /** As the process would end with it. */
  exitCode: number;
  error?: unknown;
}

/** @param words the name of one of the commands, and what follows it */
export async function runHere(commands: readonly Command[], words: readonly string[]): Promise<Printed> {
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    jest.spyOn(process[name], 'write').mockImplementation((text) => {
      printed[name] += String(text);
      return true;
    });
  }
  const program = new Command('winnow').enablePositionalOptions().exitOverride();
  for (const command of commands) program.addCommand(command.exitOverride());
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
