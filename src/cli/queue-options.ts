/** The flags of `winnow eval` about a queue. */
import { type Command, InvalidArgumentError } from 'commander';
import { WinnowError } from '../core/errors.js';
import { UNITS_IN_MS } from './duration.js';
import { type SharedFlags, wholeNumber } from './shared-options.js';

export interface QueueFlags {
  queue?: string;
  rate?: { cases: number; perMs: number };
  window?: number;
  attempts?: number;
  lostAfter?: number;
}

export const DEFAULT_WINDOW = 200;
/** What `winnow eval --queue` and `winnow worker` need besides Winnow. */
export const QUEUE_PACKAGES = { packages: ['bullmq', 'ioredis'], neededBy: 'A queue' };

export function addQueueOptions(command: Command): Command {
  return command
    .option(
      '--queue <url>',
      'let workers on any machines do the cases, with the model that they have, or only those with the one that --model names: redis://127.0.0.1:6379; see winnow worker',
    )
    .option('--rate <cases/time>', 'with --queue: most cases begun by all workers together, 10/s or 600/m', rateOf)
    .option('--window <number>', `with --queue: most cases in Redis at once (default: ${DEFAULT_WINDOW})`, wholeNumber)
    .option('--attempts <number>', 'with --queue: tries of a case whose model server fails (default: 3)', wholeNumber)
    .option(
      '--lost-after <seconds>',
      'with --queue: the cases of a worker that is not heard of for so long go to others (default: 30)',
      wholeNumber,
    );
}

/** What says which model there is, and how it is reached: the workers have it. */
const MODEL_FLAGS = [
  'callLog',
  'callLogSecrets',
  'baseUrl',
  'modelFile',
  'apiKeyEnv',
  'planningModel',
  'planningBaseUrl',
  'planningModelFile',
  'planningApiKeyEnv',
] as const satisfies readonly (keyof SharedFlags)[];
type ModelFlag = (typeof MODEL_FLAGS)[number];

const toFlag = (name: string) => name.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`);

/** A flag that would have no effect is an error. @throws WinnowError `invalid_option` */
export function refuseQueueFlags(flags: QueueFlags & Pick<SharedFlags, ModelFlag> & { jobs: number }): void {
  const { queue, rate, window, attempts, lostAfter, jobs } = flags;
  const ofQueue = Object.entries({ rate, window, attempts, 'lost-after': lostAfter });
  const [alone] = ofQueue.find(([, value]) => value !== undefined) ?? [];
  if (queue === undefined && alone !== undefined) {
    throw new WinnowError('invalid_option', `--${alone} goes with --queue.`);
  }
  const given = MODEL_FLAGS.map((name) => [toFlag(name), flags[name]] as const);
  const ofWorkers = [['jobs', jobs > 1 ? jobs : undefined] as const, ...given];
  const [ofWorker] = ofWorkers.find(([, value]) => value !== undefined) ?? [];
  if (queue !== undefined && ofWorker !== undefined) {
    throw new WinnowError('invalid_option', `--${ofWorker} does not go with --queue: give it to winnow worker.`);
  }
}

function rateOf(text: string): { cases: number; perMs: number } {
  const [, cases, unit = ''] = /^([1-9]\d*)\/([smh])$/u.exec(text.trim()) ?? [];
  const perMs = UNITS_IN_MS[unit];
  if (cases === undefined || perMs === undefined) {
    throw new InvalidArgumentError('must be cases a second, minute or hour, such as 10/s, 600/m or 5000/h.');
  }
  return { cases: Number(cases), perMs };
}
