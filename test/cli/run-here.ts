/** The command line within the process of the test: what it prints, and how the process would end. */
import type { Command } from 'commander';
import { vi } from 'vitest';
import { createProgram } from '../../src/cli/program.js';
import { WinnowError } from '../../src/core/errors.js';

export interface Printed {
  stdout: string;
  stderr: string;
  /** Both, in order. */
  text: string;
  /** As the process would end with it. */
  exitCode: number;
  error?: unknown;
}

/** @param words what stands behind `winnow`; behind its name, where one command is given */
export async function runHere(words: readonly string[], program: Command = createProgram()): Promise<Printed> {
  const printed = { stdout: '', stderr: '', text: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      printed[name] += String(text);
      printed.text += String(text);
      return true;
    });
  }
  process.exitCode = undefined;
  try {
    await program.exitOverride().parseAsync([...words], { from: 'user' });
    return { ...printed, exitCode: Number(process.exitCode ?? 0) };
  } catch (error) {
    return { ...printed, exitCode: error instanceof WinnowError ? error.meaning.exitCode : 2, error };
  } finally {
    process.exitCode = undefined;
    vi.restoreAllMocks();
  }
}

/** What it printed. @throws what it threw */
export async function textOf(words: readonly string[], program?: Command): Promise<string> {
  const { text, error } = await runHere(words, program);
  if (error !== undefined) throw error;
  return text;
}
