/** Runs of `winnow eval`: the list, and the report of one, or of two beside each other, with the report's own parts. */

import { openSource } from '../../../eval/report/page/data.js';
import { createReport } from '../../../eval/report/page/report.js';
import { formatDate, formatMetric, formatWhole, html } from '../../../page/format.js';
import { createReading } from './api.js';
import { renderFailure, renderTable } from './shell.js';

/** @import { ReportBlocks, ReportData } from '../../../eval/report/report-data.ts' */
/** @import { EvaluationList } from '../../http/agents/evaluation-routes.ts' */
/** @import { Answer, Failure, Reading } from './api.js' */
/** @import { Console, Page } from './app.js' */
/** @import { Words } from './words.js' */

/** @typedef {EvaluationList['runs'][number]} ListedRun */

/** @type {Page} */
export const evaluationsPage = {
  name: 'evaluations',
  title: 'evaluations',
  needs: 'listEvaluations',
  create: createEvaluations,
};

/** @param {Console} console */
function createEvaluations(console) {
  const { api, update } = console;
  const list = /** @type {Reading<EvaluationList>} */ (createReading(console, () => 'GET v1/evaluations'));
  /** Of one report alone, which draws into it and follows the address. */
  let root = document.createElement('div');
  let follow = () => {};
  let opened = '';
  let state = /** @type {'reading' | 'shown' | Failure} */ ('reading');

  /** Without what names the report itself. */
  function readView() {
    const { run: _, before: __, ...view } = console.view;
    return view;
  }

  /** @param {object} view */
  function writeView(view) {
    const { run = '', before } = console.view;
    console.show({ run, ...(before === undefined ? {} : { before }), ...view });
  }

  /** @param {string} line */
  async function open(line) {
    [opened, state, root, follow] = [line, 'reading', document.createElement('div'), () => {}];
    [root.className, root.lang] = ['report', 'en'];
    update();
    const answer = /** @type {Answer<{data: ReportData, blocks: ReportBlocks}>} */ (await api.ask(line));
    const source = answer.ok && openSource(answer.value.data, answer.value.blocks);
    const cases = source ? await source.readCases() : [];
    // Meanwhile another one may have been opened.
    if (line !== opened) return;
    state = answer.ok ? 'shown' : answer.failure;
    update();
    if (source) follow = createReport(source, cases, { root, address: { read: readView, write: writeView } });
  }

  return {
    enter() {
      list.read();
      const { run, before } = console.view;
      if (run === undefined) return;
      const query = before === undefined ? '' : `?${new URLSearchParams({ before })}`;
      const line = `GET v1/evaluations/${encodeURIComponent(run)}${query}`;
      if (line === opened && state === 'shown') follow();
      else open(line);
    },
    render() {
      const { t, view } = console;
      if (view.run === undefined) return renderList(list, t);
      const runs = list.value?.runs ?? [];
      const one = runs.find(({ id }) => id === view.run);
      const others = runs.filter(({ id, group }) => one && group === one.group && id !== one.id);
      /** The earlier run comes first. @param {Event & {target: HTMLSelectElement}} event */
      const compare = ({ target }) => {
        const other = others.find(({ id }) => id === target.value);
        const pair = [one, other].flatMap((run) => run ?? []);
        const [last, before] = pair.sort((a, b) => b.startedAt.localeCompare(a.startedAt)).map(({ id }) => id);
        location.hash = `#evaluations?${new URLSearchParams({ run: last ?? '', ...(before && { before }) })}`;
      };
      return html`<p class="row"><a href="#evaluations">${t('all_evaluations')}</a>
          ${others.length > 0 && html`<select aria-label=${t('compare_with')} @change=${compare}><option value="" .selected=${view.before === undefined}>${t('compare_with')}</option>${others.map(({ id, name, startedAt }) => html`<option value=${id} .selected=${view.before === id}>${name}, ${formatDate(startedAt)}</option>`)}</select>`}</p>
        ${state !== 'shown' && html`<h1>${one?.name ?? view.run}</h1>`}
        ${state === 'reading' ? html`<p role="status" class="quiet">${t('reading')}</p>` : state === 'shown' ? root : renderFailure(state, t)}`;
    },
  };
}

/** @param {Reading<EvaluationList>} reading @param {Words} t */
function renderList({ value, failure }, t) {
  const heads = [t('evaluation'), t('begun'), t('cases'), t('model'), t('figures')];
  const all = value?.runs ?? [];
  const groups = [...new Set(all.map(({ group }) => group))].map((one) => all.filter(({ group }) => group === one));
  return html`<h1>${t('evaluations')}</h1>
    ${renderFailure(failure, t)}
    ${value && groups.length === 0 && html`<p data-none>${t('no_evaluations', { folder: value.folder })}</p><pre tabindex="0">winnow eval --suite SET</pre>`}
    ${groups.map((runs) => html`<h2>${runs[0]?.suites}</h2>${renderTable(runs[0]?.suites ?? '', heads, runs.toReversed().map(renderRun))}`)}
    ${value && value.unreadable.length > 0 && html`<h2>${t('unreadable')}</h2><ul>${value.unreadable.map((why) => html`<li>${why}</li>`)}</ul>`}`;
}

/** @param {ListedRun} run */
const renderRun = ({ id, name, startedAt, done, planned, model, metrics }) => html`<tr data-run=${id}>
    <th scope="row"><a href=${`#evaluations?${new URLSearchParams({ run: id })}`}>${name}</a></th>
    <td>${formatDate(startedAt)}</td><td>${done === planned ? formatWhole(done) : `${formatWhole(done)} / ${formatWhole(planned)}`}</td><td>${model}</td>
    <td>${metrics.map(({ label, unit, mean }) => html`<span class="badge">${label} ${formatMetric(mean, unit)}</span> `)}</td></tr>`;
