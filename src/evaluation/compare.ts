/** Two runs case by case: only cases that both have are compared, so that a difference is one of the runs. */
import { METRICS, type MetricMeaning } from './metrics.js';
import { readRecords, readSummary } from './run-folder.js';
import { differencesOf, type RunSummary } from './run-summary.js';
import { type Difference, mcNemarExact, pairedDifference } from './statistics.js';
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
  const done = { first: tallies.first.valuesOf('errors'), second: tallies.second.valuesOf('errors') };
  const both = [...done.first.keys()].filter((id) => done.second.has(id));
  const names = new Set([...tallies.first.names(), ...tallies.second.names()]);
  const metrics = [...METRICS].flatMap(([name, meaning]) => {
    return names.has(name) ? compareMetric(name, meaning, tallies) : [];
  });
  const { won, lost } = wonAndLost(tallies);
  return {
    ...summaries,
    cases: both.length,
    onlyFirst: done.first.size - both.length,
    onlySecond: done.second.size - both.length,
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

/** Pairs of values of the cases in which both runs have one. */
function pairsOf(name: string, { first, second }: Tallies): [id: string, first: number, second: number][] {
  const others = second.valuesOf(name);
  return [...first.valuesOf(name)].flatMap(([id, value]): [string, number, number][] => {
    const other = others.get(id);
    return other === undefined ? [] : [[id, value, other]];
  });
}

function compareMetric(name: string, meaning: MetricMeaning, tallies: Tallies): ComparedMetric[] {
  const pairs = pairsOf(name, tallies);
  const difference = pairedDifference(pairs.map(([, first, second]) => [first, second]));
  if (!difference) return [];
  const mean = (at: 1 | 2) => pairs.reduce((sum, pair) => sum + pair[at], 0) / pairs.length;
  return [{ name, ...meaning, first: mean(1), second: mean(2), difference }];
}

function wonAndLost(tallies: Tallies): { won: string[]; lost: string[] } {
  const pairs = pairsOf('right', tallies).map(([id, first, second]) => ({ id, was: first > 0.5, is: second > 0.5 }));
  return {
    won: pairs.filter(({ was, is }) => is && !was).map(({ id }) => id),
    lost: pairs.filter(({ was, is }) => was && !is).map(({ id }) => id),
  };
}
