/** Two runs case by case: only cases that both have are compared, so that a difference is one of the runs. */
import { METRICS } from './metrics.js';
import { readRecords, readSummary } from './run-folder.js';
import type { MetricMeaning, RunSummary } from './run-summary.js';
import { differencesOf } from './settings.js';
import { type Difference, FRACTION_DIFFERENCES, mcNemarExact, pairedDifference } from './statistics.js';
import { createTally, type Tally } from './tally.js';

export interface ComparedMetric extends MetricMeaning {
  readonly name: string;
  /** Means over the cases that both runs have. */
  readonly first: number;
  readonly second: number;
  /** Second minus first, with a paired bootstrap interval. */
  readonly difference: Difference;
}

export interface Comparison {
  readonly first: RunSummary;
  readonly second: RunSummary;
  /** Cases that both have. */
  readonly cases: number;
  /** Cases that only one of them has. */
  readonly onlyFirst: number;
  readonly onlySecond: number;
  /** Settings that differ: what a difference may come from. */
  readonly settings: readonly string[];
  readonly metrics: readonly ComparedMetric[];
  /** Right in the second run only, and in the first run only. A case is right when more than half of its repeats are. */
  readonly won: readonly string[];
  readonly lost: readonly string[];
  /** Of McNemar's exact test on won and lost. */
  readonly p: number;
}

/** @param first and `second` are folders of runs. @throws WinnowError `not_found`, `invalid_request` */
export async function compareRuns(first: string, second: string): Promise<Comparison> {
  const summaries = { first: readSummary(first), second: readSummary(second) };
  const tallies = { first: await tallyOf(first), second: await tallyOf(second) };
  const both = casesOfBoth(tallies);
  const metrics = [...METRICS].flatMap(([name, meaning]) => compareMetric({ name, ...meaning }, both, tallies));
  const { won, lost } = wonAndLost(both, tallies);
  return {
    ...summaries,
    cases: both.length,
    onlyFirst: tallies.first.places().size - both.length,
    onlySecond: tallies.second.places().size - both.length,
    settings: differencesOf(summaries.first.settings, summaries.second.settings),
    metrics,
    won,
    lost,
    p: mcNemarExact(won.length, lost.length),
  };
}

async function tallyOf(path: string): Promise<Tally> {
  const tally = createTally();
  for await (const record of readRecords(path)) tally.add(record);
  return tally;
}

type Tallies = Readonly<Record<'first' | 'second', Tally>>;

/** A case with its place in each of the tallies. */
type Shared = readonly [id: string, first: number, second: number];

function casesOfBoth({ first, second }: Tallies): Shared[] {
  const others = second.places();
  return [...first.places()].flatMap(([id, place]): Shared[] => {
    const other = others.get(id);
    return other === undefined ? [] : [[id, place, other]];
  });
}

/** Of the cases in which both runs have a value. */
function pairsOf(
  name: string,
  cases: readonly Shared[],
  { first, second }: Tallies,
): { id: string; pair: readonly [first: number, second: number] }[] {
  return cases.flatMap(([id, place, other]) => {
    const [one, two] = [first.valueAt(name, place), second.valueAt(name, other)];
    return one === undefined || two === undefined ? [] : [{ id, pair: [one, two] as const }];
  });
}

function compareMetric(
  metric: MetricMeaning & { name: string },
  cases: readonly Shared[],
  tallies: Tallies,
): ComparedMetric[] {
  const pairs = pairsOf(metric.name, cases, tallies).map(({ pair }) => pair);
  const ends = metric.unit === 'fraction' ? FRACTION_DIFFERENCES : undefined;
  const difference = pairedDifference(pairs, { ends });
  if (!difference) return [];
  const mean = (at: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[at], 0) / pairs.length;
  return [{ ...metric, first: mean(0), second: mean(1), difference }];
}

function wonAndLost(cases: readonly Shared[], tallies: Tallies): { won: string[]; lost: string[] } {
  const pairs = pairsOf('right', cases, tallies).map(({ id, pair: [first, second] }) => {
    return { id, was: first > 0.5, is: second > 0.5 };
  });
  return {
    won: pairs.filter(({ was, is }) => is && !was).map(({ id }) => id),
    lost: pairs.filter(({ was, is }) => was && !is).map(({ id }) => id),
  };
}
