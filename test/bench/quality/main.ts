/** The command: flags -> sets, contestants, model -> measurement -> table and files. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { ModelSettings } from '../../../src/core/model/create-model.js';
import type { Model } from '../../../src/core/model/model.js';
import { LONGEST_MS } from './ask-planner.js';
import { judgeBars } from './bars.js';
import { contestantsOf } from './contestants.js';
import { renderFailures } from './failures.js';
import { loadSet } from './load-set.js';
import { measure } from './measure.js';
import type { Outcome } from './outcome.js';
import { createProgress } from './progress.js';
import { type RunFacts, renderReport } from './render.js';
import { type QualitySet, SETS } from './sets.js';
import { summarise } from './summary.js';

type Sink = Pick<NodeJS.WritableStream, 'write'>;

export interface MainContext {
  stdout: Sink;
  stderr: Sink;
  signal: AbortSignal;
  openModel: (settings: ModelSettings) => Promise<Model>;
  /** Folder of the benchmarks, where no flag names one. */
  benchmarks: string;
}

const OPTIONS = {
  sets: { type: 'string', default: Object.keys(SETS).join(',') },
  contestants: { type: 'string', default: 'first,peer,part' },
  sample: { type: 'string', default: '40' },
  full: { type: 'boolean', default: false },
  seed: { type: 'string', default: '1' },
  'max-tools': { type: 'string', default: '8' },
  failures: { type: 'boolean', default: false },
  benchmarks: { type: 'string' },
  today: { type: 'string', default: '2025-11-21' },
  out: { type: 'string', default: '.winnow/bench' },
  markdown: { type: 'string' },
  'base-url': { type: 'string' },
  model: { type: 'string' },
  'model-file': { type: 'string' },
  'context-tokens': { type: 'string' },
  threads: { type: 'string' },
} as const;

const readFlags = (args: readonly string[]) => parseArgs({ args: [...args], options: OPTIONS }).values;
type Flags = ReturnType<typeof readFlags>;

/**
 * Once the signal has fired it ends early, and tells that the same command goes on.
 * @returns whether all was measured: not stopped, and no error of the model
 * @throws RangeError for a flag that can't be used, WinnowError where a set or the model can't be read
 */
export async function main(args: readonly string[], context: MainContext): Promise<boolean> {
  const flags = readFlags(args);
  const { stderr, stdout, signal } = context;
  const contestants = contestantsOf(flags.contestants.split(','));
  const [seed, maxTools] = [toCount('seed', flags.seed), toCount('max-tools', flags['max-tools'])];
  const sample = flags.full ? undefined : toCount('sample', flags.sample);
  const benchmarks = flags.benchmarks ?? context.benchmarks;
  const sets = await loadSets(flags.sets.split(','), { benchmarks, sample, seed }, stderr);
  const model = await context.openModel(toModelSettings(flags));
  const facts: RunFacts = { model: model.id, sample, seed, maxTools };
  const outcomes: Outcome[] = [];
  const tell = (text: string) => stderr.write(`${text}\n`);
  const progress = createProgress(sets, tell);
  const write = () => writeFiles(outcomes, { facts, folder: flags.out, markdown: flags.markdown });
  const work = { sets, contestants, model, maxTools, folder: flags.out, today: flags.today, signal };
  try {
    await measure({
      ...work,
      onOutcome(outcome) {
        outcomes.push(outcome);
        progress(outcome);
      },
      onPair: write,
      onNotice: tell,
    });
  } catch (error) {
    if (!signal.aborted) throw error;
    tell('Stopped. The same command goes on from here.');
  } finally {
    write();
    if (flags.failures) stdout.write(`${renderFailures(outcomes)}\n\n`);
    stdout.write(`${renderReport(outcomes, facts)}\n`);
    await model.close();
  }
  return !signal.aborted && outcomes.every(({ status }) => status !== 'error');
}

function toModelSettings(flags: Flags): ModelSettings {
  return {
    baseUrl: flags['base-url'],
    model: flags.model,
    modelFile: flags['model-file'],
    contextTokens: toOptionalCount('context-tokens', flags['context-tokens']),
    threads: toOptionalCount('threads', flags.threads),
    callTimeoutMs: LONGEST_MS,
  };
}

function toCount(name: string, text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new RangeError(`--${name} ${text}: give a whole number from 1.`);
  return count;
}

const toOptionalCount = (name: string, text: string | undefined) =>
  text === undefined ? undefined : toCount(name, text);

/** In the order of the table of sets, however they are named. */
async function loadSets(
  ids: readonly string[],
  options: Parameters<typeof loadSet>[1],
  stderr: Sink,
): Promise<QualitySet[]> {
  const places = Object.keys(SETS);
  const sets: QualitySet[] = [];
  for (const id of [...new Set(ids)].sort((one, other) => places.indexOf(one) - places.indexOf(other))) {
    const set = await loadSet(id, options);
    if (set) sets.push(set);
    else stderr.write(`${id} is skipped: its files are not in ${options.benchmarks} (WINNOW_BENCHMARKS).\n`);
    for (const notice of set?.notices ?? []) stderr.write(`${id}: ${notice}\n`);
  }
  if (sets.length === 0) throw new RangeError('No set is left to measure.');
  return sets;
}

function writeFiles(
  outcomes: readonly Outcome[],
  { facts, folder, markdown }: { facts: RunFacts; folder: string; markdown: string | undefined },
): void {
  mkdirSync(folder, { recursive: true });
  const content = { ...facts, rows: summarise(outcomes), bars: judgeBars(outcomes), outcomes };
  writeFileSync(join(folder, 'quality.json'), `${JSON.stringify(content, null, 1)}\n`);
  if (markdown !== undefined) writeFileSync(markdown, `${renderReport(outcomes, facts)}\n`);
}
