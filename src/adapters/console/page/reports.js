/** What agents did: the audit, and telemetry with learnt entries. Each page reads and shows one answer. */
import { formatDate, formatScore, formatWhole, html } from '../../../page/format.js';
import { createReading } from './api.js';
import { renderFailure, renderTable } from './shell.js';

/** @import { AuditEntry } from '../../../agents/records.ts' */
/** @import { Rates, TelemetryReport } from '../../../agents/telemetry/rates.ts' */
/** @import { LearntView } from '../../http/agents/adaptation-routes.ts' */
/** @import { Failure, Reading } from './api.js' */
/** @import { Console, Page } from './app.js' */
/** @import { Word, Words } from './words.js' */

const LIMIT = 500;

/** @type {Page} */
export const auditPage = {
  name: 'audit',
  title: 'audit',
  needs: 'audit',
  create(console) {
    const reading = /** @type {Reading<{entries: AuditEntry[]}>} */ (
      createReading(console, () => `GET v1/audit?${new URLSearchParams({ limit: String(LIMIT), ...console.view })}`)
    );

    /** The address holds the filters, so that a link shows the same. @param {Event & {target: HTMLInputElement}} event */
    function change({ target }) {
      const { [target.name]: _, ...view } = console.view;
      console.show(target.value ? { ...view, [target.name]: target.value } : view);
      reading.read();
    }

    return {
      enter: () => void reading.read(),
      render() {
        const { t, view } = console;
        const { entries } = reading.value ?? { entries: [] };
        const rows = entries.map((one) => renderEntry(one, t));
        const heads = [t('when'), t('event'), t('outcome'), t('tool'), t('user'), t('why')];
        return html`<h1>${t('audit')}</h1>
          <search class="row">
            ${(/** @type {const} */ (['user', 'tool', 'session'])).map((name) => html`<input type="search" name=${name} aria-label=${t(name)} placeholder=${t(name)} .value=${view[name] ?? ''} @change=${change}>`)}
            ${renderChoice('event', { t, view, change })} ${renderChoice('outcome', { t, view, change })}
          </search>
          ${renderFailure(reading.failure, t)}
          <p role="status" class="quiet">${t('entries_shown', { count: formatWhole(entries.length) })}</p>
          ${entries.length > 0 && renderTable(t('audit'), heads, rows)}`;
      },
    };
  },
};

/** @param {AuditEntry} entry @param {Words} t */
const renderEntry = (
  { at, event, outcome, tool, user, code, reason, approval, session },
  t,
) => html`<tr data-entry=${event}>
    <td>${formatDate(at)}</td><td>${t.of('event', event)}</td>
    <td><span class="badge ${['denied', 'refused', 'failed'].includes(outcome) ? 'wrong' : ''}">${t.of('outcome', outcome)}</span></td>
    <td>${tool && html`<code>${tool}</code>`}</td><td>${user}</td>
    <td>${[code, reason].filter(Boolean).join(': ')} ${approval && html`<small>${t('approval')} ${approval}</small>`} ${session && html`<a href="#audit?${new URLSearchParams({ session })}"><small>${t('session')}</small></a>`}</td></tr>`;

/** @param {'event' | 'outcome'} name @param {{t: Words, view: Record<string, string>, change(event: Event): void}} options */
const renderChoice = (name, { t, view, change }) => html`<select name=${name} aria-label=${t(name)} @change=${change}>
    <option value="" .selected=${!view[name]}>${t(name)}: ${t('all')}</option>${t.names(name).map((value) => html`<option value=${value} .selected=${view[name] === value}>${t.of(name, value)}</option>`)}</select>`;

const GROUPS = ['tool', 'user', 'project', 'day'];
const COUNTS = /** @type {const} */ (['searches', 'calls', 'errors', 'refused', 'enablements']);
const SHARES = /** @type {const} */ (['top1', 'top3', 'searchAgain', 'errorRate', 'unused']);

/** @type {Page} */
export const figuresPage = {
  name: 'figures',
  title: 'figures',
  needs: 'telemetry',
  create(console) {
    const { api } = console;
    const figures = /** @type {Reading<TelemetryReport>} */ (
      createReading(console, () => `GET v1/telemetry?${new URLSearchParams({ by: console.view.group ?? 'tool' })}`)
    );
    const learnings = /** @type {Reading<{entries: LearntView[]}>} */ (
      createReading(console, () => 'GET v1/adaptation')
    );
    /** Why the last decision failed. */
    let undecided = /** @type {Failure | undefined} */ (undefined);
    const read = () => Promise.all([figures.read(), learnings.read()]);

    /** @param {LearntView} entry @param {'approve' | 'revert'} what */
    async function decide({ id }, what) {
      const body = { by: { user: api.proof.name || 'operator' } };
      const answer = await api.ask(`POST v1/adaptation/${encodeURIComponent(id)}/${what}`, { body });
      undecided = answer.ok ? undefined : answer.failure;
      await read();
    }

    /** @param {string} key @param {Rates} rates */
    const row = (key, rates) =>
      html`<tr data-row=${key}><th scope="row">${key}</th>${COUNTS.map((name) => html`<td>${formatWhole(rates[name])}</td>`)}${SHARES.map((name) => html`<td>${formatScore(rates[name])}</td>`)}</tr>`;

    return {
      enter: () => void read(),
      render() {
        const { t, view } = console;
        const { value: report, failure } = figures;
        const learnt = learnings.value?.entries ?? [];
        const heads = [
          t.of('group', view.group ?? 'tool'),
          ...[...COUNTS, ...SHARES].map((name) => t.of('rate', name)),
        ];
        return html`<h1>${t('figures')}</h1>
          ${renderFailure(failure, t)} ${renderFailure(undecided, t)}
          <p class="row" role="group" aria-label=${t('group_by')}>${GROUPS.map((group) => html`<a class="button" href="#figures?group=${group}" aria-current=${String(group === (view.group ?? 'tool'))}>${t.of('group', group)}</a>`)}</p>
          ${report && renderTable(t('figures'), heads, [row(t('total'), report.total), ...report.rows.map(({ key, ...rates }) => row(key, rates))])}
          <h2>${t('learnt')}</h2>
          ${learnt.length === 0 && html`<p class="quiet">${t('nothing_learnt')}</p>`}
          <ul>${learnt.map(
            (
              entry,
            ) => html`<li class="card" data-learnt=${entry.id}><p><span class="badge">${t.of('learnt', entry.state)}</span> ${entry.explanation}</p>
              <p class="row"><button type="button" ?disabled=${entry.state !== 'proposed'} @click=${() => decide(entry, 'approve')}>${t('approve')}</button>
              <button type="button" ?disabled=${entry.state === 'reverted'} @click=${() => decide(entry, 'revert')}>${t('revert')}</button></p></li>`,
          )}</ul>`;
      },
    };
  },
};
