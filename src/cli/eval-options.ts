/** The flags of `winnow eval`, and what of them a resumed run must have the same. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { addQueueOptions, type QueueFlags } from './queue-options.js';
import { addSharedOptions, assign, calendarDay, collect, type SharedFlags, wholeNumber } from './shared-options.js';

export interface EvalFlags extends SharedFlags, QueueFlags {
  suite?: string[];
  cases?: string[];
  only?: 'select' | 'plan';
  candidates: 'all' | 'only';
  distractors: number;
  limit?: number;
  sample?: number;
  seed: number;
  tag?: string[];
  failingOf?: string;
  ignoreCase?: boolean;
  today?: string;
  jobs: number;
  repeat: number;
  out?: string;
  name?: string;
  resume?: boolean;
  retryErrors?: boolean;
  /** False with `--no-cache`. */
  cache: boolean;
  prices?: string;
  gate?: string;
  json?: boolean;
}

/** Where runs go without `--out`, and where `history` looks. */
export const RUNS_FOLDER = '.winnow/eval';

export function addEvalOptions(command: Command): Command {
  return addQueueOptions(addRunOptions(addCaseOptions(addSharedOptions(command))));
}

/** Which cases, and how they are judged. */
function addCaseOptions(command: Command): Command {
  return command
    .option(
      '--suite <set>',
      'cases with their catalogue: SET.cases.jsonl and SET.tools.json, or FOLDER/NAME for FOLDER/cases/NAME.jsonl and FOLDER/catalogs/NAME.json; repeatable',
      collect,
    )
    .option('--cases <file>', 'a file of cases for the catalogue of --catalog; repeatable', collect)
    .addOption(
      new Option('--only <stage>', 'judge one stage alone: plan gives it the expected tools and others').choices([
        'select',
        'plan',
      ]),
    )
    .addOption(
      new Option('--candidates <which>', 'only: each case sees the tools that it names')
        .choices(['all', 'only'])
        .default('all'),
    )
    .option('--distractors <number>', 'with --candidates only: so many other tools, by chance', countingNumber, 0)
    .option('--limit <number>', 'at most the first so many cases of each set', wholeNumber)
    .option('--sample <number>', 'so many cases of each set, by chance', wholeNumber)
    .option('--seed <number>', 'for all that is by chance', countingNumber, 1)
    .option('--tag <tag>', 'only cases with this tag; repeatable', collect)
    .option('--failing-of <run>', 'only cases that are not right in that run')
    .option('--ignore-case', 'upper and lower case of argument values do not count')
    .option('--today <date>', 'day of the cases that name none, YYYY-MM-DD (default: today)', calendarDay);
}

/** How they are done, and what comes of it. */
function addRunOptions(command: Command): Command {
  return command
    .option('-j, --jobs <number>', 'cases at once', wholeNumber, 1)
    .option(
      '--repeat <number>',
      'how often each case is done; only the first try may come from the cache',
      wholeNumber,
      1,
    )
    .option('--out <folder>', `folder of the run (default: a new one in ${RUNS_FOLDER})`)
    .option('--name <name>', 'name of the run (default: that of its folder)')
    .option('--resume', 'go on with the run in --out: no case is done twice, none is missing')
    .option('--retry-errors', 'with --resume: cases that ended with an error are done again')
    .option('--no-cache', 'ask the model also what was asked before')
    .option(
      '--prices <file>',
      'price table: {"currency": "USD", "models": {"NAME": {"read": 1, "cached": 0.1, "written": 4}}} a million tokens',
    )
    .option('--gate <bars>', 'bars that give the exit code: recall@8>=0.85,precision>=0.3,noWorseThan=RUN')
    .option('--json', 'print the summary as JSON');
}

function countingNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isInteger(value) || value < 0)
    throw new InvalidArgumentError('must be a whole number.');
  return value;
}

/** `--set maxTools=8,producers=off` is short for two of them. */
export function expandSet(set: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> {
  const values = Object.entries(set ?? {}).flatMap(([name, value]) => {
    if (typeof value !== 'string' || !/,\s*\w+=/u.test(value)) return [[name, value]];
    return `${name}=${value}`.split(',').flatMap((part) => Object.entries(assign(part.trim(), undefined)));
  });
  return Object.fromEntries(values);
}
