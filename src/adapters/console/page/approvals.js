/** Approvals: what waits for a decision, exactly as it will run, and what was decided before. */

import { formatDate, formatJson, html } from '../../../page/format.js';
import { renderArguments } from './arguments.js';
import { renderControl, renderGraph } from './result.js';
import { parseObject, renderFailure } from './shell.js';

/** @import { Approval, ApprovalOutput, ApprovalPage } from '../../../agents/records.ts' */
/** @import { Answer, Failure } from './api.js' */
/** @import { Console, Page } from './app.js' */
/** @import { Words } from './words.js' */

/** The outcome of a decision. @typedef {{isDone: boolean, text: string, issues: readonly string[]}} Outcome */

const LIMIT = 200;

/** @type {Page} */
export const approvalsPage = { name: 'approvals', title: 'approvals', needs: 'listApprovals', create: createApprovals };

/** @param {Console} console */
function createApprovals(console) {
  const { api, update } = console;
  let pending = /** @type {readonly Approval[]} */ ([]);
  let shown = /** @type {readonly Approval[]} */ ([]);
  let failure = /** @type {Failure | undefined} */ (undefined);
  /** Why the last decision failed: shown until the next one, or until a person signs in. */
  let undecided = /** @type {Failure | undefined} */ (undefined);
  let isSending = false;
  const outcomes = /** @type {Map<string, Outcome>} */ (new Map());
  const editing = /** @type {Set<string>} */ (new Set());

  const stateShown = () => console.view.state ?? 'pending';

  /** From as many pages as they take. @param {string} state @returns {Promise<Answer<ApprovalPage>>} */
  async function list(state) {
    /** @type {Approval[]} */
    const approvals = [];
    for (let after = /** @type {string | undefined} */ (undefined); ; ) {
      const limit = String(LIMIT - approvals.length);
      const query = new URLSearchParams({ state, limit, ...(after === undefined ? {} : { after }) });
      const answer = /** @type {Answer<ApprovalPage>} */ (await api.ask(`GET v1/approvals?${query}`));
      if (!answer.ok) return answer;
      approvals.push(...answer.value.approvals);
      after = answer.value.next;
      if (after === undefined || approvals.length >= LIMIT) return { ok: true, value: { approvals } };
    }
  }

  async function read() {
    const state = stateShown();
    const [waiting, others] = await Promise.all([list('pending'), state === 'pending' ? undefined : list(state)]);
    const answer = others ?? waiting;
    if (waiting.ok) pending = waiting.value.approvals.toReversed();
    // Meanwhile the page may show another state.
    if (state !== stateShown()) return update();
    failure = answer.ok ? undefined : answer.failure;
    if (answer.ok) shown = others ? answer.value.approvals : inTheirPlaces(shown, pending);
    update();
  }

  function reset() {
    [shown, undecided] = [[], undefined];
    outcomes.clear();
    editing.clear();
    // Clears the old entries, so that no click hits them while others load.
    update();
    read();
  }

  /** @param {Approval} approval @param {HTMLFormElement} form @param {'once' | 'session' | 'refuse'} what */
  async function decide(approval, form, what) {
    const { t } = console;
    const given = new FormData(form);
    const reason = String(given.get('reason') ?? '').trim();
    const edited =
      what !== 'refuse' && editing.has(approval.id) ? parseObject(String(given.get('arguments'))) : undefined;
    if (what !== 'refuse' && editing.has(approval.id) && !edited)
      return report(approval, { isDone: false, text: t('not_an_object'), issues: [] });
    const by = api.proof.name || 'operator';
    const body = {
      by: { user: by },
      ...(reason ? { reason } : {}),
      ...(what === 'refuse' ? {} : { grant: what, ...(edited ? { arguments: edited } : {}) }),
    };
    isSending = true;
    update();
    const line = `POST v1/approvals/${encodeURIComponent(approval.id)}/${what === 'refuse' ? 'refuse' : 'grant'}`;
    const answer = /** @type {Answer<ApprovalOutput>} */ (await api.ask(line, { body }));
    isSending = false;
    undecided = answer.ok ? undefined : answer.failure;
    if (!answer.ok) return update();
    const { value } = answer;
    report(
      approval,
      value.ok
        ? {
            isDone: true,
            text: t('decided', {
              tool: approval.tool,
              state: t.of('state', value.approval.state),
              by: value.approval.decidedBy ?? by,
            }),
            issues: [],
          }
        : { isDone: false, text: `${value.reason} ${value.next}`, issues: value.issues ?? [] },
    );
    await read();
  }

  /** @param {Approval} approval @param {Outcome} outcome */
  function report(approval, outcome) {
    outcomes.set(approval.id, outcome);
    update();
  }

  /** @param {string} id */
  function toggleEditing(id) {
    if (!editing.delete(id)) editing.add(id);
    update();
  }

  const lastDone = () => [...outcomes.values()].filter(({ isDone }) => isDone).at(-1);

  return {
    badge: () => pending.length,
    poll: read,
    enter: reset,
    render() {
      const { t } = console;
      return html`<h1>${t('approvals')}</h1>
        <p class="row" role="group" aria-label=${t('approval_states')}>${t
          .names('state')
          .map(
            (state) =>
              html`<button type="button" data-state=${state} aria-pressed=${String(state === stateShown())} @click=${() => choose(state)}>${t.of('state', state)}</button>`,
          )}</p>
        ${renderFailure(failure, t)} ${renderFailure(undecided, t)}
        <p role="status" class="hidden">${lastDone()?.text ?? ''}</p>
        ${shown.length === 0 && !failure && html`<p class="quiet">${t('nothing_waits')}</p>`}
        <ul>${shown.map((approval) =>
          renderApproval(approval, {
            t,
            isSending,
            // Unknown if there are more than were read: then the server refuses the decision.
            isGone: pending.length < LIMIT && !pending.some(({ id }) => id === approval.id),
            isEdited: editing.has(approval.id),
            outcome: outcomes.get(approval.id),
            onDecide: (form, what) => decide(approval, form, what),
            onEdit: () => toggleEditing(approval.id),
          }),
        )}</ul>`;
    },
  };

  /** @param {string} state */
  function choose(state) {
    console.show(state === 'pending' ? {} : { state });
    reset();
  }
}

