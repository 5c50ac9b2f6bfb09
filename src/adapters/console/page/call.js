/** A tool's page: a call with a form made from its schema, a dry run of it, and recent use. */
import { nothing, render } from 'lit-html';
import { formatDate, formatDuration, formatScore, formatWhole, html } from '../../../page/format.js';
import { createReading } from './api.js';
import { renderArguments } from './arguments.js';
import { readArguments, renderFields } from './form.js';
import { renderFailure, renderOutput, renderTable } from './shell.js';

/** @import { Preview } from '../../../agents/calls/preview.ts' */
/** @import { CallResult, EnableOutput, SessionView } from '../../../agents/contracts.ts' */
/** @import { AuditEntry } from '../../../agents/records.ts' */
/** @import { TelemetryReport } from '../../../agents/telemetry/rates.ts' */
/** @import { Answer, Failure, Reading } from './api.js' */
/** @import { Console } from './app.js' */
/** @import { ListedTool } from './tools.js' */
/** @import { Words } from './words.js' */

const CALLS_SHOWN = 10;

/** @param {Console} console */
export function createCalls(console) {
  const { api, update } = console;
  const name = () => console.view.tool ?? '';
  const calls = /** @type {Reading<{entries: AuditEntry[]}>} */ (
    createReading(
      console,
      () => `GET v1/audit?${new URLSearchParams({ tool: name(), event: 'call', limit: String(CALLS_SHOWN) })}`,
    )
  );
  const rates = /** @type {Reading<TelemetryReport>} */ (createReading(console, () => 'GET v1/telemetry?by=tool'));
  /** The session of this page, opened by its first call. */
  let session = '';
  /** Of this tool alone: a field keeps what was typed into it. */
  let form = document.createElement('form');
  let shown = '';
  let isBusy = false;
  let preview = /** @type {Preview | undefined} */ (undefined);
  let result = /** @type {CallResult | undefined} */ (undefined);
  let failure = /** @type {Failure | undefined} */ (undefined);

  /** @template T @param {string} what @param {object} body @returns {Promise<Answer<T>>} */
  async function ask(what, body, isAgain = false) {
    // Counts for the operator only: without a user no approval can be asked for.
    const owner = { user: api.proof.name || 'operator' };
    if (session === '') {
      const opened = /** @type {Answer<SessionView>} */ (await api.ask('POST v1/sessions', { body: owner }));
      if (!opened.ok) return opened;
      session = opened.value.id;
    }
    const answer = /** @type {Answer<T>} */ (await api.ask(`POST v1/sessions/${session}/${what}`, { body }));
    if (answer.ok || answer.failure.code !== 'not_found' || isAgain) return answer;
    // It was idle too long.
    session = '';
    return ask(what, body, true);
  }

  /** Enabled for this call alone. @param {{tool: string, arguments: object}} body @returns {Promise<Answer<CallResult>>} */
  async function call(body) {
    const enabling = { names: [body.tool], ephemeral: true };
    const enabled = /** @type {Answer<EnableOutput>} */ (await ask('enable', enabling));
    const [rejected] = enabled.ok ? enabled.value.rejected : [];
    if (!enabled.ok) return enabled;
    return rejected ? { ok: true, value: { ...rejected, ok: false } } : ask('call', body);
  }

  /** @param {ListedTool} tool @param {boolean} isDry */
  async function send({ name: tool, inputSchema }, isDry) {
    if (isBusy || !form.reportValidity()) return;
    const { arguments: given, broken } = readArguments(form, inputSchema);
    [isBusy, preview, result, failure] = [true, undefined, undefined, undefined];
    update();
    const body = { tool, arguments: given };
    const issues = broken.map((one) => console.t('no_json', { name: one || console.t('further_arguments') }));
    if (issues.length > 0) failure = { code: 'invalid_request', detail: '', issues };
    const asked = issues.length > 0 ? undefined : isDry ? await ask('preview', body) : await call(body);
    isBusy = false;
    if (tool !== shown) return;
    if (asked?.ok === false) failure = asked.failure;
    else if (asked && isDry) preview = /** @type {Preview} */ (asked.value);
    else if (asked) result = /** @type {CallResult} */ (asked.value);
    if (!isDry) await readUse();
    update();
  }

  const readUse = () => Promise.all([calls, rates].map((one) => one.read()));

  return {
    enter() {
      if (console.has('telemetry')) readUse();
    },
    /** @param {ListedTool} tool */
    render(tool) {
      const { t } = console;
      if (shown !== tool.name) {
        [form, shown] = [document.createElement('form'), tool.name];
        [preview, result, failure] = [undefined, undefined, undefined];
        form.className = 'card';
      }
      form.onsubmit = (event) => {
        event.preventDefault();
        send(tool, false);
      };
      render(
        html`${renderFields(tool.inputSchema, t)}<p class="row"><button class="main" data-do="call" ?disabled=${isBusy}>${t('call')}</button>
          <button type="button" data-do="preview" ?disabled=${isBusy} @click=${() => send(tool, true)}>${t('dry_run')}</button></p>`,
        form,
      );
      const use = rates.value?.rows.find(({ key }) => key === tool.name);
      const entries = calls.value?.entries ?? [];
      return html`${
        console.has('previewCall') &&
        html`<h2>${t('call')}</h2><p class="quiet">${t('call_help')}</p>${form}
        <div role="status">${isBusy && t('running')} ${preview && renderPreview(preview, t)} ${result && renderCall(result, t)}</div>${renderFailure(failure, t)}`
      }
      ${
        console.has('telemetry') &&
        html`<h2>${t('recent_use')}</h2>
        <p data-use>${use ? t('used', { calls: formatWhole(use.calls), errors: formatWhole(use.errors), refused: formatWhole(use.refused), share: formatScore(use.top1) }) : t('not_used')}</p>
        ${
          entries.length > 0 &&
          renderTable(
            t('recent_use'),
            [t('when'), t('outcome'), t('user'), t('why')],
            entries.map((one) => renderEntry(one, t)),
          )
        }`
      }`;
    },
  };
}

