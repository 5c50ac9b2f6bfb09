/** `winnow worker`: runs cases of `winnow eval --queue`, on any machine, until a signal stops it. */
import type { Command } from 'commander';
import { loadOptional } from '../../core/optional-package.js';
import { command, required } from '../command.js';
import { JOBS, QUEUE, QUEUE_PACKAGES, SUITE } from '../eval-options.js';
import { PLANNING } from '../flags.js';

/** Options of the planner come with each run. */
const FLAGS = { ...PLANNING, queue: required(QUEUE.queue), ...SUITE, ...JOBS };

export function workerCommand(): Command {
  return command({
    name: 'worker',
    about: 'do the cases of winnow eval --queue, here or on any machine',
    flags: FLAGS,
    examples: ['winnow worker --queue redis://127.0.0.1:6379 --suite fixtures/assistant -j 8'],
    async run(_, flags) {
      const { runWorker } = await loadOptional(() => import('../worker-run.js'), QUEUE_PACKAGES);
      await runWorker(flags);
    },
  });
}
