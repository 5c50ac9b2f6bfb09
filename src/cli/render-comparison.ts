/** Two runs side by side, and runs over time, for people. */
import type { ComparedMetric, Comparison } from '../eval/compare.js';
import type { History } from '../eval/run-store.js';
import { type RunSummary, scopeOf } from '../eval/run-summary.js';
import { colours as pc, renderTable } from './output.js';
import { renderValue } from './render-eval.js';

const MAX_NAMED_CASES = 20;

export function renderComparison(comparison: Comparison): string {
  const { first, second, cases, onlyFirst, onlySecond, settings, metrics, won, lost, p } = comparison;
  const alone = onlyFirst + onlySecond > 0 ? `; only in the first ${onlyFirst}, only in the second ${onlySecond}` : '';
  const head = ['metric', 'first', 'second', 'difference', '95 %', 'better', 'worse'];
  return [
    `${pc.bold(`${first.name} → ${second.name}`)}  ${cases} cases that both have${alone}`,
    ...(settings.length > 0 ? [`Settings that differ\n${settings.map((line) => `  ${line}`).join('\n')}`] : []),
    renderTable(head, metrics.filter(isShown).map(renderRow)),
    `${won.length} won, ${lost.length} lost; McNemar's exact p = ${p.toPrecision(2)}`,
    ...renderCases('Won', won),
    ...renderCases('Lost', lost),
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

function renderCases(title: string, ids: readonly string[]): string[] {
  if (ids.length === 0) return [];
  const more = ids.length > MAX_NAMED_CASES ? ` and ${ids.length - MAX_NAMED_CASES} more (--json names all)` : '';
  return [`${title}: ${ids.slice(0, MAX_NAMED_CASES).join(' ')}${more}`];
}

const HEADLINES = ['right', 'recall', 'recall@8', 'nodeF1', 'argumentValueF1', 'tokens.read'];

export function renderHistory({ groups, unreadable }: History): string {
  const tables = groups.map(({ suites, runs }) => {
    const names = HEADLINES.filter((name) => runs.some(({ summary }) => meanOf(summary, name) !== ''));
    const prompts = shownPrompts(runs);
    const head = ['run', 'started', 'model', 'scope', ...prompts, 'cases', ...names];
    const rows = runs.map(({ summary, done }) => [
      summary.name,
      summary.startedAt.slice(0, 16).replace('T', ' '),
      summary.model,
      scopeOf(summary).join(', ') || 'all',
      ...prompts.map((name) => summary.promptHashes[name]?.slice(0, 8) ?? ''),
      `${done}${summary.interrupted ? ` of ${summary.planned}` : ''}`,
      ...names.map((name) => meanOf(summary, name)),
    ]);
    return `${pc.bold(suites)}\n${renderTable(head, rows, { leftColumns: 4 + prompts.length })}`;
  });
  return [...tables, ...unreadable].join('\n\n');
}

const MAIN_PROMPTS = ['select-tools', 'plan-steps'];

/** The two prompts of every run, and each other prompt in which the runs differ. */
function shownPrompts(runs: History['groups'][number]['runs']): string[] {
  const hashes = runs.map(({ summary }) => summary.promptHashes);
  const others = new Set(hashes.flatMap((one) => Object.keys(one)));
  for (const name of MAIN_PROMPTS) others.delete(name);
  return [...MAIN_PROMPTS, ...[...others].filter((name) => new Set(hashes.map((one) => one[name])).size > 1)];
}

function meanOf({ metrics }: RunSummary, name: string): string {
  const metric = metrics.find((one) => one.name === name);
  return metric && metric.mean !== null ? renderValue(metric.mean, metric.unit) : '';
}
