/** The flags of `winnow eval` and `winnow tune`. Both share those about cases and runs. */
import { InvalidArgumentError } from 'commander';
import { WinnowError } from '../core/errors.js';
import type { Shares } from '../eval/tune/split-cases.js';
import { choice, type FlagsOf, list, text, toggle, typed, untoggle, valued, withDefault } from './command.js';
import { calendarDay, duration, JSON_OUTPUT, PLANNING, UNITS_IN_MS, wholeNumber } from './flags.js';

/** Default folder of runs, and of `history`. */
export const RUNS_FOLDER = '.winnow/eval';

export const SUITE = {
  suite: list(
    '--suite <set>',
    'cases and tools: SET.cases.jsonl, SET.tools.json; or cases/SET.jsonl, catalogs/SET.json',
  ),
};
export const JOBS = { jobs: withDefault(valued('-j, --jobs <number>', 'cases at once', wholeNumber), 1) };

/** Which cases, how they are judged, and where the run is kept. */
export const CASES = {
  ...PLANNING,
  ...SUITE,
  cases: list('--cases <file>', 'a file of cases for the catalogue of --catalog'),
  only: choice('--only <stage>', 'one stage alone; plan is given the expected tools and others', ['select', 'plan']),
  limit: valued('--limit <number>', 'at most the first so many cases of each set', wholeNumber),
  sample: valued('--sample <number>', 'so many cases of each set, by chance', wholeNumber),
  seed: withDefault(valued('--seed <number>', 'for all that is by chance', countingNumber), 1),
  tag: list('--tag <tag>', 'only cases with this tag'),
  ignoreCase: toggle('--ignore-case', 'upper and lower case of argument values do not count'),
  today: valued('--today <date>', 'day of the cases that name none, YYYY-MM-DD (default: today)', calendarDay),
  ...JOBS,
  out: text('--out <folder>', 'folder of the run (default: a new one in .winnow)'),
  resume: toggle('--resume', 'go on with the run in --out: what has an answer is not done again'),
  cache: untoggle('--no-cache', 'ask the model also what was asked before'),
  ...JSON_OUTPUT,
};

export const GATE = {
  gate: text('--gate <bars>', 'bars for the exit code: recall@8>=0.85,precision>=0.3,noWorseThan=RUN'),
};
export const COMPARE = {
  ...GATE,
  junit: text('--junit <file>', 'write what was won and lost, and the bars'),
  report: text('--report <file>', 'write a page with both runs side by side, and what differs in their prompts'),
  ...JSON_OUTPUT,
};
export const QUEUE = {
  queue: text('--queue <url>', 'Redis between winnow eval and its workers: redis://127.0.0.1:6379; see winnow worker'),
};

export const EVAL = {
  ...CASES,
  distractors: valued(
    '--distractors <number>',
    'each case sees the candidates that it names, and so many other tools by chance (default: all tools)',
    countingNumber,
  ),
  failingOf: text('--failing-of <run>', 'only cases that are not right in that run'),
  repeat: withDefault(
    valued('--repeat <number>', 'how often each case is done; only the first try may be cached', wholeNumber),
    1,
  ),
  prices: text(
    '--prices <file>',
    'price table: {"currency": "USD", "models": {"NAME": {"read": 1, "cached": 0.1, "written": 4}}} a million tokens',
  ),
  ...GATE,
  ...QUEUE,
  rate: valued('--rate <cases/time>', 'with --queue: most cases begun by all workers together, 10/s or 600/m', rateOf),
  window: valued('--window <number>', 'with --queue: most cases in Redis at once (default: 200)', wholeNumber),
  attempts: valued('--attempts <number>', 'with --queue: tries where the model server fails (default: 3)', wholeNumber),
  lostAfter: valued('--lost-after <seconds>', 'with --queue: silence that loses a worker (default: 30)', wholeNumber),
};
export type EvalFlags = FlagsOf<typeof EVAL>;

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
    valued('--max-tokens-growth <share>', 'how much longer a sent prompt may become, such as 20%', share),
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

export const DEFAULT_WINDOW = 200;
/** What `winnow eval --queue` and `winnow worker` need besides Winnow. */
export const QUEUE_PACKAGES = { packages: ['bullmq', 'ioredis'], neededBy: 'A queue' };

const QUEUE_FLAGS = ['rate', 'window', 'attempts', 'lostAfter'] as const;

/** @throws WinnowError `invalid_option` for a flag without effect */
export function refuseQueueFlags(flags: EvalFlags): void {
  const { queue, jobs } = flags;
  const alone = QUEUE_FLAGS.find((name) => flags[name] !== undefined);
  if (queue === undefined && alone !== undefined)
    throw new WinnowError('invalid_option', `${typed(EVAL[alone])} goes with --queue.`);
  const ofWorker = jobs > 1 ? 'jobs' : flags.baseUrl === undefined ? undefined : 'baseUrl';
  if (queue !== undefined && ofWorker !== undefined) {
    const message = `${typed(EVAL[ofWorker])} does not go with --queue: give it to winnow worker.`;
    throw new WinnowError('invalid_option', message);
  }
}

function rateOf(words: string): { cases: number; perMs: number } {
  const [, cases, unit = ''] = /^([1-9]\d*)\/([smh])$/u.exec(words.trim()) ?? [];
  const perMs = UNITS_IN_MS[unit];
  if (cases === undefined || perMs === undefined) {
    throw new InvalidArgumentError('must be cases a second, minute or hour, such as 10/s, 600/m or 5000/h.');
  }
  return { cases: Number(cases), perMs };
}

function countingNumber(words: string): number {
  const value = Number(words);
  if (words.trim() === '' || !Number.isInteger(value) || value < 0)
    throw new InvalidArgumentError('must be a whole number.');
  return value;
}

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