/** @param {AuditEntry} entry @param {Words} t */
const renderEntry = ({ at, outcome, user, code, reason }, t) => html`<tr data-call=${outcome}>
    <td>${formatDate(at)}</td><td>${t.of('outcome', outcome)}</td><td>${user ?? '–'}</td><td>${[code, reason].filter(Boolean).join(': ')}</td></tr>`;

/** @param {Preview} preview @param {Words} t */
function renderPreview(preview, t) {
  if (!preview.ok) return renderRefused(preview, t);
  const { decision, reason, risk, where, arguments: given } = preview;
  return html`<div class="card" data-preview=${decision}>
    <p><span class="badge ${decision === 'allow' ? '' : 'extra'}">${t.of('decision', decision)}</span> ${reason} <small>${t.of('risk', risk)}</small></p>
    <p>${t('runs_where', { where })}</p>
    ${renderArguments(/** @type {Record<string, unknown>} */ (given), { t, sourceOf: () => undefined })}</div>`;
}

/** @param {CallResult} result @param {Words} t */
function renderCall(result, t) {
  if (!result.ok) return renderRefused(result, t);
  const { output, content, notes, milliseconds } = result;
  return html`<div class="card hit" data-result><p><b class="tone">${t('step.done')}</b> <small>${formatDuration(milliseconds)}</small></p>
    ${notes.map((note) => html`<p class="quiet">${note}</p>`)}
    ${renderOutput(output, t, { isOpen: true })}
    ${content && renderOutput(content, t, { title: t('content') })}</div>`;
}

/** @param {{code: string, reason: string, next: string, issues?: readonly string[] | undefined, approval?: string | undefined, granted?: {arguments: unknown} | undefined}} refusal @param {Words} t */
const renderRefused = (
  { code, reason, next, issues = [], approval, granted },
  t,
) => html`<div class="card ${approval ? 'extra' : 'error'}" data-refused=${code}>
    <p><code>${code}</code> ${reason}</p><p class="quiet">${next}</p>
    ${issues.length > 0 && html`<ul>${issues.map((issue) => html`<li>${issue}</li>`)}</ul>`}
    ${granted && renderOutput(granted.arguments, t, { title: t('granted_arguments'), isOpen: true })}
    ${approval ? html`<p><a href="#approvals">${t('approvals')}</a></p>` : nothing}</div>`;
