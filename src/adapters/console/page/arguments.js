/** Arguments of a call: each with its value and its source; if it differs from last time, also the earlier value. */
import { diffWordsWithSpace } from 'diff';
import { html } from '../../../page/format.js';

/** @import { Words } from './words.js' */

/** Sources of values that no person gave literally. */
const DOUBTED = ['unknown', 'composed'];

/**
 * @param {Record<string, unknown>} values
 * @param {object} options
 * @param {Words} options.t
 * @param {(name: string) => string | undefined} options.sourceOf
 * @param {readonly {argument: string, before?: unknown, now?: unknown}[]} [options.differences]
 */
export function renderArguments(values, { t, sourceOf, differences = [] }) {
  const gone = differences.filter(({ argument }) => !Object.hasOwn(values, argument));
  const names = [...Object.keys(values), ...gone.map(({ argument }) => argument)];
  if (names.length === 0) return html`<p class="quiet">${t('no_arguments')}</p>`;
  return html`<ul>${names.map((name) => {
    const source = sourceOf(name);
    const difference = differences.find(({ argument }) => argument === name);
    const isThere = Object.hasOwn(values, name);
    return html`<li class="row argument" data-argument=${name}>
      <code>${name}</code>
      <span data-side="now">${isThere ? html`<code class="value">${textOf(values[name])}</code>` : html`<i>${t('left_out')}</i>`}</span>
      ${isThere && source !== undefined && html`<span data-from=${source}><small>${t('from')}</small> <span class="badge ${DOUBTED.includes(source) ? 'extra' : ''}">${t.of('source', source)}</span></span>`}
      ${difference && html`<span class="tone extra" data-differs>${t('last_time')} ${'before' in difference ? renderDifference(difference.before, difference.now) : html`<i>${t('left_out')}</i>`}</span>`}
    </li>`;
  })}</ul>`;
}

/** Comparing takes quadratic time in the differences, and every redraw does it. */
const MAX_WORK = { maxEditLength: 200, timeout: 20 };

/** Two values as texts, compared by words; shown whole if that takes too long. @param {unknown} before @param {unknown} now */
export function renderDifference(before, now) {
  const [one, other] = [before, now].map((value) => textOf(value, 2));
  const parts = diffWordsWithSpace(one ?? '', other ?? '', MAX_WORK) ?? [
    { value: one, added: false, removed: true },
    { value: other, added: true, removed: false },
  ];
  return html`<code class="value">${parts.map(({ value, added, removed }) =>
    added ? html`<ins>${value}</ins>` : removed ? html`<del>${value}</del>` : value,
  )}</code>`;
}

/** A text has no quotation marks unless it could be mistaken for another value. @param {unknown} value @param {number} [indent] */
function textOf(value, indent) {
  const isPlain = typeof value === 'string' && value.trim() === value && value !== '' && !isJson(value);
  return isPlain ? value : (JSON.stringify(value, null, indent) ?? '');
}

/** @param {string} text */
function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
