/**
 * The metrics of a run in display order, and how to compute them from its records. A case counts once, with the mean of its
 * repeats. Records with an error count only as errors.
 */
import { sumUsage } from '../core/model/model.js';
import type { CaseRecord } from './record.js';
import type { MetricMeaning, Only, RunCounts, RunMetric, RunSummary } from './run-summary.js';
import { bootstrapMean, FRACTIONS, passPower } from './statistics.js';

type Row = readonly [name: string, label: string, better?: MetricMeaning['better'], unit?: MetricMeaning['unit']];

const ROWS: Readonly<Record<MetricMeaning['group'], readonly Row[]>> = {
  selection: [
    ['right', 'Cases right as a whole'],
    ['allNeeded', 'All needed tools chosen or added'],
    ['recall', 'Recall of needed tools'],
    ['precision', 'Precision of tools chosen or added'],
    ['recall@3', 'Recall at 3'],
    ['recall@5', 'Recall at 5'],
    ['recall@8', 'Recall at 8'],
    ['recall@10', 'Recall at 10'],
    ['top1', 'A needed tool is first'],
    ['abstention', 'Nothing picked where nothing fits'],
    ['fallback', 'Selection failed, full set used', 'lower'],
  ],
  plan: [
    ['nodeF1', 'Steps (node F1)'],
    ['edgeF1', 'Dependencies (edge F1)'],
    ['argumentValueF1', 'Argument values (F1)'],
    ['kind', 'Plan, question or refusal as wanted'],
    ['valid', 'Valid, at the latest after a repair'],
  ],
  cost: [
    ['errors', 'Cases with an error of the server', 'lower'],
    ['tokens.read', 'Tokens read, a case', 'lower', 'tokens'],
    ['tokens.cached', "Tokens from the server's cache, a case", 'none', 'tokens'],
    ['tokens.written', 'Tokens written, a case', 'lower', 'tokens'],
    ['schemaTokensSaved', 'Schema tokens saved'],
  ],
  time: [['time', 'Time of a case, mean', 'lower', 'milliseconds']],
};

/** The main metrics of a run. */
const PRIMARY: ReadonlySet<string> = new Set([
  ...['right', 'allNeeded', 'recall@8', 'abstention'],
  ...['nodeF1', 'edgeF1', 'argumentValueF1', 'tokens.read'],
]);

const GROUPS = ['selection', 'plan', 'cost', 'time'] as const;

export const METRICS: ReadonlyMap<string, MetricMeaning> = new Map(
  GROUPS.flatMap((group) =>
    ROWS[group].map(([name, label, better = 'higher', unit = 'fraction']) => {
      const meaning = { label, group, better, unit } as const;
      return [name, PRIMARY.has(name) ? { ...meaning, primary: true } : meaning];
    }),
  ),
);

const POWER = /^pass\^(\d+)$/u;

/** Includes metrics that depend on the run, such as `pass^3`. */
export function meaningOf(name: string): MetricMeaning | undefined {
  const perCase = { group: 'selection', unit: 'fraction' } as const;
  const power = POWER.exec(name)?.[1];
  if (power !== undefined) {
    return { ...perCase, label: power === '1' ? 'A try right' : `All of ${power} tries right`, better: 'higher' };
  }
  if (name === 'flipRate') return { ...perCase, label: 'Cases whose repeats disagree', better: 'lower' };
  return METRICS.get(name);
}

/** Metrics of a case as a whole, whatever stages are judged. */
const WHOLE = /^(?:right|flipRate|pass\^\d+)$/u;

/** Whether a run of these stages has values of the metric. */
export function isOfStage(name: string, only: Only): boolean {
  const group = meaningOf(name)?.group;
  if (only === 'select') return group !== 'plan';
  return only === 'all' || group !== 'selection' || WHOLE.test(name);
}

/** The fewest runs of each case with which a run has values of the metric. */
export function repeatsFor(name: string): number {
  const power = POWER.exec(name)?.[1];
  return power === undefined && name !== 'flipRate' ? 1 : Math.max(2, Number(power ?? 0));
}

export interface Tally {
  add(record: CaseRecord): void;
  /** The summary's facts from the records. */
  facts(): Pick<RunSummary, 'counts' | 'causes' | 'commonestError' | 'metrics'>;
  /** Case -> its index, in the order of first tries. */
  places(): ReadonlyMap<string, number>;
  /** Mean over the repeats of a case. Undefined where it has no value. */
  valueAt(name: string, place: number): number | undefined;
}

/** The values of one metric, by index of the case. */
interface Column {
  readonly sums: number[];
  readonly tries: number[];
}

