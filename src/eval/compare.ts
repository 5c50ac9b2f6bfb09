/** Compares two runs on the cases that both have, so that differences come from the runs. */
import { createTally, METRICS, type Tally } from './metrics.js';
import type { CaseRecord } from './record.js';
import { readSummary, withRun } from './run-store.js';
import { differencesOf, type MetricMeaning, type RunSummary } from './run-summary.js';
import { type Difference, FRACTION_DIFFERENCES, mcNemarExact, type Pair, pairedDifference } from './statistics.js';

export interface ComparedMetric extends MetricMeaning {
  readonly name: string;
  /** Means over the shared cases. */
  readonly first: number;
  readonly second: number;
  /** Second minus first, with a paired bootstrap interval. */
  readonly difference: Difference;
}

export interface Comparison {
  readonly first: RunSummary;
  readonly second: RunSummary;
  /** Number of shared cases. */
  readonly cases: number;
  /** Number of cases in one run only. */
  readonly onlyFirst: number;
  readonly onlySecond: number;
  /** Settings that differ, which may explain differences. */
  readonly settings: readonly string[];
  readonly metrics: readonly ComparedMetric[];
  /** Right in the second run only, and in the first run only. A case is right when more than half of its repeats are. */
  readonly won: readonly string[];
  readonly lost: readonly string[];
  /** Case that was won or lost -> its request. */
  readonly requests: Readonly<Record<string, string>>;
  /** p of McNemar's exact test on won and lost. */
  readonly p: number;
}

/** @param first and `second` are folders of runs. @throws WinnowError `not_found`, `store_failed` */
export async function compareRuns(first: string, second: string): Promise<Comparison> {
  const summaries = { first: await readSummary(first), second: await readSummary(second) };
  const one = await tallyOf(first);
  const queries = new Map<string, string>();
  const other = await tallyOf(second, ({ id, query }) => queries.set(id, query));
  const both = [...one.places()].flatMap(([id, at]) => {
    const there = other.places().get(id);
    return there === undefined ? [] : [{ id, at, there }];
  });
  /** Cases in which both runs have a value. */
  const pairsOf = (name: string): { id: string; pair: Pair }[] =>
    both.flatMap(({ id, at, there }) => {
      const [before, after] = [one.valueAt(name, at), other.valueAt(name, there)];
      return before === undefined || after === undefined ? [] : [{ id, pair: [before, after] }];
    });
  const right = pairsOf('right').map(({ id, pair: [was, is] }) => ({ id, was: was > 0.5, is: is > 0.5 }));
  const won = right.filter(({ was, is }) => is && !was).map(({ id }) => id);
  const lost = right.filter(({ was, is }) => was && !is).map(({ id }) => id);
  return {
    ...summaries,
    cases: both.length,
    onlyFirst: one.places().size - both.length,
    onlySecond: other.places().size - both.length,
    settings: differencesOf(summaries.first.settings, summaries.second.settings),
    metrics: [...METRICS].flatMap(([name, meaning]) => compareMetric({ name, ...meaning }, pairsOf(name))),
    won,
    lost,
    requests: Object.fromEntries([...won, ...lost].map((id) => [id, queries.get(id) ?? ''])),
    p: mcNemarExact(won.length, lost.length),
  };
}

function tallyOf(path: string, onRecord?: (record: CaseRecord) => void): Promise<Tally> {
  return withRun(path, async (store) => {
    const tally = createTally();
    for await (const record of store.records()) {
      tally.add(record);
      onRecord?.(record);
    }
    return tally;
  });
}

function compareMetric(
  metric: MetricMeaning & { name: string },
  compared: readonly { readonly pair: Pair }[],
): ComparedMetric[] {
  const pairs = compared.map(({ pair }) => pair);
  const ends = metric.unit === 'fraction' ? FRACTION_DIFFERENCES : undefined;
  const difference = pairedDifference(pairs, { ends });
  if (!difference) return [];
  const mean = (at: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[at], 0) / pairs.length;
  return [{ ...metric, first: mean(0), second: mean(1), difference }];
}
