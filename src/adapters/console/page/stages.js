/** The trace of a request, stage by stage, with its asks and each tool's scores for them. */
import { formatDuration, formatScore, formatWhole, html } from '../../../page/format.js';
import { renderTable } from './shell.js';

/** @import { TraceEvent } from '../../../core/result.ts' */
/** @import { Words } from './words.js' */

/** As the planner reports it when a model decides. @typedef {{ask: string, tool?: string, ranked: {name: string, lift: number, fits: number, odds: number}[]}} AskFact */

/** @param {readonly TraceEvent[]} events @param {Words} t */
export function renderStages(events, t) {
  if (events.length === 0) return false;
  return html`<section aria-labelledby="stages"><h2 id="stages">${t('stages')}</h2>
    <ol class="card stages">${events.map(
      (event) => html`<li data-stage=${event.stage}>
        <p class="row"><small class="time">${formatDuration(event.milliseconds)}</small> <span class="badge ${event.stage === 'fallback' ? 'wrong' : ''}">${t.of('stage', event.stage)}</span> <span>${event.note}</span></p>
        ${renderFacts(event, t)}
      </li>`,
    )}</ol></section>`;
}

/** @param {TraceEvent} event @param {Words} t */
function renderFacts({ stage: _, milliseconds: __, note: ___, ...facts }, t) {
  const { asks, tools, issues, leftOut, none } = facts;
  return [
    Array.isArray(asks) && asks.every(isRanked) && asks.map((one) => renderAsk(one, t)),
    Array.isArray(asks) && asks.every(isText) && html`<ul>${asks.map((text) => html`<li>· ${text}</li>`)}</ul>`,
    Array.isArray(tools) &&
      tools.every(isText) &&
      html`<details><summary>${t('tools_count', { count: formatWhole(tools.length) })}</summary><p>${tools.join(', ')}</p></details>`,
    Array.isArray(issues) &&
      html`<ul>${issues.map((issue) => html`<li class="tone wrong">${String(issue)}</li>`)}</ul>`,
    typeof leftOut === 'number' &&
      leftOut > 0 &&
      html`<p class="quiet">${t('left_out_tools', { count: formatWhole(leftOut) })}</p>`,
    typeof none === 'number' && html`<p class="quiet">${t('none_probability', { share: formatScore(none) })}</p>`,
  ];
}

/** @param {unknown} value @returns {value is string} */
const isText = (value) => typeof value === 'string';
/** @param {any} value @returns {value is AskFact} */
const isRanked = (value) => Array.isArray(value?.ranked);

/** @param {AskFact} ask @param {Words} t */
function renderAsk({ ask, tool, ranked }, t) {
  const heads = [t('tool'), t('fits'), t('odds'), t('lift')];
  const rows = ranked.map(
    ({ name, fits, odds, lift }) =>
      html`<tr class=${name === tool ? 'right' : ''}><th scope="row"><code class="tone">${name}</code></th>${[
        fits,
        odds,
        lift,
      ].map((value) => html`<td>${formatScore(value)}</td>`)}</tr>`,
  );
  return html`<div class="ask" data-ask=${ask}>
    <p>“${ask}” → ${tool ? html`<code>${tool}</code>` : html`<b class="tone wrong">${t('no_tool')}</b>`}</p>
    ${ranked.length > 0 && renderTable(ask, heads, rows)}
  </div>`;
}
