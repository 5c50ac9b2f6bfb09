/** Runs of plans: the list, and one run with its plan as a graph, the state of each step, and a person's actions. */
import { formatDate, formatDuration, formatWhole, html } from '../../../page/format.js';
import { createReading } from './api.js';
import { renderArguments } from './arguments.js';
import { renderControl, renderGraph } from './result.js';
import { parseObject, renderFailure, renderOutput, renderTable } from './shell.js';

/** @import { ListedRun, ShownRun } from '../../../agents/runs/run-view.ts' */
/** @import { ShownStep } from '../../../page/shown-step.ts' */
/** @import { Failure, Reading } from './api.js' */
/** @import { Console, Page } from './app.js' */
/** @import { Words } from './words.js' */

/** @typedef {ShownRun['steps'][string]} StepState */
/** @typedef {ShownRun['plan']['steps'][number]} PlannedStep */

/** @type {Page} */
export const runsPage = { name: 'runs', title: 'runs', needs: 'listRuns', create: createRuns };

/** State of a step -> its look in the graph. @type {Readonly<Record<string, Pick<ShownStep, 'state' | 'mark'>>>} */
const LOOKS = {
  done: { state: 'hit', mark: '✓' },
  failed: { state: 'missing', mark: '✗' },
  unknown: { state: 'missing', mark: '?' },
  blocked: { state: 'missing', mark: '–' },
  skipped: { state: 'unjudged', mark: '–' },
  needs_approval: { state: 'extra', mark: '…' },
  running: { state: 'extra', mark: '▸' },
};
const MASK = '[masked]';

/** @param {Console} console */
function createRuns(console) {
  const { api, update } = console;
  const list = /** @type {Reading<{runs: ListedRun[]}>} */ (
    createReading(console, () => `GET v1/runs?${new URLSearchParams(console.view)}`)
  );
  const one = /** @type {Reading<ShownRun>} */ (
    createReading(console, () => `GET v1/runs/${pathOf(console.view.run)}`)
  );
  /** Ids of the runs that this page is resuming or cancelling, and why the server refused. */
  const busy = /** @type {Set<string>} */ (new Set());
  const refused = /** @type {Map<string, Failure>} */ (new Map());

  const read = () => (console.view.run === undefined ? list : one).read();

  /** @param {string} id @param {'resume' | 'cancel'} what @param {object} body */
  async function act(id, what, body) {
    refused.delete(id);
    if (what === 'resume') busy.add(id);
    update();
    const asked = api.ask(`POST v1/plans/runs/${pathOf(id)}/${what}`, { body });
    await read();
    const answer = await asked;
    if (what === 'resume') busy.delete(id);
    if (!answer.ok) refused.set(id, answer.failure);
    await read();
  }

  /** @param {ShownRun} run @param {HTMLFormElement} form */
  function resume({ id }, form) {
    const given = new FormData(form);
    const secrets = parseObject(String(given.get('secrets') ?? '') || '{}');
    if (secrets) return act(id, 'resume', { repeat: given.getAll('repeat'), arguments: secrets });
    refused.set(id, { code: 'invalid_request', detail: console.t('not_an_object'), issues: [] });
    update();
  }

  /** @param {string} [state] */
  function choose(state) {
    console.show(state === undefined ? {} : { state });
    list.read();
  }

  return {
    enter: () => void read(),
    async poll() {
      const isOver = console.view.run !== undefined && one.value?.id === console.view.run && one.value.state === 'done';
      if (!isOver) await read();
    },
    render() {
      const { t, view } = console;
      if (view.run === undefined) return renderList(list, { t, chosen: view.state, onChoose: choose });
      const run = one.value?.id === view.run ? one.value : undefined;
      return html`<p><a href="#runs">${t('all_runs')}</a></p>
        <h1>${run?.plan.goal || t('run_named', { id: view.run })}</h1>
        ${renderFailure(one.failure, t)} ${renderFailure(refused.get(view.run), t)}
        ${
          run &&
          renderRun(run, {
            t,
            isBusy: busy.has(run.id),
            onResume: (form) => resume(run, form),
            onCancel: () => act(run.id, 'cancel', {}),
          })
        }`;
    },
  };
}

