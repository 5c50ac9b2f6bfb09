/**
 * From records to metrics. Of a record only its scores stay in memory, about a hundred bytes a case with its id. A case
 * counts once, with the mean of its repeats. Records with an error count as errors and in nothing else.
 */
import { sumUsage, type Usage } from '../core/model/model.js';
import { METRICS, meaningOf } from './metrics.js';
import type { CaseRecord } from './record.js';
import type { RunCounts, RunMetric, RunSummary } from './run-summary.js';
import { createSeries, type Series } from './series.js';
import { bootstrapMean, bootstrapQuantile, type Estimate, FRACTIONS, passPower } from './statistics.js';

export interface Tally {
  add(record: CaseRecord): void;
  counts(): RunCounts;
  /** Why cases are not right -> how many, most first. */
  causes(): Record<string, number>;
  /** By its code, of all tries. Undefined: each has an answer. */
  commonestError(): RunSummary['commonestError'];
  /** Of all tries, also of those with an error. Undefined: no prices are known. */
  totalCost(): number | undefined;
  metrics(): RunMetric[];
  /** Case -> its place, in the order in which the first try of each was added. */
  places(): ReadonlyMap<string, number>;
  /** The value of a case, the mean of its repeats. Undefined where it has none. */
  valueAt(name: string, place: number): number | undefined;
}

const TIMES = [
  ['time', 'total'],
  ['selectionTime', 'selection'],
] as const;

/**
 * Metrics over many records, with intervals.
 * @example
 * const tally = createTally();
 * tally.add(record);
 * console.log(tally.metrics());
 */
export function createTally(): Tally {
  const places = new Map<string, number>();
  const series = new Map<string, Series>();
  /** Of all tries, one after the other: quantiles are not over cases. */
  const times = new Map<string, Series>(TIMES.map(([name]) => [name, createSeries()]));
  const counts: RunCounts = { done: 0, answered: 0, errors: 0, right: 0, wrong: 0 };
  const causes = new Map<string, number>();
  /** By code: messages may name the case. */
  const errors = new Map<string, NonNullable<RunSummary['commonestError']>>();
  let totalCost: number | undefined;
  const push = (name: string, place: number, value: number | null): void => {
    const one = series.get(name) ?? createSeries();
    series.set(name, one);
    if (value !== null) one.add(place, value);
  };

  return {
    add(record) {
      const place = places.get(record.id) ?? places.size;
      places.set(record.id, place);
      const isError = record.outcome === 'error';
      countIn(counts, record);
      if (record.cost !== undefined) totalCost = (totalCost ?? 0) + record.cost;
      if (record.cause !== undefined) causes.set(record.cause, (causes.get(record.cause) ?? 0) + 1);
      push('errors', place, Number(isError));
      if (record.error) countError(errors, record.error);
      if (isError) return;
      for (const [name, value] of Object.entries({ ...record.scores, ...costsOf(record) })) push(name, place, value);
      // A remembered answer says nothing of the time that it took.
      if (record.calls.some((call) => call.fromCache)) return;
      for (const [name, key] of TIMES) {
        const one = times.get(name);
        one?.add(one.length(), record.milliseconds[key]);
        push(name, place, record.milliseconds[key]);
      }
    },
    counts: () => ({ ...counts }),
    causes: () => Object.fromEntries([...causes].sort(([, one], [, other]) => other - one)),
    commonestError: () => [...errors.values()].sort((one, other) => other.count - one.count)[0],
    totalCost: () => totalCost,
    places: () => places,
    valueAt: (name, place) => series.get(name)?.meanAt(place),
    metrics: () => [
      ...[...METRICS.keys()]
        .filter((name) => isTold(name, series))
        .map((name) => meanMetric(name, series.get(name)?.means() ?? [])),
      ...repeatMetrics(series.get('right')),
      ...[...times].flatMap(([name, values]) => timeMetrics(name, values.means())),
    ],
  };
}

function countIn(counts: RunCounts, { outcome, scores }: CaseRecord): void {
  counts.done += 1;
  counts[outcome === 'error' ? 'errors' : 'answered'] += 1;
  counts.right += Number(scores.right === 1);
  counts.wrong += Number(scores.right === 0);
}

function countError(
  errors: Map<string, NonNullable<RunSummary['commonestError']>>,
  { code, message }: NonNullable<CaseRecord['error']>,
): void {
  const known = errors.get(code) ?? { code, message, count: 0 };
  errors.set(code, { ...known, count: known.count + 1 });
}

/**
 * `calls`: how often the model was asked for a case, of both stages, with repairs and further rounds; an answer of the
 * cache counts as the call that it stands for. `tokens...`: what these calls read anew, had from the server's cache, wrote.
 */
function costsOf({ usage: { selection, planning, schemaTokens }, cost }: CaseRecord): Record<string, number> {
  const { calls, read, cached, written } = sumUsage(selection, planning);
  const tokensOf = (usage: Usage) => usage.read + usage.cached + usage.written;
  return {
    ...(cost === undefined ? {} : { cost }),
    calls,
    'tokens.read': read,
    'tokens.cached': cached,
    'tokens.written': written,
    'tokens.selection': tokensOf(selection),
    'tokens.planning': tokensOf(planning),
    schemaTokens: schemaTokens.loaded,
  };
}

/** A way by which no tool ever came is not listed. */
function isTold(name: string, series: ReadonlyMap<string, Series>): boolean {
  const via = /^(?:found|tools|tokens)\.(\w+)$/u.exec(name)?.[1];
  const tools = via === undefined ? undefined : series.get(`tools.${via}`);
  return series.has(name) && (tools === undefined || tools.means().some((mean) => mean > 0));
}

function meanMetric(name: string, values: ArrayLike<number>): RunMetric {
  const ends = meaningOf(name)?.unit === 'fraction' ? FRACTIONS : undefined;
  return toMetric(name, bootstrapMean(values, { ends }));
}

function toMetric(name: string, estimate: Estimate | undefined): RunMetric {
  const meaning = meaningOf(name);
  if (!meaning) throw new RangeError(`"${name}" is no metric.`);
  const { mean = null, low = null, high = null, count = 0 } = estimate ?? {};
  return { name, ...meaning, mean, low, high, count };
}

/**
 * pass^k for every k up to the number of repeats. `flipRate`: of the cases with several tries, the share in which some are
 * right and some wrong; our own.
 */
function repeatMetrics(right: Series = createSeries()): RunMetric[] {
  let most = 0;
  for (let place = 0; place < right.length(); place++) most = Math.max(most, right.triesAt(place));
  if (most < 2) return [];
  const cases = Array.from({ length: right.length() }, (_, place) => ({
    tries: right.triesAt(place),
    hits: right.sumAt(place),
  }));
  const tried = cases.filter(({ tries }) => tries > 0);
  const powers = Array.from({ length: most }, (_, place) => place + 1).map((k) => {
    const values = tried.flatMap(({ tries, hits }) => passPower(hits, tries, k) ?? []);
    return meanMetric(`pass^${k}`, values);
  });
  const repeated = tried.filter(({ tries }) => tries > 1);
  const flips = repeated.map(({ tries, hits }) => Number(hits > 0 && hits < tries));
  return [...powers, meanMetric('flipRate', flips)];
}

function timeMetrics(name: string, values: ArrayLike<number>): RunMetric[] {
  return [
    toMetric(`${name}.p50`, bootstrapQuantile(values, 0.5)),
    toMetric(`${name}.p95`, bootstrapQuantile(values, 0.95)),
  ];
}
