/** The head of the page: failures, primary metrics with intervals, causes of failures, and the rest folded. */
import {
  formatCount,
  formatDate,
  formatDuration,
  formatMetric,
  formatName,
  formatValue,
  formatWhole,
  html,
  svg,
} from '../../../page/format.js';

/** @import { ComparedMetric } from '../../compare.ts' */
/** @import { RunMetric } from '../../run-summary.ts' */
/** @import { ReportData, ReportRun } from '../report-data.ts' */
/** @import { Case, Verdict } from './data.js' */

const GROUPS = { selection: 'Selection', plan: 'Plans', cost: 'Tokens', time: 'Time' };

/** A metric of one run, or the difference of two, as text. @typedef {{name: string, label: string, group: string, value: string, interval: string, tone: string, chart: unknown, note: unknown}} Figure */

/** @param {ReportData} data @returns {Figure[]} */
function figuresOf({ runs, comparison }) {
  if (comparison) return comparison.metrics.map((metric) => compareFigure(metric));
  return (runs[0]?.metrics ?? []).map((metric) => {
    const { name, label, group, mean, low, high, unit, count } = metric;
    const format = (/** @type {number | null} */ value) => formatMetric(value, unit);
    const chart =
      unit === 'fraction' &&
      mean !== null &&
      drawScale({ mean, low: low ?? mean, high: high ?? mean }, [0, 0.25, 0.5, 0.75, 1]);
    const interval = mean === null ? 'applies to no case' : `${format(low)} to ${format(high)}`;
    return { name, label, group, value: format(mean), interval, tone: '', chart, note: formatCount(count, 'case') };
  });
}

/** A difference counts when its whole interval lies on one side of zero. @param {ComparedMetric} metric @returns {Figure} */
function compareFigure({ name, label, group, unit, better, first, second, difference: { mean, low, high } }) {
  const format = (/** @type {number} */ value) => formatMetric(value, unit);
  const [change, from, to] = [mean, low, high].map((value) => `${value > 0 ? '+' : ''}${format(value)}`);
  const most = 1.15 * Math.max(Math.abs(low), Math.abs(high)) || 1;
  const at = (/** @type {number} */ value) => (value / most + 1) / 2;
  const tone = better === 'none' || low * high <= 0 ? '' : low > 0 === (better === 'higher') ? 'right' : 'wrong';
  const chart = drawScale({ mean: at(mean), low: at(low), high: at(high) }, [0.5]);
  return {
    name,
    label,
    group,
    value: `${format(first)} → ${format(second)}`,
    interval: `${from} to ${to}`,
    tone,
    chart,
    note: html`<b class="tone">${change}</b>`,
  };
}

/** Draws the interval as a line and the mean as a dot; positions are shares of the width. @param {{mean: number, low: number, high: number}} ends @param {number[]} ticks */
function drawScale({ mean, low, high }, ticks) {
  const at = (/** @type {number} */ share) => `${2 + 96 * share}%`;
  return html`<svg class="interval" width="100%" height="14" aria-hidden="true">
    ${ticks.map((tick) => svg`<line class="tick" x1=${at(tick)} x2=${at(tick)} y1="1" y2="13"></line>`)}
    <line x1=${at(low)} x2=${at(high)} y1="7" y2="7"></line><circle cx=${at(mean)} cy="7" r="4"></circle>
  </svg>`;
}

/** @param {ReportData} data @param {Case[]} cases @param {Record<string, Verdict>} verdicts */
export function renderHead(data, cases, verdicts) {
  const { runs, comparison } = data;
  const counts = Object.entries(verdicts).map(([name, verdict]) => ({
    ...verdict,
    count: cases.filter((one) => one.verdict === name).length,
  }));
  const failed = counts.reduce((sum, { isFailure, count }) => sum + (isFailure ? count : 0), 0);
  /** @param {string} wanted */
  const countOf = (wanted) => formatWhole(counts.find(({ word }) => word === wanted)?.count);
  let left = 0;
  const bar = counts.map(({ tone, count }) => {
    const share = (100 * count) / Math.max(1, cases.length);
    left += share;
    return svg`<rect class=${tone} x="${left - share}%" width="${share}%" height="12"></rect>`;
  });
  const primary = (runs.at(-1)?.metrics ?? []).filter((one) => one.primary).map(({ name }) => name);
  const figures = figuresOf(data).filter(({ name }) => primary.includes(name));
  return html`<header>
    <p class="tone"><b>winnow eval${runs.length > 1 && ' compare'}</b></p>
    <h1>${runs.map(({ name }) => name).join(' → ')}</h1>
    ${runs.map((run, at) => renderRun(run, runs.length > 1 ? `${at === 0 ? 'First' : 'Second'} run` : '', cases.filter(({ rows }) => rows[at]).length))}
    <h2>${comparison ? `${countOf('lost')} lost, ${countOf('won')} won, of ${formatCount(cases.length, 'case')}` : `${formatWhole(failed)} of ${formatCount(cases.length, 'result')} failed`}</h2>
    <svg class="bar" width="100%" height="12" aria-hidden="true">${bar}</svg>
    <p class="row">${counts.map(({ word, sign, tone, count }) => count > 0 && html`<span class=${tone}><b class="tone" aria-hidden="true">${sign}</b> ${formatWhole(count)} ${word}</span>`)}</p>
    <div class="grid">${figures.map(
      ({ name, label, value, interval, tone, chart, note }) => html`<div class="card tile ${tone}" data-metric=${name}>
      <p class="quiet">${label}</p><p class="value">${value}</p>${chart}
      <small>95 %: ${interval} · ${note}</small></div>`,
    )}</div>
  </header>`;
}

