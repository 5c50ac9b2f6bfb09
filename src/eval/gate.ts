/** Bars that a run has to reach, such as `recall@8>=0.85,precision>=0.3,noWorseThan=RUN`. */
import { WinnowError } from '../core/errors.js';
import { VIAS } from '../core/result.js';
import type { Comparison } from './compare.js';
import { METRICS, meaningOf, PRIMARY_METRICS } from './metrics.js';
import type { RunSummary } from './run-summary.js';

type Operator = '>=' | '<=' | '>' | '<';

export type Bar =
  | {
      readonly kind: 'metric';
      readonly text: string;
      readonly metric: string;
      readonly operator: Operator;
      readonly value: number;
    }
  | { readonly kind: 'noWorseThan'; readonly text: string; readonly run: string };

export interface BarResult {
  /** As it was written. */
  readonly bar: string;
  readonly passed: boolean;
  /** What was found, for people. */
  readonly found: string;
}

const METRIC_BAR = /^([\w@.^]+)\s*(>=|<=|>|<)\s*(-?\d+(?:\.\d+)?)$/u;
const RUN_BAR = /^noWorseThan\s*=\s*(.+)$/u;

/** @throws WinnowError `invalid_option` naming the bar that can't be read, or the metric that does not exist. */
export function parseGate(text: string): Bar[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts.filter((part) => part !== '').map(parseBar);
}

function parseBar(text: string): Bar {
  const run = RUN_BAR.exec(text)?.[1];
  if (run !== undefined) return { kind: 'noWorseThan', text, run };
  const [, metric, operator, value] = METRIC_BAR.exec(text) ?? [];
  if (metric === undefined || !isOperator(operator)) {
    const form = 'write it as metric>=number (also <=, >, <) or noWorseThan=RUN';
    throw new WinnowError('invalid_option', `--gate: "${text}" is no bar; ${form}.`);
  }
  if (!meaningOf(metric)) {
    throw new WinnowError('invalid_option', `--gate: there is no metric "${metric}"; there are ${knownMetrics()}.`);
  }
  return { kind: 'metric', text, metric, operator, value: Number(value) };
}

/** All of them, those of each way in one. */
function knownMetrics(): string {
  const ofWays = ['found', 'tools', 'tokens'].flatMap((what) => VIAS.map((via) => `${what}.${via}`));
  const others = [...METRICS.keys()].filter((name) => !ofWays.includes(name));
  const ways = `found.WAY, tools.WAY and tokens.WAY, where WAY is ${VIAS.join(', ')}`;
  return `${others.join(', ')}; with --repeat pass^1, pass^2, … and flipRate; and ${ways}`;
}

function isOperator(text: string | undefined): text is Operator {
  return text === '>=' || text === '<=' || text === '>' || text === '<';
}

/** A run that is not complete fails every gate: its missing cases may be the bad ones. */
export async function judgeGate(
  bars: readonly Bar[],
  summary: RunSummary,
  compareWith: (run: string) => Promise<Comparison>,
): Promise<BarResult[]> {
  const complete: BarResult = {
    bar: 'complete',
    passed: !summary.interrupted,
    found: `${summary.counts.done} of ${summary.planned} cases are done`,
  };
  const results = await Promise.all(
    bars.map(async (bar) => {
      if (bar.kind === 'metric') return judgeMetric(bar, summary);
      return judgeComparison(bar.text, await compareWith(bar.run));
    }),
  );
  return complete.passed ? results : [complete, ...results];
}

function judgeMetric(
  { text, metric, operator, value }: Extract<Bar, { kind: 'metric' }>,
  summary: RunSummary,
): BarResult {
  const found = summary.metrics.find(({ name }) => name === metric);
  if (found === undefined || found.mean === null) return { bar: text, passed: false, found: 'no case has a value' };
  return { bar: text, passed: holds(found.mean, operator, value), found: `${metric} is ${found.mean.toFixed(4)}` };
}

function holds(found: number, operator: Operator, value: number): boolean {
  // A mean that is a hair below by rounding is not below.
  const epsilon = 1e-9;
  if (operator === '>=') return found >= value - epsilon;
  if (operator === '<=') return found <= value + epsilon;
  return operator === '>' ? found > value + epsilon : found < value - epsilon;
}

/** Of the primary metrics that both runs have. Worse is what is clearly worse: the whole 95 % interval of the difference lies below nought. */
function judgeComparison(bar: string, { metrics, cases, first }: Comparison): BarResult {
  const judged = metrics.filter(({ name }) => PRIMARY_METRICS.includes(name));
  if (judged.length === 0)
    return { bar, passed: false, found: `no case in common with ${first.name} (${cases} cases)` };
  const worse = judged.filter(({ difference }) => difference.high < 0);
  const shown = (worse.length > 0 ? worse : judged).map(({ name, difference: { mean, low, high } }) => {
    return `${name} ${mean >= 0 ? '+' : ''}${mean.toFixed(4)} (${low.toFixed(4)} to ${high.toFixed(4)})`;
  });
  return { bar, passed: worse.length === 0, found: `${shown.join(', ')} against ${first.name}, ${cases} cases` };
}
