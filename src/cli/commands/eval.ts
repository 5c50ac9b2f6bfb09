/** `winnow eval`: measures selection and plans on cases, compares runs, and reports on finished ones. */
import type { Command } from 'commander';
import { WinnowError } from '../../core/errors.js';
import { command } from '../command.js';
import { COMPARE, EVAL, GATE } from '../eval-options.js';
import { JSON_OUTPUT } from '../flags.js';

export function evalCommand(): Command {
  const made: Command = command({
    name: 'eval',
    about: 'measure selection and plans on cases with known answers',
    flags: EVAL,
    examples: [
      'winnow eval --suite fixtures/assistant --only select --sample 12 --out runs/a',
      'winnow eval --suite fixtures/assistant --only select --sample 12 --out runs/b --gate "recall>=0.85,noWorseThan=runs/a"',
    ],
    async run([word], flags) {
      if (word !== undefined) {
        const { nearHint } = await import('../../core/nearest-name.js');
        const below = made.commands.map((one) => one.name());
        const hint = nearHint(word, below);
        throw new WinnowError('invalid_option', `There is no command "winnow eval ${word}"${hint}.`);
      }
      const { runEvaluation } = await import('../eval-run.js');
      await runEvaluation(flags);
    },
  });
  for (const one of [compareCommand(), reportCommand()]) made.addCommand(one);
  // Otherwise a flag after the name of a subcommand would count as one of this command.
  return made.allowExcessArguments().enablePositionalOptions();
}

function compareCommand(): Command {
  return command({
    name: 'compare',
    words: '<first> <second>',
    about: 'two runs case by case: what was won, what was lost, and whether it is more than chance',
    flags: COMPARE,
    examples: ['winnow eval compare runs/a runs/b --gate "right>=0.8" --out both.html'],
    async run([first = '', second = ''], flags) {
      const { printComparison } = await import('../finished-runs.js');
      await printComparison(first, second, flags);
    },
  });
}

function reportCommand(): Command {
  return command({
    name: 'report',
    words: '<run>',
    about: 'write the summary, the records and the page of a run again, from its cases',
    flags: { ...GATE, ...JSON_OUTPUT },
    examples: ['winnow eval report runs/a'],
    async run([path = ''], flags) {
      const { writeReport } = await import('../finished-runs.js');
      await writeReport(path, flags);
    },
  });
}
