/** A skill is run by reading it: its output is the text of its instructions, which the agent then follows. */
import { fail } from '../failure.js';
import { type Executor, runnerOf } from './executor.js';

/**
 * Gives the instructions of a skill as its result.
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
