/** Try: type a request, watch its stages, and see the plan with its reasons. */

import { html } from '../../../page/format.js';
import { toCaseLine } from './case-line.js';
import { renderResult } from './result.js';
import { parseObject, renderFailure } from './shell.js';
import { renderStages } from './stages.js';

/** @import { PlanResult, TraceEvent } from '../../../core/result.ts' */
/** @import { Failure } from './api.js' */
/** @import { Console, Page } from './app.js' */

/** @type {Page} */
export const tryPage = { name: 'try', title: 'try', needs: 'plan', create: createTry };

/** @param {Console} console */
function createTry(console) {
  const { api, update } = console;
  /** The typed text; undefined: the request of the address. */
  let draft = /** @type {string | undefined} */ (undefined);
  let more = '{}';
  let moreIssue = '';
  let stages = /** @type {TraceEvent[]} */ ([]);
  let running = /** @type {AbortController | undefined} */ (undefined);
  let result = /** @type {PlanResult | undefined} */ (undefined);
  let failure = /** @type {Failure | undefined} */ (undefined);
  let asked = /** @type {Record<string, unknown>} */ ({});
  let copied = false;
  let whyNot = '';
  let visible = /** @type {ReadonlySet<string> | undefined} */ (undefined);

  /** @param {HTMLFormElement} form */
  async function run(form) {
    const given = new FormData(form);
    const message = String(given.get('message'));
    more = String(given.get('more')).trim();
    const fields = parseObject(more || '{}');
    moreIssue = fields ? '' : console.t('not_an_object');
    if (!fields || running) return update();
    const stop = new AbortController();
    [running, stages, result, failure, copied, whyNot] = [stop, [], undefined, undefined, false, ''];
    visible = undefined;
    asked = { message, ...fields };
    console.show({ message });
    const answer = /** @type {import('./api.js').Answer<PlanResult>} */ (
      await api.ask('POST v1/plan', { body: asked, signal: stop.signal, onEvent: (event) => addStage(stop, event) })
    );
    running = undefined;
    if (answer.ok) result = answer.value;
    else failure = answer.failure;
    update();
  }

  /** @param {AbortController} stop @param {unknown} event */
  function addStage(stop, event) {
    if (stop !== running) return;
    stages = [...stages, /** @type {TraceEvent} */ (event)];
    update();
  }

  const cancel = () => running?.abort();

  /** Browsers allow the clipboard only to pages of this machine, or over TLS. */
  async function copy() {
    copied = await navigator.clipboard.writeText(JSON.stringify(result, null, 2)).then(
      () => true,
      () => false,
    );
    update();
  }

  function save() {
    if (!result) return;
    const url = URL.createObjectURL(new Blob([toCaseLine(asked, result)], { type: 'application/jsonl' }));
    const link = Object.assign(document.createElement('a'), { href: url, download: 'case.jsonl' });
    link.click();
    URL.revokeObjectURL(url);
  }

  /** Reads the visible tools when a person first asks why one was not chosen. @param {string} name */
  async function explain(name) {
    whyNot = name;
    update();
    if (visible || name === '') return;
    const { user, allow, deny, origin } = asked;
    const query = typeof user === 'string' ? `?${new URLSearchParams({ user })}` : '';
    const answer = /** @type {import('./api.js').Answer<{tools: {name: string, origin: string}[]}>} */ (
      await api.ask(`GET v1/tools${query}`)
    );
    const isIn = (/** @type {unknown} */ names, /** @type {string} */ one) =>
      Array.isArray(names) && names.includes(one);
    const found = (answer.ok ? answer.value.tools : []).filter(
      (tool) => (!allow || isIn(allow, tool.name)) && !isIn(deny, tool.name) && (!origin || isIn(origin, tool.origin)),
    );
    if (answer.ok) visible = new Set(found.map((tool) => tool.name));
    update();
  }

  /** @param {KeyboardEvent & {currentTarget: HTMLFormElement}} event */
  function onKey(event) {
    if (event.key === 'Escape') cancel();
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run(event.currentTarget);
  }

  /** @param {SubmitEvent & {currentTarget: HTMLFormElement}} event */
  function onSubmit(event) {
    event.preventDefault();
    run(event.currentTarget);
  }

  /** @param {Event & {target: HTMLTextAreaElement}} event */
  function onInput({ target }) {
    draft = target.value;
  }

  return {
    /** A link with a request replaces the typed text. */
    enter() {
      if (console.view.message !== undefined) draft = undefined;
    },
    render() {
      const { t, view } = console;
      return html`<h1>${t('try')}</h1>
        <form class="card" @submit=${onSubmit} @keydown=${onKey}>
          <label>${t('request')} <textarea name="message" rows="3" required .value=${draft ?? view.message ?? ''} @input=${onInput}></textarea></label>
          <details><summary>${t('more_fields')}</summary>
            <label>${t('more_fields_help')} <textarea name="more" rows="4" spellcheck="false" .value=${more}></textarea></label></details>
          ${moreIssue !== '' && html`<p class="tone wrong" role="alert">${moreIssue}</p>`}
          <p class="row">
            <button class="main" ?disabled=${running !== undefined}>${result || failure ? t('run_again') : t('run')}</button>
            ${running && html`<button type="button" @click=${cancel}>${t('cancel')}</button>`}
            <small>${t('run_keys')}</small>
          </p>
        </form>
        <p role="status" class=${running ? 'quiet' : 'hidden'}>${running ? t('planning') : result ? t.of('kind', result.kind) : ''}</p>
        ${renderFailure(failure, t)}
        ${
          result &&
          html`<p class="row">
            ${navigator.clipboard && html`<button type="button" @click=${copy}>${copied ? t('copied') : t('copy_json')}</button>`}
            <button type="button" @click=${save}>${t('save_case')}</button>
          </p>
          ${renderResult(result, { t, whyNot, visible, onWhyNot: explain })}`
        }
        ${renderStages(result?.trace ?? stages, t)}
        ${result && html`<details class="card"><summary>JSON</summary><pre tabindex="0">${JSON.stringify(result, null, 2)}</pre></details>`}`;
    },
  };
}
