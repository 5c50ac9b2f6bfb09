/** From outcomes to figures: per set and contestant means with intervals, and Winnow against others case by case. */
import {
  bootstrapMean,
  type Difference,
  type Estimate,
  FRACTION_DIFFERENCES,
  FRACTIONS,
  pairedDifference,
} from '../../../src/eval/statistics.js';
import { median } from '../statistics.mjs';
import { METRIC_NAMES, type MetricName, type Outcome } from './outcome.js';

export const OURS = 'winnow';

export interface Row {
  readonly set: string;
  readonly contestant: string;
  /** Cases that were asked, answered or not, without errors of the model. */
  readonly cases: number;
  readonly metrics: Readonly<Partial<Record<MetricName, Estimate>>>;
  /** How often each mode came about, where the contestant tells. */
  readonly modes: Readonly<Record<string, number>>;
  /** The caller got an exception: why, and how often. */
  readonly unanswered: Readonly<Record<string, number>>;
  /** Errors of the model, which count nowhere: which, and how often. */
  readonly errors: Readonly<Record<string, number>>;
  readonly doesNotFit: number;
  /** The most that it would have sent, in tokens, where that did not fit. */
  readonly neededTokens: number | undefined;
  readonly toolsHandedOn: number;
  readonly schemaTokens: { readonly all: number; readonly loaded: number };
  /** Middle of a request, where the cost of all its answers is known. */
  readonly seconds: number | undefined;
  readonly tokens: { readonly read: number; readonly cached: number; readonly written: number } | undefined;
}

export interface Duel {
  readonly set: string;
  readonly metric: MetricName;
  readonly peer: string;
  readonly ours: number;
  readonly theirs: number;
  /** Ours over theirs; undefined where theirs is 0. */
  readonly ratio: number | undefined;
  /** Ours minus theirs, over the cases that both have. */
  readonly difference: Difference;
}

export function summarise(outcomes: readonly Outcome[]): Row[] {
  const pairs = new Map<string, Outcome[]>();
  for (const outcome of outcomes) {
    const key = `${outcome.set}\n${outcome.contestant}`;
    const pair = pairs.get(key) ?? [];
    pair.push(outcome);
    pairs.set(key, pair);
  }
  return [...pairs.values()].flatMap((all) => (all[0] ? [toRow(all[0], all)] : []));
}

function toRow({ set, contestant }: Outcome, all: readonly Outcome[]): Row {
  const isAsked = ({ status }: Outcome) => status === 'answered' || status === 'unanswered';
  const asked = all.filter(isAsked);
  const needed = all.flatMap(({ neededTokens }) => neededTokens ?? []);
  return {
    set,
    contestant,
    cases: asked.length,
    metrics: metricsOf(asked),
    modes: countBy(asked, ({ mode }) => mode),
    unanswered: countBy(all, ({ status, reason = '' }) => (status === 'unanswered' ? reason : undefined)),
    errors: countBy(all, ({ status, reason = '' }) => (status === 'error' ? reason : undefined)),
    doesNotFit: all.filter(({ status }) => status === 'does-not-fit').length,
    neededTokens: needed.length > 0 ? Math.max(...needed) : undefined,
    toolsHandedOn: mean(asked, ({ tools }) => tools.length),
    schemaTokens: {
      all: mean(asked.length > 0 ? asked : all, ({ schemaTokens }) => schemaTokens.all),
      loaded: mean(asked, ({ schemaTokens }) => schemaTokens.loaded),
    },
    ...costOf(asked.filter(({ spent }) => spent.unpriced === 0 && spent.answers > 0)),
  };
}

function metricsOf(asked: readonly Outcome[]): Row['metrics'] {
  return Object.fromEntries(
    METRIC_NAMES.flatMap((name): [MetricName, Estimate][] => {
      const estimate = bootstrapMean(
        asked.flatMap(({ scores }) => scores[name] ?? []),
        { ends: FRACTIONS },
      );
      return estimate ? [[name, estimate]] : [];
    }),
  );
}

function costOf(priced: readonly Outcome[]): Pick<Row, 'seconds' | 'tokens'> {
  if (priced.length === 0) return { seconds: undefined, tokens: undefined };
  return {
    seconds: median(priced.map(({ spent }) => spent.milliseconds / 1_000)),
    tokens: {
      read: mean(priced, ({ spent }) => spent.usage.read),
      cached: mean(priced, ({ spent }) => spent.usage.cached),
      written: mean(priced, ({ spent }) => spent.usage.written),
    },
  };
}

function mean(outcomes: readonly Outcome[], of: (outcome: Outcome) => number): number {
  return outcomes.reduce((sum, one) => sum + of(one), 0) / Math.max(1, outcomes.length);
}

function countBy(
  outcomes: readonly Outcome[],
  keyOf: (outcome: Outcome) => string | undefined,
): Record<string, number> {
  const counts = new Map<string, number>();
  for (const outcome of outcomes) {
    const key = keyOf(outcome);
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

/** Against each peer that has cases in common with Winnow, the strongest first. */
export function duelsOf(
  outcomes: readonly Outcome[],
  { set, metric, peers }: { set: string; metric: MetricName; peers: readonly string[] },
): Duel[] {
  const ours = scoresOf(outcomes, { set, metric, contestant: OURS });
  return peers
    .flatMap((peer): Duel[] => {
      const theirs = scoresOf(outcomes, { set, metric, contestant: peer });
      const pairs = [...theirs].flatMap(([id, score]): [number, number][] => {
        const own = ours.get(id);
        return own === undefined ? [] : [[score, own]];
      });
      const difference = pairedDifference(pairs, { ends: FRACTION_DIFFERENCES });
      if (!difference) return [];
      const meanAt = (at: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[at], 0) / pairs.length;
      const [peerMean, ownMean] = [meanAt(0), meanAt(1)];
      const ratio = peerMean > 0 ? ownMean / peerMean : undefined;
      return [{ set, metric, peer, ours: ownMean, theirs: peerMean, ratio, difference }];
    })
    .sort((one, other) => other.theirs - one.theirs);
}

function scoresOf(
  outcomes: readonly Outcome[],
  { set, metric, contestant }: { set: string; metric: MetricName; contestant: string },
): Map<string, number> {
  return new Map(
    outcomes.flatMap((one): [string, number][] => {
      const score = one.scores[metric];
      return one.set !== set || one.contestant !== contestant || score === undefined ? [] : [[one.id, score]];
    }),
  );
}