const pathOf = (/** @type {string | undefined} */ id) => encodeURIComponent(id ?? '');

/** @param {Reading<{runs: ListedRun[]}>} reading @param {{t: Words, chosen: string | undefined, onChoose(state?: string): void}} options */
function renderList({ value, failure }, { t, chosen, onChoose }) {
  const { runs } = value ?? { runs: [] };
  const row = (/** @type {ListedRun} */ run) => html`<tr data-run=${run.id}>
      <th scope="row"><a href=${`#runs?${new URLSearchParams({ run: run.id })}`}>${run.goal || t('run_named', { id: run.id })}</a></th>
      <td>${renderState(run, t)}</td><td>${run.user ?? '–'}</td><td>${run.tools.join(', ')}</td>
      <td>${formatDate(run.createdAt)}</td><td>${formatDate(run.updatedAt)}</td></tr>`;
  const choice = (/** @type {string | undefined} */ state, /** @type {string} */ label) =>
    html`<button type="button" data-state=${state ?? 'all'} aria-pressed=${String(state === chosen)} @click=${() => onChoose(state)}>${label}</button>`;
  const heads = [t('goal'), t('state'), t('user'), t('tools'), t('begun'), t('last_change')];
  return html`<h1>${t('runs')}</h1>
    <p class="row" role="group" aria-label=${t('run_states')}>${choice(undefined, t('all'))}${t.names('run_state').map((state) => choice(state, t.of('run_state', state)))}</p>
    ${renderFailure(failure, t)}
    <p role="status" class="quiet">${t('runs_shown', { count: formatWhole(runs.length) })}</p>
    ${runs.length > 0 && renderTable(t('runs'), heads, runs.map(row))}`;
}

/** @param {Pick<ShownRun, 'state' | 'isInterrupted'>} run @param {Words} t */
const renderState = ({ state, isInterrupted }, t) =>
  html`<span class="badge ${isInterrupted || state === 'failed' ? 'wrong' : state === 'paused' ? 'extra' : ''}">${isInterrupted ? t('interrupted') : t.of('run_state', state)}</span>`;

/** @param {ShownRun} run @param {{t: Words, isBusy: boolean, onResume(form: HTMLFormElement): void, onCancel(): void}} options */
function renderRun(run, options) {
  const { t } = options;
  const { id, plan, steps, user, session, createdAt, updatedAt, added } = run;
  const inputs = Object.entries(plan.inputs ?? {}).map(([name, { value }]) => [name, value]);
  const stateOf = (/** @type {string} */ step) => steps[step]?.status ?? 'pending';
  const facts = [
    [t('state'), renderState(run, t)],
    [t('user'), user ?? '–'],
    [t('session'), html`<a href=${`#audit?${new URLSearchParams({ session: session ?? '' })}`}>${session}</a>`],
    [t('begun'), formatDate(createdAt)],
    [t('last_change'), formatDate(updatedAt)],
  ];
  return html`<dl class="facts" data-run=${id}>${facts.map(([label, value]) => html`<dt>${label}</dt><dd>${value}</dd>`)}</dl>
    <p role="status" class="hidden">${t.of('run_state', run.state)}</p>
    ${added.length > 0 && html`<div class="card extra" data-added><p><b class="tone">${t('added')}</b></p><ul>${added.map((line) => html`<li>${line}</li>`)}</ul></div>`}
    ${renderActions(run, options)}
    ${renderGraph(plan.steps, { t, goal: plan.goal, lookOf: (step) => LOOKS[stateOf(step)] })}
    ${inputs.length > 0 && html`<h2>${t('inputs')}</h2>${renderArguments(Object.fromEntries(inputs), { t, sourceOf: () => undefined })}`}
    <h2>${t('steps')}</h2>
    <ol>${plan.steps.map((step) => renderStep(step, run, t))}</ol>`;
}

/** @param {ShownRun} run @param {{t: Words, isBusy: boolean, onResume(form: HTMLFormElement): void, onCancel(): void}} options */
function renderActions({ state, isInterrupted, steps, plan }, { t, isBusy, onResume, onCancel }) {
  if (state === 'done') return false;
  if (isBusy || (state === 'running' && !isInterrupted))
    return html`<p class="row"><button type="button" class="refuse" data-do="cancel" ?disabled=${state !== 'running'} @click=${onCancel}>${t('cancel_run')}</button> <span class="quiet">${t('running')}</span></p>`;
  const unknown = Object.values(steps).filter(
    ({ status }) => status === 'unknown' || (isInterrupted && status === 'running'),
  );
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    onResume(/** @type {HTMLFormElement} */ (event.target));
  };
  return html`<form @submit=${submit}>
    ${unknown.map(({ id }) => html`<label class="choice"><input type="checkbox" name="repeat" value=${id}> ${t('repeat_step', { step: id })}</label>`)}
    ${JSON.stringify(plan).includes(MASK) && html`<label>${t('secrets_again')} <textarea name="secrets" rows="2" spellcheck="false" autocomplete="off"></textarea></label>`}
    <p class="row"><button class="main" data-do="resume">${state === 'failed' ? t('retry') : t('resume')}</button></p>
  </form>`;
}

/** With the items of a loop below it. @param {PlannedStep} step @param {ShownRun} run @param {Words} t */
function renderStep(step, { steps }, t) {
  const { id, tool, purpose, dependsOn } = step;
  const items = Object.values(steps).filter((state) => state.id.startsWith(`${id}[`));
  return html`<li class="card" data-plan-step=${id}>
    <p><b>${id}</b> <code>${tool}</code> <small>${purpose}</small> ${dependsOn.length > 0 && html`<small>${t('after', { steps: dependsOn.join(', ') })}</small>`}</p>
    ${renderControl(step, t)}
    ${renderStepState(steps[id], step, t)}
    ${items.length > 0 && html`<ol>${items.map((item) => html`<li class="card" data-item=${item.id}><p><b>${item.id}</b></p>${renderStepState(item, step, t)}</li>`)}</ol>`}
  </li>`;
}

/** @param {StepState | undefined} known @param {PlannedStep} step @param {Words} t */
function renderStepState(known, step, t) {
  const {
    status,
    updatedAt,
    attempts = 0,
    milliseconds,
    failure,
    approval,
    notes = [],
  } = known ?? { status: 'pending' };
  const tone = LOOKS[status]?.state;
  return html`<p class="row"><span class="badge ${tone === 'missing' ? 'wrong' : tone === 'extra' ? 'extra' : ''}" data-status=${status}>${t.of('step', status)}</span>
      ${updatedAt && html`<small>${formatDate(updatedAt)}</small>`} ${milliseconds !== undefined && html`<small>${formatDuration(milliseconds)}</small>`}
      ${attempts > 1 && html`<small>${t('calls_made', { count: formatWhole(attempts) })}</small>`}</p>
    ${renderArguments(known?.arguments ?? step.arguments, { t, sourceOf: (name) => known?.sources?.[name]?.source ?? step.from?.[name] })}
    ${failure && html`<div class="card ${status === 'needs_approval' ? 'extra' : 'error'}" data-step-failure=${failure.code}><p>${failure.reason}</p>${status === 'needs_approval' ? approval && html`<p><a href="#approvals">${t('approvals')}</a></p>` : html`<p class="quiet">${failure.next}</p>`}</div>`}
    ${notes.map((note) => html`<p class="quiet">${note}</p>`)}
    ${known?.output !== undefined && renderOutput(known.output, t)}`;
}