/**
 * Entries keep their place, decided or not, and new ones come below, so that no click hits the wrong button.
 * @param {readonly Approval[]} before @param {readonly Approval[]} now @returns {Approval[]}
 */
function inTheirPlaces(before, now) {
  const known = new Set(before.map(({ id }) => id));
  return [...before, ...now.filter(({ id }) => !known.has(id))];
}

/**
 * @param {Approval} approval
 * @param {object} options
 * @param {Words} options.t
 * @param {boolean} options.isSending A decision is on its way.
 * @param {boolean} options.isGone It does not wait any more.
 * @param {boolean} options.isEdited
 * @param {Outcome | undefined} options.outcome
 * @param {(form: HTMLFormElement, what: 'once' | 'session' | 'refuse') => void} options.onDecide
 * @param {() => void} options.onEdit
 */
function renderApproval(approval, { t, isSending, isGone, isEdited, outcome, onDecide, onEdit }) {
  const { id, tool, user, session, reason, sources, plan, runs, last, state, granted, decidedBy, decidedAt } = approval;
  const values = Object(approval.arguments);
  const isWaiting = state === 'pending';
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    const what = /** @type {HTMLButtonElement | null} */ (event.submitter)?.value;
    onDecide(/** @type {HTMLFormElement} */ (event.target), what === 'session' || what === 'refuse' ? what : 'once');
  };
  return html`<li class="card approval" data-approval=${id}>
    <h2><code>${tool}</code> ${runs && html`<span class="badge ${runs.risk === 'high' ? 'wrong' : ''}">${t.of('risk', runs.risk)}</span>`}</h2>
    <p>${t('for_whom', { user })} <small>${t('session')} ${session}</small></p>
    <p>${reason}</p>
    ${runs && html`<p class="quiet">${t('runs_where', { where: runs.where })}</p>`}
    ${plan && renderPlan(plan, t)}
    <h3>${plan ? t('inputs') : t('arguments')}</h3>
    ${renderArguments(values, { t, sourceOf: (name) => sources?.[name]?.source, differences: last?.differences ?? [] })}
    ${granted && html`<h3>${t('granted_arguments')}</h3>${renderArguments(Object(granted.arguments), { t, sourceOf: () => undefined })}`}
    ${last && html`<p class="quiet">${last.differences.length === 0 ? t('same_as_last', { by: last.decidedBy, at: formatDate(last.decidedAt) }) : t('differs_from_last', { by: last.decidedBy, at: formatDate(last.decidedAt) })}</p>`}
    ${isWaiting && html`<p data-expires><small>${outcome?.isDone ? outcome.text : isGone ? t('waits_no_more') : leftOf(approval.expiresAt, t)}</small></p>`}
    ${decidedBy && html`<p class="quiet">${t('decided', { tool, state: t.of('state', state), by: decidedBy })} ${decidedAt && formatDate(decidedAt)}</p>`}
    ${outcome && !outcome.isDone && html`<div role="alert" class="card error"><p>${outcome.text}</p><ul>${outcome.issues.map((issue) => html`<li>${issue}</li>`)}</ul></div>`}
    ${
      isWaiting &&
      html`<form @submit=${submit}>
      ${isEdited && html`<label>${t('edit_help')} <textarea name="arguments" rows="6" spellcheck="false" .value=${formatJson(values)}></textarea></label>`}
      <label>${t('your_reason')} <input name="reason" maxlength="1000" aria-label="${t('your_reason')}: ${tool}"></label>
      <p class="row">
        <button class="main" value="once" ?disabled=${isSending || isGone}>${isEdited ? t('approve_edited') : t('approve_once')}</button>
        ${
          !plan &&
          html`<button value="session" ?disabled=${isSending || isGone}>${t('approve_session')}</button>
        <button type="button" ?disabled=${isSending || isGone} aria-pressed=${String(isEdited)} @click=${onEdit}>${t('edit')}</button>`
        }
        <button value="refuse" class="refuse" ?disabled=${isSending || isGone}>${t('refuse')}</button>
      </p></form>`
    }
  </li>`;
}

/** All steps, and which of them the grant does not cover. @param {NonNullable<Approval['plan']>} plan @param {Words} t */
const renderPlan = ({ steps, goal }, t) => html`<p class="query">${goal}</p>
  ${renderGraph(steps, { t, goal })}
  <ol>${steps.map(
    (step) => html`<li class="card" data-plan-step=${step.id}>
      <p><b>${step.id}</b> <code>${step.tool}</code> <span class="badge ${step.risk === 'high' ? 'wrong' : ''}">${t.of('risk', step.risk)}</span>
        ${step.argumentsHash === undefined && html`<span class="badge extra" data-asks-later>${t('asks_later')}</span>`} <small>${step.purpose}</small></p>
      ${renderControl(step, t)}
      <p class="quiet">${t('runs_where', { where: step.where })}</p>
      ${renderArguments(step.arguments, { t, sourceOf: (name) => step.sources?.[name]?.source })}
    </li>`,
  )}</ol>`;

/** @param {string} expiresAt @param {Words} t */
function leftOf(expiresAt, t) {
  const minutes = Math.ceil((Date.parse(expiresAt) - Date.now()) / 60_000);
  return minutes > 0 ? t('expires_in', { minutes }) : t('state.expired');
}
