/** `winnow tune`: improves the prompts by their failures, and keeps only what is clearly better on other cases. */
import { Command } from 'commander';
import { addTuneOptions, type TuneFlags } from './tune-options.js';

/** What a run needs is loaded with the run: other commands should not wait for it. */
export function tuneCommand(): Command {
  const command = new Command('tune').description(
    'improve the selection and the planning prompt on cases with known answers',
  );
  return addTuneOptions(command).action(async (flags: TuneFlags) => {
    const { runTuning } = await import('./tune-run.js');
    await runTuning(flags);
  });
}
