/** Two runs side by side, for people. */
import type { ComparedMetric, Comparison } from '../eval/compare.js';
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
