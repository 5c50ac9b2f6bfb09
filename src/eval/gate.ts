/** Thresholds of a run, called bars, such as `recall@8>=0.85,precision>=0.3,noWorseThan=RUN`. */
import { WinnowError } from '../core/errors.js';
import type { Comparison } from './compare.js';
import { METRICS, meaningOf } from './metrics.js';
import type { RunSummary } from './run-summary.js';

/** Tolerance for rounding of means. */
const EPSILON = 1e-9;
const OPERATORS = new Map<string, (found: number, value: number) => boolean>([
  ['>=', (found, value) => found >= value - EPSILON],
  ['<=', (found, value) => found <= value + EPSILON],
  ['>', (found, value) => found > value + EPSILON],
  ['<', (found, value) => found < value - EPSILON],
]);

export type Bar = { readonly text: string } & (
  | { readonly kind: 'metric'; readonly metric: string; readonly holds: (found: number) => boolean }
  | { readonly kind: 'noWorseThan'; readonly run: string }
);

export interface BarResult {
  /** Text of the bar. */
  readonly bar: string;
  readonly passed: boolean;
  /** The value found, for people. */
  readonly found: string;
}

const METRIC_BAR = /^([\w@.^]+)\s*(>=|<=|>|<)\s*(-?\d+(?:\.\d+)?)$/u;
const RUN_BAR = /^noWorseThan\s*=\s*(.+)$/u;

/** @throws WinnowError `invalid_option` for a malformed bar, an unknown metric, or a share above 1 */
export function parseGate(text: string): Bar[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts.filter((part) => part !== '').map(parseBar);
}

function parseBar(text: string): Bar {
  const run = RUN_BAR.exec(text)?.[1];
  if (run !== undefined) return { kind: 'noWorseThan', text, run };
  const [, metric, operator = '', value] = METRIC_BAR.exec(text) ?? [];
  const compare = OPERATORS.get(operator);
  if (metric === undefined || !compare) {
    const form = 'write it as metric>=number (also <=, >, <) or noWorseThan=RUN';
    throw new WinnowError('invalid_option', `--gate: "${text}" is no bar; ${form}.`);
  }
  const meaning = meaningOf(metric);
  if (!meaning) {
    const known = `${[...METRICS.keys()].join(', ')}; with --repeat pass^1, pass^2, … and flipRate`;
    throw new WinnowError('invalid_option', `--gate: there is no metric "${metric}"; there are ${known}.`);
  }
  if (meaning.unit === 'fraction' && Number(value) > 1)
    throw new WinnowError('invalid_option', `--gate ${text}: ${metric} is at most 1; write 80 % as 0.8.`);
  return { kind: 'metric', text, metric, holds: (found) => compare(found, Number(value)) };
}

/** An incomplete run fails every gate, since its missing cases may be the bad ones. */
export async function judgeGate(
  bars: readonly Bar[],
  { interrupted, counts, planned, metrics }: RunSummary,
  compareWith: (run: string) => Promise<Comparison>,
): Promise<BarResult[]> {
  const results = await Promise.all(
    bars.map(async (bar): Promise<BarResult> => {
      if (bar.kind === 'noWorseThan') return judgeComparison(bar.text, await compareWith(bar.run));
      const mean = metrics.find(({ name }) => name === bar.metric)?.mean ?? null;
      if (mean === null) return { bar: bar.text, passed: false, found: 'no case has a value' };
      return { bar: bar.text, passed: bar.holds(mean), found: `${bar.metric} is ${mean.toFixed(4)}` };
    }),
  );
  const found = `${counts.done} of ${planned} cases are done`;
  return interrupted ? [{ bar: 'complete', passed: false, found }, ...results] : results;
}

/**
 * Compares the primary metrics of quality that both runs have, not costs. A metric is worse when the whole 95 % interval of
 * the difference lies below 0.
 */
function judgeComparison(bar: string, { metrics, cases, first }: Comparison): BarResult {
  const judged = metrics.filter(({ name, better }) => METRICS.get(name)?.primary && better === 'higher');
  if (judged.length === 0)
    return { bar, passed: false, found: `no case in common with ${first.name} (${cases} cases)` };
  const worse = judged.filter(({ difference }) => difference.high < 0);
  const shown = (worse.length > 0 ? worse : judged).map(({ name, difference: { mean, low, high } }) => {
    return `${name} ${mean >= 0 ? '+' : ''}${mean.toFixed(4)} (${low.toFixed(4)} to ${high.toFixed(4)})`;
  });
  return { bar, passed: worse.length === 0, found: `${shown.join(', ')} against ${first.name}, ${cases} cases` };
}
