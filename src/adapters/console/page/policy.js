/** The policy: the one in force, what it or an edited one decides on a call, and on those of the last day. */
import { formatDate, formatJson, formatWhole, html } from '../../../page/format.js';
import { createReading } from './api.js';
import { parseObject, renderFailure, renderTable } from './shell.js';

/** @import { PolicyNote } from '../../../agents/policy/check-policy.ts' */
/** @import { Replay, TriedCall } from '../../../agents/policy/trial.ts' */
/** @import { Answer, Failure, Reading } from './api.js' */
/** @import { Console, Page } from './app.js' */
/** @import { Words } from './words.js' */

/** As the API returns it. @typedef {{version: string, settings: Record<string, unknown>, notes: PolicyNote[]}} PolicyView */

/** @type {Page} */
export const policyPage = { name: 'policy', title: 'policy', needs: 'getPolicy', create: createPolicy };

/** @param {Console} console */
function createPolicy(console) {
  const { api, update } = console;
  const reading = /** @type {Reading<PolicyView>} */ (createReading(console, () => 'GET v1/policy'));
  /** The edited text; undefined: the policy in force. */
  let draft = /** @type {string | undefined} */ (undefined);
  let tried = /** @type {Answer<TriedCall> | undefined} */ (undefined);
  let replayed = /** @type {Answer<Replay> | undefined} */ (undefined);
  let isReplaying = false;

  const textOf = () => draft ?? (reading.value ? formatJson(reading.value.settings) : '');

  /** @param {SubmitEvent & {currentTarget: HTMLFormElement}} event */
  async function test(event) {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const [tool = '', user = '', roles = '', text = ''] = ['tool', 'user', 'roles', 'arguments'].map((name) =>
      String(given.get(name)).trim(),
    );
    const values = parseObject(text || '{}');
    const body = {
      ...{ tool, arguments: values, roles: roles.split(',').flatMap((role) => role.trim() || []) },
      ...(user === '' ? {} : { user }),
      ...(draft === undefined ? {} : { policy: draft }),
    };
    const detail = console.t('not_an_object');
    tried = values
      ? await api.ask('POST v1/policy/test', { body })
      : { ok: false, failure: { code: 'invalid_request', detail, issues: [] } };
    update();
  }

  async function replay() {
    [isReplaying, replayed] = [true, undefined];
    update();
    replayed = await api.ask('POST v1/policy/replay', { body: { policy: textOf() } });
    isReplaying = false;
    update();
  }

  /** @param {string | undefined} text */
  function edit(text) {
    [draft, tried, replayed] = [text, undefined, undefined];
    update();
  }

  return {
    enter: () => void reading.read(),
    render() {
      const { t } = console;
      const { value: policy, failure } = reading;
      if (!policy) return html`<h1>${t('policy')}</h1>${renderFailure(failure, t)}`;
      return html`<h1>${t('policy')}</h1>
        ${renderFailure(failure, t)}
        <dl class="facts"><dt>${t('version')}</dt><dd><code>${policy.version}</code></dd></dl>
        <ul>${policy.notes.map(({ level, message }) => html`<li class="tone ${level === 'problem' ? 'wrong' : 'rest'}" data-note=${level}>${message}</li>`)}</ul>
        <label>${t('policy_text')} <textarea data-policy rows="14" spellcheck="false" .value=${textOf()} @input=${(/** @type {Event & {target: HTMLTextAreaElement}} */ { target }) => edit(target.value)}></textarea></label>
        <p class="row"><button type="button" data-do="replay" ?disabled=${isReplaying} @click=${replay}>${t('replay')}</button>
          ${draft !== undefined && html`<button type="button" @click=${() => edit(undefined)}>${t('policy_in_force')}</button>`}
          <span role="status" class="quiet">${isReplaying ? t('reading') : ''}</span></p>
        ${replayed && renderReplay(replayed, t)}
        <h2>${t('test_call')}</h2>
        <form class="card" data-form="test" @submit=${test}>
          <div class="grid"><label>${t('tool')} <input name="tool" required maxlength="256" spellcheck="false" autocomplete="off"></label>
          <label>${t('user')} <input name="user" maxlength="256" autocomplete="off"></label>
          <label>${t('roles')} <input name="roles" autocomplete="off"></label></div>
          <label>${t('arguments_json')} <textarea name="arguments" rows="3" spellcheck="false"></textarea></label>
          <p class="row"><button class="main">${t('test')}</button> <small>${t('test_help')}</small></p>
        </form>
        ${tried && (tried.ok ? html`<div class="card" role="status" data-tried>${renderVerdict(tried.value, t)}</div>` : renderFailure(tried.failure, t))}`;
    },
  };
}

/** @param {TriedCall} verdict @param {Words} t */
const renderVerdict = ({ decision, code, reason, rule, risk, isWarned, issues = [] }, t) => html`<p>
    <span class="badge ${decision === 'deny' ? 'wrong' : decision === 'needs_approval' ? 'extra' : ''}" data-decision=${decision}>${t.of('decision', decision)}</span>
    ${isWarned && html`<span class="badge extra">${t('outcome.warned')}</span>`} <code>${code}</code> ${reason}
    ${rule !== undefined && html`<small data-rule=${rule}>${t('rule')} <code>${rule}</code></small>`} ${risk && html`<small>${t.of('risk', risk)}</small>`}</p>
    ${issues.length > 0 && html`<ul>${issues.map((issue) => html`<li>${issue}</li>`)}</ul>`}`;

/** @param {Answer<Replay>} answer @param {Words} t */
function renderReplay(answer, t) {
  if (!answer.ok) return renderFailure(answer.failure, t);
  const { calls, undecided, differences } = answer.value;
  const changed = differences.reduce((sum, { count }) => sum + count, 0);
  const counts = { calls: formatWhole(calls), changed: formatWhole(changed), undecided: formatWhole(undecided) };
  const heads = [t('tool'), t('user'), t('calls'), t('last_change'), t('by_policy_in_force'), t('by_this_policy')];
  return html`<p role="status" data-replayed>${t('replayed', counts)} ${undecided > 0 && t('replay_undecided', counts)}</p>
    ${
      differences.length > 0 &&
      renderTable(
        t('replay'),
        heads,
        differences.map(
          ({ tool, user, count, lastAt, before, after }) => html`<tr data-difference=${tool}>
            <th scope="row"><code>${tool}</code></th><td>${user ?? '–'}</td><td>${formatWhole(count)}</td><td>${formatDate(lastAt)}</td>
            <td>${renderVerdict(before, t)}</td><td>${renderVerdict(after, t)}</td></tr>`,
        ),
      )
    }`;
}
