/** `winnow tune`: improves prompts from their failures, and keeps only what is clearly better on other cases. */
import type { Command } from 'commander';
import { command } from '../command.js';
import { TUNE } from '../eval-options.js';

export function tuneCommand(): Command {
  return command({
    name: 'tune',
    about: 'improve the selection and the planning prompt on at least 16 cases with known answers',
    flags: TUNE,
    examples: ['winnow tune --suite fixtures/assistant --only select --budget 30m --out tuned'],
    async run(_, flags) {
      const { runTuning } = await import('../tune-run.js');
      await runTuning(flags);
    },
  });
}
