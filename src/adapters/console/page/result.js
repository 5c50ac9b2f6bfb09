/** The planner's answer: the plan as a graph, each argument with its source, and why these tools were chosen. */

import { formatDuration, formatScore, formatWhole, html } from '../../../page/format.js';
import { drawPlan } from '../../../page/graph.js';
import { renderArguments } from './arguments.js';
import { REFERENCE } from './case-line.js';
import { renderTable } from './shell.js';

/** @import { PlanResult, Plan, SelectedTool, Step } from '../../../core/result.ts' */
/** @import { ShownStep } from '../../../page/shown-step.ts' */
/** @import { Words } from './words.js' */

/**
 * `visible`: names of the tools that the caller sees; undefined until they are read.
 * @typedef {{t: Words, whyNot: string, visible: ReadonlySet<string> | undefined, onWhyNot(name: string): void}} ResultOptions
 */

/** @param {PlanResult} result @param {ResultOptions} options */
export function renderResult(result, options) {
  return html`${renderAnswer(result, options.t)} ${renderSelection(result, options)} ${renderCost(result, options.t)}`;
}

/** @param {PlanResult} result @param {Words} t */
function renderAnswer(result, t) {
  if (result.kind === 'plan') return renderPlan(result, t);
  const isQuestion = result.kind === 'clarification';
  return html`<section class="card ${isQuestion ? 'extra' : 'missing'}" data-kind=${result.kind}>
    <h2>${t.of('kind', result.kind)}</h2>
    <p class="query">${isQuestion ? result.question : result.reason}</p>
    ${isQuestion && result.missing.length > 0 && html`<p>${t('missing')} ${result.missing.map((name) => html`<span class="badge">${name}</span> `)}</p>`}
    ${isQuestion && renderUnserved(result, t)}
  </section>`;
}

/** @param {Pick<Plan, 'unserved'>} result @param {Words} t */
const renderUnserved = ({ unserved }, t) =>
  unserved.length > 0 &&
  html`<div class="card missing" data-unserved><p><b class="tone">${t('unserved')}</b></p><ul>${unserved.map((text) => html`<li>${text}</li>`)}</ul></div>`;

/** @param {Plan} plan @param {Words} t */
function renderPlan({ steps, unserved, confidence, goal }, t) {
  return html`<section class="plan" data-kind="plan" aria-labelledby="plan">
    <h2 id="plan">${t('kind.plan')}</h2>
    ${confidence !== undefined && html`<p class="quiet">${t('least_sure', { share: formatScore(confidence) })}</p>`}
    ${renderUnserved({ unserved }, t)}
    ${renderGraph(steps, { t, goal })}
    <ol>${steps.map(
      (step) => html`<li class="card" data-plan-step=${step.id}>
        <p><b>${step.id}</b> <code>${step.tool}</code> <small>${step.purpose}</small>
          ${step.dependsOn.length > 0 && html`<small>${t('after', { steps: step.dependsOn.join(', ') })}</small>`}</p>
        ${renderArguments(step.arguments, { t, sourceOf: (name) => step.from?.[name] })}
      </li>`,
    )}</ol>
  </section>`;
}

/** How often a step runs, and when. @param {{each?: string | undefined, when?: {value: string, is: string, to?: unknown} | undefined}} step @param {Words} t */
export const renderControl = ({ each, when }, t) => [
  each !== undefined && html`<p>${t('each_of')} <code>${each}</code></p>`,
  when &&
    html`<p>${t('only_when')} <code>${when.value}</code> ${t.of('is', when.is)} ${when.to !== undefined && html`<code>${JSON.stringify(when.to)}</code>`}</p>`,
];

/** The fields of a step that the graph needs. @typedef {Pick<Step, 'id' | 'tool' | 'arguments' | 'dependsOn'> & {each?: string | undefined, when?: {value: string} | undefined}} DrawnStep */

/**
 * `lookOf`: the look of a step, by its id. Default: all steps look alike.
 * @param {readonly DrawnStep[]} steps @param {{t: Words, goal: string, lookOf?: (id: string) => Partial<ShownStep> | undefined}} options
 */
export const renderGraph = (steps, { t, goal, lookOf }) =>
  html`<div class="card scroll" tabindex="0" role="group" aria-label=${t('plan_graph')}>${drawPlan(
    steps.map((step) => ({ ...toShown(step), ...lookOf?.(step.id) })),
    goal || t('kind.plan'),
  )}</div>`;

