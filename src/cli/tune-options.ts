/** The flags of `winnow tune`. */
import { InvalidArgumentError } from 'commander';
import type { Shares } from '../eval/tune/split-cases.js';
import { type FlagsOf, text, valued, withDefault } from './command.js';
import { CASES } from './eval-options.js';
import { duration, wholeNumber } from './flags.js';

/** Where runs go without `--out`. */
export const TUNING_FOLDER = '.winnow/tune';

const DEFAULT_BUDGET = '30m';

export const TUNE = {
  ...CASES,
  metric: text('--metric <name>', 'what is to rise, such as right (default: recall; for plans a mean of four)'),
  budget: withDefault(
    valued('--budget <time>', 'time for all, such as 90s, 30m or 2h', duration),
    duration(DEFAULT_BUDGET),
    DEFAULT_BUDGET,
  ),
  maxCalls: valued('--max-calls <number>', 'at most so many model calls (default: no bound)', wholeNumber),
  maxTokensGrowth: withDefault(
    valued('--max-tokens-growth <share>', 'how much longer a prompt as it is sent may become, such as 20%', share),
    0.2,
  ),
  rounds: withDefault(valued('--rounds <number>', 'at most so many rounds a prompt', wholeNumber), 6),
  tries: withDefault(
    valued('--tries <number>', 'sets of examples and wordings that are tried in a round, each', wholeNumber),
    4,
  ),
  split: valued('--split <shares>', 'of training, choosing and held-back cases (default: 30,40,30)', shares),
};
export type TuneFlags = FlagsOf<typeof TUNE>;

function share(words: string): number {
  const [, amount, percent] = /^(\d+(?:\.\d+)?)(%?)$/u.exec(words.trim()) ?? [];
  if (amount === undefined) throw new InvalidArgumentError('write it as 20% or 0.2.');
  return Number(amount) / (percent === '%' ? 100 : 1);
}

function shares(words: string): Shares {
  const [training, choosing, heldBack, ...more] = words.split(',').map(Number);
  const given = [training, choosing, heldBack];
  if (more.length > 0 || given.some((value) => value === undefined || !(value > 0) || !Number.isFinite(value)))
    throw new InvalidArgumentError('write three numbers above 0, such as 30,40,30.');
  return { training: training ?? 0, choosing: choosing ?? 0, heldBack: heldBack ?? 0 };
}
