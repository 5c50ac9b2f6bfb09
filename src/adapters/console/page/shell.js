/** The frame of each page: navigation, language and sign-in; and parts that several pages share. */
import { nothing } from 'lit-html';
import { formatJson, formatWhole, html } from '../../../page/format.js';
import { chosenLanguage, LANGUAGES } from './words.js';

/** @import { Api, Failure } from './api.js' */
/** @import { Console, Page } from './app.js' */
/** @import { Words } from './words.js' */

/** @typedef {Page & ReturnType<Page['create']>} OpenPage */

/**
 * @param {object} parts
 * @param {Omit<Console, 'view'>} parts.console
 * @param {readonly OpenPage[]} parts.pages
 * @param {OpenPage | undefined} parts.page
 * @param {boolean} parts.isUnreachable
 * @param {(language: string) => void} parts.onLanguage
 * @param {(proof: {token: string, name: string}) => void} parts.onProof
 */
export function renderShell({ console: { t, api }, pages, page, isUnreachable, onLanguage, onProof }) {
  return html`<a class="skip" href="#main" @click=${skip}>${t('skip')}</a>
    <header class="row">
      <strong class="tone">Winnow</strong>
      <nav class="row" aria-label=${t('pages')}>${pages.map((one) => {
        const count = one.badge?.() ?? 0;
        return html`<a href=${`#${one.name}`} aria-current=${one === page ? 'page' : nothing}>${t(one.title)}${
          count > 0 &&
          html` <span class="badge wrong" data-waiting=${count}>${count}<span class="hidden"> ${t('waiting')}</span></span>`
        }</a>`;
      })}</nav>
      <select aria-label=${t('language')} @change=${(/** @type {Event & {target: HTMLSelectElement}} */ { target }) => onLanguage(target.value)}>${Object.entries(
        LANGUAGES,
      ).map(
        ([name, label]) => html`<option value=${name} ?selected=${name === chosenLanguage()}>${label}</option>`,
      )}</select>
      ${renderProof(t, api, onProof)}
    </header>
    <main id="main" tabindex="-1">
      ${isUnreachable && renderFailure({ code: 'unreachable', detail: '', issues: [] }, t)}
      ${page?.render()}
    </main>`;
}

/** The address names the page, so the link may not change it. @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.querySelector('main')?.focus();
}

/** @param {Words} t @param {Api} api */
function standingOf(t, { proof, standing }) {
  if (proof.token === '') return t('sign_in');
  if (!standing) return t('token_checking');
  if (standing.ok) return t('signed_in', { name: proof.name || t('nobody') });
  return t(standing.failure.code === 'unauthenticated' ? 'token_refused' : 'token_unchecked');
}

/** @param {Words} t @param {Api} api @param {(proof: {token: string, name: string}) => void} onProof */
function renderProof(t, api, onProof) {
  const { proof, standing } = api;
  const failure = standing?.ok === false ? standing.failure : undefined;
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const given = new FormData(form);
    onProof({ token: String(given.get('token')).trim(), name: String(given.get('name')).trim() });
    form.closest('details')?.removeAttribute('open');
  };
  return html`<details class="proof" id="proof">
    <summary><span aria-live="polite" class=${failure ? 'tone wrong' : ''}>${standingOf(t, api)}</span></summary>
    <form class="card" @submit=${submit}>
      ${failure && html`<p class="tone wrong">${t.of('failure', failure.code)} ${failure.detail}</p>`}
      <p class="quiet">${t('token_help')}</p>
      <label>${t('token')} <input name="token" type="password" pattern="[!-~]*" title=${t('token_form')} autocomplete="off" spellcheck="false" .value=${proof.token}></label>
      <label>${t('your_name')} <input name="name" autocomplete="username" maxlength="256" .value=${proof.name}></label>
      <p class="row"><button>${t('sign_in')}</button>
        ${proof.token && html`<button type="button" @click=${() => onProof({ token: '', name: '' })}>${t('sign_out')}</button>`}</p>
    </form>
  </details>`;
}

/** @param {Failure | undefined} failure @param {Words} t */
export function renderFailure(failure, t) {
  if (!failure) return nothing;
  const { code, detail, issues } = failure;
  const isOwn = code === 'unreachable' || code === 'cut' || code === 'stopped';
  return html`<div class="card error" role="alert" data-failure=${code}>
    <p><b class="tone">${t.of('failure', code)}</b> ${isOwn ? false : detail}</p>
    ${issues.length > 0 && html`<ul>${issues.map((issue) => html`<li>${issue}</li>`)}</ul>`}
    ${code === 'unauthenticated' && html`<button type="button" @click=${openProof}>${t('sign_in')}</button>`}
  </div>`;
}

function openProof() {
  document.getElementById('proof')?.setAttribute('open', '');
  /** @type {HTMLElement | null} */ (document.querySelector('#proof input'))?.focus();
}

/** A table that may be wider than the screen. @param {string} label @param {readonly string[]} heads @param {unknown} rows */
export const renderTable = (
  label,
  heads,
  rows,
) => html`<div class="scroll" tabindex="0" role="group" aria-label=${label}>
    <table><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table>
  </div>`;

/** Longest shown part of a result, in characters: longer ones are for programs. */
const MAX_SHOWN = 20_000;

/** @param {unknown} output @param {Words} t @param {{title?: string, isOpen?: boolean}} [options] */
export function renderOutput(output, t, { title = t('result'), isOpen = false } = {}) {
  const text = formatJson(output);
  return html`<details ?open=${isOpen}><summary>${title}</summary><pre tabindex="0" data-output>${text.slice(0, MAX_SHOWN)}</pre>
    ${text.length > MAX_SHOWN && html`<p class="quiet">${t('cut_off', { count: formatWhole(MAX_SHOWN) })}</p>`}</details>`;
}

/** Undefined: the text is no JSON object. @param {string} text @returns {Record<string, unknown> | undefined} */
export function parseObject(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
