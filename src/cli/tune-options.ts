/** The flags of `winnow tune`. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Shares } from '../eval/tune/split-cases.js';
import { duration } from './duration.js';
import { addSharedOptions, calendarDay, collect, type SharedFlags, wholeNumber } from './shared-options.js';

export interface TuneFlags extends SharedFlags {
  suite?: string[];
  cases?: string[];
  only?: 'select' | 'plan';
  limit?: number;
  sample?: number;
  tag?: string[];
  seed: number;
  today?: string;
  ignoreCase?: boolean;
  metric?: string;
  /** In milliseconds. */
  budget: number;
  maxCalls?: number;
  /** As a fraction. */
  maxTokensGrowth: number;
  rounds: number;
  tries: number;
  split?: Shares;
  jobs: number;
  out?: string;
  resume?: boolean;
  /** False with `--no-cache`. */
  cache: boolean;
  json?: boolean;
}

/** Where runs go without `--out`. */
export const TUNING_FOLDER = '.winnow/tune';

const DEFAULT_BUDGET = '30m';

export function addTuneOptions(command: Command): Command {
  return addSharedOptions(command)
    .option('--suite <set>', 'cases with their catalogue, as for winnow eval; repeatable', collect)
    .option('--cases <file>', 'a file of cases for the catalogue of --catalog; repeatable', collect)
    .addOption(new Option('--only <stage>', 'tune the prompt of one stage alone').choices(['select', 'plan']))
    .option('--limit <number>', 'at most the first so many cases of each set', wholeNumber)
    .option('--sample <number>', 'so many cases of each set, by chance', wholeNumber)
    .option('--tag <tag>', 'only cases with this tag; repeatable', collect)
    .option('--seed <number>', 'for all that is by chance', wholeNumber, 1)
    .option('--today <date>', 'day of the cases that name none, YYYY-MM-DD (default: today)', calendarDay)
    .option('--ignore-case', 'upper and lower case of argument values do not count')
    .option(
      '--metric <name>',
      'what is to rise, such as recall, right or nodeF1 (default: recall; for plans a mean of four)',
    )
    .addOption(
      new Option('--budget <time>', 'time for all, such as 90s, 30m or 2h')
        .argParser(duration)
        .default(duration(DEFAULT_BUDGET), DEFAULT_BUDGET),
    )
    .option('--max-calls <number>', 'at most so many model calls (default: no bound)', wholeNumber)
    .option('--max-tokens-growth <share>', 'how much longer a prompt as it is sent may become, such as 20%', share, 0.2)
    .option('--rounds <number>', 'at most so many rounds a prompt', wholeNumber, 6)
    .option('--tries <number>', 'sets of examples and wordings that are tried in a round, each', wholeNumber, 4)
    .option('--split <shares>', 'of training, choosing and held-back cases (default: 30,40,30)', shares)
    .option('-j, --jobs <number>', 'cases at once', wholeNumber, 1)
    .option('--out <folder>', `folder of the run (default: a new one in ${TUNING_FOLDER})`)
    .option('--resume', 'go on with the run in --out: nothing is asked twice')
    .option('--no-cache', 'ask the model also what was asked before by other runs')
    .option('--json', 'print the report as JSON');
}

function share(text: string): number {
  const [, amount, percent] = /^(\d+(?:\.\d+)?)(%?)$/u.exec(text.trim()) ?? [];
  if (amount === undefined) throw new InvalidArgumentError('write it as 20% or 0.2.');
  return Number(amount) / (percent === '%' ? 100 : 1);
}

function shares(text: string): Shares {
  const [training, choosing, heldBack, ...more] = text.split(',').map(Number);
  const given = [training, choosing, heldBack];
  if (more.length > 0 || given.some((value) => value === undefined || !(value > 0) || !Number.isFinite(value)))
    throw new InvalidArgumentError('write three numbers above 0, such as 30,40,30.');
  return { training: training ?? 0, choosing: choosing ?? 0, heldBack: heldBack ?? 0 };
}
