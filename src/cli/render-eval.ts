/** A run for people: metrics with their intervals, a column for each set of cases, and causes of wrong cases; or two side by side. */
import { oneLine } from '../core/visible-text.js';
import type { ComparedMetric, Comparison } from '../eval/compare.js';
import type { BarResult } from '../eval/gate.js';
import type { RunMetric, RunSummary } from '../eval/run-summary.js';
import { colours as pc, printableLine, renderTable } from './output.js';

const GROUPS = { selection: 'Selection', plan: 'Plans', cost: 'Tokens', time: 'Time' } as const;

export function renderRun(summary: RunSummary): string {
  return [
    renderHead(summary),
    ...Object.entries(GROUPS).flatMap(([group, title]) => renderGroup(summary, group, title)),
    ...renderCauses(summary),
    ...renderError(summary),
  ].join('\n\n');
}

function renderHead({ name, model, cases, planned, counts, interrupted }: RunSummary): string {
  const repeats = planned > cases ? `, ${planned / cases} times each` : '';
  const errors = counts.errors > 0 ? pc.red(`, ${counts.errors} errors of the server, not counted as answers`) : '';
  const missing = interrupted ? pc.yellow(`, ${planned - counts.done} not done`) : '';
  return `${pc.bold(name)}  ${cases} cases${repeats}${missing}${errors}\n${pc.dim(model)}`;
}

function renderGroup(summary: RunSummary, group: string, title: string): string[] {
  const { metrics, suites } = summary;
  const shown = metrics.filter((metric) => metric.group === group && metric.mean !== null);
  if (shown.length === 0) return [];
  const parts = suites.length > 1 ? suites : [];
  const head = [title, 'metric', 'mean', '95 %', 'cases', ...parts.map((suite) => suite.name)];
  const rows = shown.map((metric) => [
    metric.label,
    metric.name,
    renderValue(metric.mean, metric.unit),
    `${renderValue(metric.low, metric.unit)} – ${renderValue(metric.high, metric.unit)}`,
    String(metric.count),
    ...parts.map((suite) => {
      const own = suite.metrics.find(({ name }) => name === metric.name);
      return renderValue(own?.mean ?? null, metric.unit);
    }),
  ]);
  return [renderTable(head, rows, { leftColumns: 2 })];
}

function renderCauses({ causes }: RunSummary): string[] {
  const rows = Object.entries(causes).map(([cause, count]) => [cause, String(count)]);
  return rows.length === 0 ? [] : [renderTable(['Not right because', 'cases'], rows)];
}

function renderError({ commonestError: error }: RunSummary): string[] {
  return error ? [pc.red(`${error.count} × ${error.code}: ${error.message}`)] : [];
}

export function renderGate(results: readonly BarResult[]): string {
  return results
    .map(({ bar, passed, found }) => `${passed ? pc.green('passed') : pc.red('failed')}  ${bar}: ${found}`)
    .join('\n');
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export function renderValue(value: number | null, unit: RunMetric['unit']): string {
  if (value === null) return '–';
  if (unit === 'fraction') return value.toFixed(3);
  if (unit === 'tokens') return whole.format(value);
  return Math.abs(value) >= 1_000 ? `${(value / 1_000).toFixed(1)} s` : `${value.toFixed(0)} ms`;
}

const MAX_NAMED_CASES = 20;
const MAX_REQUEST_CHARACTERS = 80;

export function renderComparison(comparison: Comparison): string {
  const { first, second, cases, onlyFirst, onlySecond, settings, metrics, won, lost, p, requests } = comparison;
  const alone = onlyFirst + onlySecond > 0 ? `; only in the first ${onlyFirst}, only in the second ${onlySecond}` : '';
  const head = ['metric', 'first', 'second', 'difference', '95 %', 'better', 'worse'];
  return [
    `${pc.bold(`${first.name} → ${second.name}`)}  ${cases} cases that both have${alone}`,
    ...(settings.length > 0 ? [`Settings that differ\n${settings.map((line) => `  ${line}`).join('\n')}`] : []),
    renderTable(head, metrics.filter(isShown).map(renderRow)),
    `${won.length} won, ${lost.length} lost; McNemar's exact p = ${p.toPrecision(2)}`,
    ...renderCases('Won', won, requests),
    ...renderCases('Lost', lost, requests),
  ].join('\n\n');
}

/** Leaves out neutral metrics in which no case changed. */
function isShown({ better, difference }: ComparedMetric): boolean {
  return better !== 'none' || difference.higher + difference.lower > 0;
}

function renderRow({ name, unit, better, first, second, difference }: ComparedMetric): string[] {
  const { mean, low, high, higher, lower } = difference;
  const sign = mean > 0 ? '+' : '';
  const isClear = low > 0 || high < 0;
  const isGood = better === 'lower' ? mean < 0 : mean > 0;
  const colour = !isClear || better === 'none' ? (text: string) => text : isGood ? pc.green : pc.red;
  const [good, bad] = better === 'lower' ? [lower, higher] : [higher, lower];
  return [
    name,
    renderValue(first, unit),
    renderValue(second, unit),
    colour(`${sign}${renderValue(mean, unit)}`),
    `${renderValue(low, unit)} – ${renderValue(high, unit)}`,
    String(good),
    String(bad),
  ];
}

function renderCases(title: string, ids: readonly string[], requests: Comparison['requests']): string[] {
  if (ids.length === 0) return [];
  const lines = ids.slice(0, MAX_NAMED_CASES).map((id) => `${printableLine(id)}  ${renderRequest(requests[id] ?? '')}`);
  const more = ids.length > MAX_NAMED_CASES ? [`and ${ids.length - MAX_NAMED_CASES} more (--json names all)`] : [];
  return [[title, ...[...lines, ...more].map((line) => `  ${line}`.trimEnd())].join('\n')];
}

function renderRequest(request: string): string {
  const characters = [...oneLine(request)];
  if (characters.length <= MAX_REQUEST_CHARACTERS) return characters.join('');
  return `${characters.slice(0, MAX_REQUEST_CHARACTERS - 1).join('')}…`;
}