/**
 * Metrics over many records, with intervals.
 * @example
 * const tally = createTally();
 * tally.add(record);
 * console.log(tally.facts().metrics);
 */
export function createTally(): Tally {
  const places = new Map<string, number>();
  const columns = new Map<string, Column>();
  const counts: Record<keyof RunCounts, number> = { done: 0, answered: 0, errors: 0, right: 0, wrong: 0 };
  const causes = new Map<string, number>();
  /** By code, since messages may name the case. */
  const errors = new Map<string, NonNullable<RunSummary['commonestError']>>();

  const push = (name: string, place: number, value: number | null): void => {
    const column = columns.get(name) ?? { sums: [], tries: [] };
    columns.set(name, column);
    if (value === null) return;
    column.sums[place] = (column.sums[place] ?? 0) + value;
    column.tries[place] = (column.tries[place] ?? 0) + 1;
  };
  const metrics = (): RunMetric[] => [
    ...[...METRICS.keys()].flatMap((name) => {
      const column = columns.get(name);
      return column ? toMetric(name, meansOf(column)) : [];
    }),
    ...repeatMetrics(columns.get('right')),
  ];

  return {
    add(record) {
      const place = places.get(record.id) ?? places.size;
      places.set(record.id, place);
      const { error, cause, scores, outcome } = record;
      counts.done += 1;
      counts[outcome === 'error' ? 'errors' : 'answered'] += 1;
      counts.right += Number(scores.right === 1);
      counts.wrong += Number(scores.right === 0);
      if (cause !== undefined) causes.set(cause, (causes.get(cause) ?? 0) + 1);
      if (error) {
        const { code, message, count } = errors.get(error.code) ?? { ...error, count: 0 };
        errors.set(code, { code, message, count: count + 1 });
      }
      push('errors', place, Number(outcome === 'error'));
      if (outcome === 'error') return;
      const values = { ...scores, ...costsOf(record) };
      for (const [name, value] of Object.entries(values)) if (METRICS.has(name)) push(name, place, value);
    },
    facts() {
      const [commonestError] = [...errors.values()].sort((one, other) => other.count - one.count);
      return {
        counts: { ...counts },
        ...(commonestError ? { commonestError } : {}),
        causes: Object.fromEntries([...causes].sort(([, one], [, other]) => other - one)),
        metrics: metrics(),
      };
    },
    places: () => places,
    valueAt(name, place) {
      const { sums = [], tries = [] } = columns.get(name) ?? {};
      return tries[place] ? (sums[place] ?? 0) / tries[place] : undefined;
    },
  };
}

/** `tokens...`: tokens that both stages read uncached, read from the server's cache, and wrote. A cached answer has no time. */
function costsOf({ usage: { selection, planning }, calls, milliseconds }: CaseRecord): Record<string, number> {
  const { read, cached, written } = sumUsage(selection, planning);
  return {
    'tokens.read': read,
    'tokens.cached': cached,
    'tokens.written': written,
    ...(calls.some((call) => call.fromCache) ? {} : { time: milliseconds.total }),
  };
}

/** Cases without a value are holes in the array, which `flatMap` skips. */
function meansOf({ sums, tries }: Column): number[] {
  return sums.flatMap((sum, place) => sum / (tries[place] ?? 1));
}

function toMetric(name: string, values: readonly number[]): RunMetric {
  const meaning = meaningOf(name);
  if (!meaning) throw new RangeError(`"${name}" is no metric.`);
  const estimate = bootstrapMean(values, { ends: meaning.unit === 'fraction' ? FRACTIONS : undefined });
  const { mean = null, low = null, high = null, count = 0 } = estimate ?? {};
  return { name, ...meaning, mean, low, high, count };
}

/**
 * pass^k for every k up to the number of repeats. `flipRate`: share of the cases with several tries whose tries are partly
 * right and partly wrong.
 */
function repeatMetrics({ sums, tries }: Column = { sums: [], tries: [] }): RunMetric[] {
  const cases = sums.flatMap((hits, place) => ({ hits, tries: tries[place] ?? 0 }));
  const most = cases.reduce((longest, one) => Math.max(longest, one.tries), 0);
  if (most < 2) return [];
  const powers = Array.from({ length: most }, (_, place) => place + 1).map((k) =>
    toMetric(
      `pass^${k}`,
      cases.flatMap((one) => passPower(one.hits, one.tries, k) ?? []),
    ),
  );
  const repeated = cases.filter((one) => one.tries > 1);
  return [
    ...powers,
    toMetric(
      'flipRate',
      repeated.map(({ hits, tries: all }) => Number(hits > 0 && hits < all)),
    ),
  ];
}
