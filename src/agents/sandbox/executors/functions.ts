/**
 * Builtin functions in this process, for code that is trusted to yield and to obey its signal. A function that may loop
 * forever would block the whole process, and belongs in a worker.
 */
import { fail } from '../failure.js';
import { type Executor, runnerOf } from './executor.js';

export interface FunctionContext {
  /** Fires at the time-out and on cancellation: stop then. */
  readonly signal: AbortSignal;
  readonly user?: string | undefined;
  readonly session?: string | undefined;
}

/** Its result, or its promise's, is the output. A thrown error is a failure of the tool. */
export type ToolFunction = (input: Readonly<Record<string, unknown>>, context: FunctionContext) => unknown;

/**
 * Name of a builtin system tool -> its function.
 * @example
 * const functions = createFunctionExecutor({ file_read: async ({ path }) => ({ content: `the text of ${path}` }) });
 */
export function createFunctionExecutor(functions: Readonly<Record<string, ToolFunction>>): Executor {
  const byName = new Map(Object.entries(functions));
  return {
    canRun: (tool) => runnerOf(tool) === 'function' && byName.has(tool.name),
    async run({ tool, arguments: input, signal, user, session }) {
      const run = byName.get(tool.name);
      if (!run) return fail('not_runnable', `There is no function for ${tool.name}.`);
      return { ok: true, output: await run(input, { signal, user, session }) };
    },
  };
}

// Running a skill returns its instructions, which the agent then follows.

/**
 * @example
 * const sandbox = createSandbox({ executors: [createSkillExecutor()] });
 */
export function createSkillExecutor(): Executor {
  return {
    canRun: (tool) => runnerOf(tool) === 'skill' && tool.instructions !== undefined,
    async run({ tool }) {
      if (tool.instructions === undefined) return fail('not_runnable', `The skill ${tool.name} has no instructions.`);
      return { ok: true, output: tool.instructions };
    },
  };
}