/** For the graph: an arrow from each earlier step that it uses, with the fields that it takes. @param {DrawnStep} step @returns {ShownStep} */
function toShown({ id, tool, arguments: values, dependsOn, each, when }) {
  const references = [...JSON.stringify([values, each, when?.value]).matchAll(REFERENCE)];
  const fieldsOf = (/** @type {string} */ from) =>
    references.filter(([, step]) => step === from).map(([, , path = '']) => path.replace(/^\./u, ''));
  const before = new Set([...dependsOn, ...references.map(([, step = '']) => step)]);
  const uses = [...before].map((from) => ({
    from,
    field: [...new Set(fieldsOf(from))].join(', '),
    state: /** @type {const} */ ('unjudged'),
  }));
  return { id, tool, state: 'unjudged', uses };
}

/** @param {PlanResult} result @param {ResultOptions} options */
function renderSelection(result, options) {
  const { t, onWhyNot } = options;
  const { mode, reason, confidence, tools, dropped, leftOut } = result.selection;
  const used = new Set(result.kind === 'plan' ? result.steps.map(({ tool }) => tool) : []);
  const rows = tools.map(
    (tool) => html`<tr class=${used.has(tool.name) ? 'right' : ''} data-selected=${tool.name}>
      <th scope="row"><code class="tone">${tool.name}</code> ${used.has(tool.name) && html`<span class="badge">${t('in_plan')}</span>`}</th>
      <td>${viaOf(tool, t)}</td><td>${tool.rank ?? '–'}</td><td>${formatScore(tool.probability)}</td></tr>`,
  );
  return html`<section aria-labelledby="selection"><h2 id="selection">${t('selection')}</h2>
    <p><span class="badge ${mode === 'fallback' ? 'wrong' : ''}">${t.of('mode', mode)}</span> ${reason}
      ${confidence !== undefined && html`<small>${t('selection_confidence', { share: formatScore(confidence) })}</small>`}</p>
    ${tools.length > 0 && renderTable(t('selection'), [t('tool'), t('why_here'), t('rank'), t('probability')], rows)}
    ${dropped.length > 0 && html`<ul>${dropped.map((one) => html`<li data-dropped=${one.name}><code>${one.name}</code> ${t.of('dropped', one.reason)} ${one.suggestion && t('suggestion', { name: one.suggestion })}</li>`)}</ul>`}
    ${leftOut > 0 && html`<p class="quiet">${t('left_out_tools', { count: formatWhole(leftOut) })}</p>`}
    <p><label>${t('why_not')} <input name="why-not" autocomplete="off" .value=${options.whyNot}
      @change=${(/** @type {Event & {target: HTMLInputElement}} */ { target }) => onWhyNot(target.value.trim())}></label></p>
    ${options.whyNot !== '' && html`<p role="status" data-why-not>${explainTool(result, options)}</p>`}
  </section>`;
}

/** @param {SelectedTool} tool @param {Words} t */
function viaOf({ via, fill, serves }, t) {
  const parts = [t.of('via', via), serves && t('serves', { what: serves }), fill && t('fill')];
  return parts.filter(Boolean).join(' · ');
}

/** @param {PlanResult} result @param {ResultOptions} options */
function explainTool(result, { t, whyNot: name, visible }) {
  const { tools, dropped } = result.selection;
  const step = result.kind === 'plan' && result.steps.find(({ tool }) => tool === name);
  if (step) return t('why_in_step', { name, step: step.id });
  const chosen = tools.find((tool) => tool.name === name);
  if (chosen) return t('why_passed_on', { name, why: viaOf(chosen, t) });
  const gone = dropped.find((one) => one.name === name);
  if (gone) return t('why_dropped', { name, why: t.of('dropped', gone.reason) });
  if (!visible) return t('reading');
  return t(visible.has(name) ? 'why_below' : 'why_unseen', { name });
}

/** @param {PlanResult} result @param {Words} t */
function renderCost({ usage }, t) {
  const { selection, planning, schemaTokens, milliseconds } = usage;
  const share = schemaTokens.all > 0 ? Math.round(100 * (1 - schemaTokens.loaded / schemaTokens.all)) : 0;
  const stage = (/** @type {string} */ name, /** @type {typeof selection} */ { read, cached, written }) =>
    html`<li>${t('tokens_of', { stage: name, read: formatWhole(read), cached: formatWhole(cached), written: formatWhole(written) })}</li>`;
  return html`<section aria-labelledby="cost"><h2 id="cost">${t('cost')}</h2><ul data-cost>
    ${stage(t('selection'), selection)} ${stage(t('planning_stage'), planning)}
    <li>${t('schema_tokens', { loaded: formatWhole(schemaTokens.loaded), all: formatWhole(schemaTokens.all), share })}</li>
    <li>${formatDuration(milliseconds)}</li></ul></section>`;
}