/** @param {ReportRun} run @param {string} title @param {number} done */
function renderRun({ model, suites, planned, startedAt, endedAt, interrupted }, title, done) {
  const facts = [
    title,
    model,
    ...suites.map(({ catalog, tools }) => `${catalog} (${formatCount(tools, 'tool')})`),
    formatDate(startedAt),
    endedAt ? `took ${formatDuration(Date.parse(endedAt) - Date.parse(startedAt))}` : 'not ended',
  ];
  return html`<p class="row quiet">${facts.filter(Boolean).map((fact) => html`<span>${fact}</span>`)}</p>
    ${(interrupted || done < planned) && html`<p class="card error">${formatWhole(done)} of ${formatCount(planned, 'result')} are here: the run is not complete.</p>`}`;
}

/** @param {Case[]} cases @param {{runs: number, chosen: string | undefined, onChoose(cause: string): void}} options */
export function renderCauses(cases, { runs, chosen, onChoose }) {
  const causes = /** @type {Map<string, number[]>} */ (new Map());
  for (const { rows } of cases)
    rows.forEach((row, at) => {
      if (!row?.cause) return;
      const counts = causes.get(row.cause) ?? Array.from({ length: runs }, () => 0);
      causes.set(row.cause, counts.with(at, (counts[at] ?? 0) + 1));
    });
  const most = Math.max(...[...causes.values()].flat());
  const sorted = [...causes].sort(([, one], [, other]) => (other.at(-1) ?? 0) - (one.at(-1) ?? 0));
  return html`<ul class="card causes">${sorted.map(
    ([cause, counts]) => html`<li>
    <button type="button" data-cause=${cause} aria-pressed=${String(cause === chosen)} @click=${() => onChoose(cause === chosen ? '' : cause)}>
      <span>${formatName(cause)}</span>
      <svg width="100%" height=${counts.length * 14} aria-hidden="true">
        ${counts.map((count, at) => svg`<rect class=${at === runs - 1 ? 'wrong' : 'rest'} y=${14 * at + 1} width="${(100 * count) / most}%" height="12" rx="3"></rect>`)}
      </svg>
      <span>${counts.map(formatWhole).join(' → ')}</span>
    </button></li>`,
  )}${sorted.length === 0 && html`<li class="quiet">No case in view failed.</li>`}</ul>`;
}

/** @param {ReportData} data */
export function renderFolded(data) {
  const { runs, comparison } = data;
  const figures = figuresOf(data);
  const [first, last] = [runs[0], runs.at(-1)];
  const prompts = Object.entries(last?.promptHashes ?? {}).filter(
    ([name, hash]) => !comparison || first?.promptHashes[name] !== hash,
  );
  const settings = comparison
    ? comparison.settings
    : Object.entries(first?.settings ?? {}).map(([name, value]) => `${name}: ${formatValue(value)}`);
  return html`<details class="card"><summary>All ${figures.length} metrics</summary>
    <div class="scroll" tabindex="0" role="group" aria-label="All metrics"><table>
      <thead><tr>${['Metric', 'Mean', '95 % interval', comparison ? 'Difference' : 'Cases'].map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
      ${Object.entries(GROUPS).map(
        ([group, title]) => html`<tbody>
        <tr><th scope="rowgroup" colspan="4"><b>${title}</b></th></tr>
        ${figures
          .filter((one) => one.group === group)
          .map(
            ({ name, label, value, interval, note, tone }) => html`<tr class=${tone} data-metric=${name}>
          <th scope="row">${label}</th><td>${value}</td><td>${interval}</td><td>${note}</td></tr>`,
          )}
      </tbody>`,
      )}
    </table></div></details>
    <details class="card"><summary>Settings and prompts ${comparison ? 'that differ' : 'of this run'}</summary>
      <ul>${settings.map((text) => html`<li>${text}</li>`)}
        ${prompts.map(([name, hash]) => html`<li>Prompt <code>${name}</code> ${comparison ? ': an opened case shows the difference' : hash}</li>`)}
        ${settings.length + prompts.length === 0 && html`<li>None.</li>`}</ul>
    </details>`;
}
