/** The flags of `winnow eval` and `winnow tune`. Both share those about cases and runs. */
import { InvalidArgumentError } from 'commander';
import { WinnowError } from '../core/errors.js';
import { choice, type FlagsOf, list, text, toggle, typed, untoggle, valued, withDefault } from './command.js';
import { calendarDay, duration, JSON_OUTPUT, PLANNING, wholeNumber } from './flags.js';

export const SUITE = {
  suite: list(
    '--suite <set>',
    'cases and tools: SET.cases.jsonl, SET.tools.json; or cases/SET.jsonl, catalogs/SET.json; or one file of cases, for the tools of --catalog',
  ),
};
export const JOBS = { jobs: withDefault(valued('-j, --jobs <number>', 'cases at once', wholeNumber), 1) };
const OUT = { out: text('--out <folder>', 'folder of the run (default: a new one in .winnow)') };

/** Which cases, how they are judged, and where the run is kept. */
export const CASES = {
  ...PLANNING,
  ...SUITE,
  only: choice('--only <stage>', 'one stage alone; plan is given the expected tools and others', ['select', 'plan']),
  limit: valued('--limit <number>', 'at most the first so many cases of each set', wholeNumber),
  sample: valued('--sample <number>', 'so many cases of each set, by chance', wholeNumber),
  seed: withDefault(valued('--seed <number>', 'for all that is by chance', countingNumber), 1),
  tag: list('--tag <tag>', 'only cases with this tag'),
  today: valued('--today <date>', 'day of the cases that name none, YYYY-MM-DD (default: today)', calendarDay),
  ...JOBS,
  ...OUT,
  cache: untoggle('--no-cache', 'ask the model also what was asked before'),
  ...JSON_OUTPUT,
};

export const GATE = {
  gate: text('--gate <bars>', 'bars for the exit code: recall@8>=0.85,precision>=0.3,noWorseThan=RUN'),
};
export const COMPARE = {
  ...GATE,
  out: text('--out <file>', 'write a page with both runs side by side, and what differs in their prompts'),
  ...JSON_OUTPUT,
};
export const QUEUE = {
  queue: text('--queue <url>', 'Redis between winnow eval and its workers: redis://127.0.0.1:6379; see winnow worker'),
};

export const EVAL = {
  ...CASES,
  resume: toggle('--resume', 'go on with the run in --out: what has an answer is not done again'),
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
  ...GATE,
  ...QUEUE,
};
export type EvalFlags = FlagsOf<typeof EVAL>;

const DEFAULT_BUDGET = '30m';
export const TUNE = {
  ...CASES,
  budget: withDefault(
    valued('--budget <time>', 'time for all, in seconds, minutes or hours: 90s, 30m or 2h', duration),
    duration(DEFAULT_BUDGET),
    DEFAULT_BUDGET,
  ),
};
export type TuneFlags = FlagsOf<typeof TUNE>;

/** What `winnow eval --queue` and `winnow worker` need besides Winnow. */
export const QUEUE_PACKAGES = { packages: ['bullmq', 'ioredis'], neededBy: 'A queue' };

/** @throws WinnowError `invalid_option` for a flag without effect */
export function refuseQueueFlags({ queue, jobs, baseUrl }: EvalFlags): void {
  const ofWorker = jobs > 1 ? 'jobs' : baseUrl === undefined ? undefined : 'baseUrl';
  if (queue === undefined || !ofWorker) return;
  const message = `${typed(EVAL[ofWorker])} does not go with --queue: give it to winnow worker.`;
  throw new WinnowError('invalid_option', message);
}

function countingNumber(words: string): number {
  const value = Number(words);
  if (words.trim() === '' || !Number.isInteger(value) || value < 0)
    throw new InvalidArgumentError('must be a whole number.');
  return value;
}
