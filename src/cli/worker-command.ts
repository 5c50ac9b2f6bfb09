/** `winnow worker`: does cases of `winnow eval --queue`, here or on any machine, until it is told to stop. */
import { Command } from 'commander';
import { WinnowError } from '../core/errors.js';
import { loadOptional } from '../core/optional-package.js';
import { QUEUE_PACKAGES } from './queue-options.js';
import { addSharedOptions, collect, wholeNumber } from './shared-options.js';
import type { WorkerFlags } from './worker-run.js';

/** What a worker needs is loaded with it: other commands should not wait for it. */
export function workerCommand(): Command {
  const command = new Command('worker').description('do the cases of winnow eval --queue');
  return addSharedOptions(command)
    .requiredOption('--queue <url>', 'the Redis of winnow eval --queue: redis://127.0.0.1:6379')
    .option('--suite <set>', 'the catalogue of a set, as for winnow eval; repeatable', collect)
    .option('-j, --jobs <number>', 'cases at once', wholeNumber, 1)
    .action(async (flags: WorkerFlags) => {
      refuseFlagsOfTheRun(flags);
      const { runWorker } = await loadOptional(() => import('./worker-run.js'), QUEUE_PACKAGES);
      await runWorker(flags);
    });
}

/** They come with each run; taken here they would have no effect. */
function refuseFlagsOfTheRun({ set, maxTools }: WorkerFlags): void {
  const given = [...(set ? ['--set'] : []), ...(maxTools === undefined ? [] : ['--max-tools'])];
  if (given.length === 0) return;
  throw new WinnowError('invalid_option', `${given.join(', ')} comes with each run: give it to winnow eval.`);
}
