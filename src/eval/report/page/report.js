/** The report: its head, causes, filters and cases. The address holds its view, so that a link shows the same. */
import { nothing, render } from 'lit-html';
import { formatCount, formatDuration, formatName, formatShort, formatWhole, html } from '../../../page/format.js';
import { renderCase } from './case.js';
import { CHANGES, STATES } from './data.js';
import { renderCauses, renderFolded, renderHead } from './summary.js';

/** @import { CaseRow } from '../report-data.ts' */
/** @import { Case, ReportSource, Verdict } from './data.js' */

/** `only`: field:value. @typedef {{q?: string, verdict?: string, cause?: string, only?: string, order?: string, case?: string}} View */

/** Most rows in the document; the browser lays out only visible ones. */
const MOST_ROWS = 5_000;
const ROWS_AT_ONCE = 250;
/** Filters of the list besides the cause. */
const FIELDS = /** @type {const} */ ({
  suite: 'Suite',
  tags: 'Tag',
  lang: 'Language',
  kind: 'Result',
  mode: 'Selection',
});
/** Descending orders; by default, failures come first. @type {Record<string, {label: string, of(row: CaseRow): number}>} */
const ORDERS = {
  run: { label: 'Order of the run', of: () => 0 },
  tokens: { label: 'Most tokens first', of: ({ tokens }) => tokens },
  time: { label: 'Slowest first', of: ({ milliseconds }) => milliseconds },
};

/** Where the view is kept. @typedef {{read(): View, write(view: View): void}} Address */

/**
 * Draws the report into an element.
 * @param {ReportSource} source @param {Case[]} cases @param {{root: HTMLElement, address: Address}} options
 * @returns a function that follows a changed address
 */
export function createReport(source, cases, { root, address }) {
  const { data } = source;
  const verdicts = data.runs.length > 1 ? CHANGES : STATES;
  const rank = new Map(Object.keys(verdicts).map((name, at) => [name, -at]));
  const choices = countChoices(cases);
  const folded = renderFolded(data);
  const head = renderHead(data, cases, verdicts);
  const rowOf = createRows(source, verdicts, (key) => update({ case: key }, { isQuiet: true }));
  let view = address.read();
  let filling = cases;

  /** @param {View} changes An empty text removes a value. @param {{isQuiet?: boolean}} [options] isQuiet: the list stays. */
  function update(changes, { isQuiet = false } = {}) {
    view = Object.fromEntries(Object.entries({ ...view, ...changes }).filter(([, value]) => value));
    address.write(view);
    if (!isQuiet) show();
  }

  function show() {
    const others = findCases(cases, { ...view, cause: '' });
    const shown = view.cause ? findCases(others, { cause: view.cause }) : others;
    const { of } = ORDERS[view.order ?? ''] ?? {};
    const sorted = shown.toSorted((one, other) =>
      of ? of(other.row) - of(one.row) : (rank.get(other.verdict) ?? 0) - (rank.get(one.verdict) ?? 0),
    );
    render(
      html`${head}
        <section aria-labelledby="why"><h2 id="why">Why cases failed</h2>
          ${renderCauses(others, { runs: data.runs.length, chosen: view.cause, onChoose: (cause) => update({ cause }) })}</section>
        ${folded}
        <h2>Cases</h2>
        <search class="row">${renderFilters(choices, { view, update, verdicts })}</search>
        <p role="status" class="quiet">${formatWhole(shown.length)} of ${formatCount(cases.length, 'case')}${shown.length > MOST_ROWS && `, the first ${formatWhole(MOST_ROWS)} are listed`}${shown.length === 0 && ': none fits these filters'}.
          ${view.case && !findNamed() && `This report holds no case ${view.case}.`}</p>
        <ol id="list" @keydown=${moveByArrow}></ol>`,
      root,
    );
    fill(sorted.slice(0, MOST_ROWS));
  }

  /** Shows the first rows, up to the case in the address, at once, and the others later. @param {Case[]} sorted */
  function fill(sorted) {
    const list = root.querySelector('#list');
    const named = findNamed();
    filling = sorted;
    list?.replaceChildren();
    const add = (/** @type {number} */ from, /** @type {number} */ to) => {
      if (filling !== sorted || from >= sorted.length) return;
      list?.append(...sorted.slice(from, to).map(rowOf));
      setTimeout(() => add(to, to + ROWS_AT_ONCE));
    };
    add(0, Math.max(ROWS_AT_ONCE, named ? sorted.indexOf(named) + 1 : 0));
  }

  const findNamed = () => cases.find(({ key }) => key === view.case) ?? cases.find(({ row }) => row.id === view.case);

  function open() {
    const one = findNamed();
    const row = one && rowOf(one);
    row?.querySelector('details')?.setAttribute('open', '');
    row?.scrollIntoView();
    // Scrolls again after layout, since row heights are estimates before.
    requestAnimationFrame(() => row?.scrollIntoView());
  }

  function follow() {
    view = address.read();
    show();
    open();
  }
  follow();
  return follow;
}

/** @param {Case[]} cases @param {View} view */
function findCases(cases, { q = '', verdict, cause, only = '' }) {
  const terms = [...q.toLowerCase().matchAll(/"([^"]+)"|(\S+)/gu)].map(([, phrase, word]) => phrase ?? word ?? '');
  const [, field = '', value = ''] = /^(\w+):(.*)$/su.exec(only) ?? [];
  return cases.filter(
    (one) =>
      (!verdict || verdict.split(',').includes(one.verdict)) &&
      (!cause || one.rows.some((row) => row?.cause === cause)) &&
      (!field || one.rows.some((row) => row && valuesOf(row, field).includes(value))) &&
      terms.every((term) => wordsOf(one).includes(term)),
  );
}

/** @param {CaseRow} row @param {string} field @returns {string[]} */
const valuesOf = (row, field) => [(field in FIELDS && row[/** @type {keyof typeof FIELDS} */ (field)]) || []].flat();

/** Searchable words, cached. @param {Case} one */
function wordsOf(one) {
  const words = (/** @type {CaseRow | undefined} */ row) =>
    row
      ? [row.id, row.query, row.cause, ...row.tools, ...Object.keys(FIELDS).flatMap((field) => valuesOf(row, field))]
      : [];
  one.words ??= one.rows.flatMap(words).join('\n').toLowerCase();
  return one.words;
}

/** Counts cases by verdict and by values of fields. @param {Case[]} cases */
function countChoices(cases) {
  /** @param {(one: Case) => string[]} of */
  const count = (of) => {
    const counts = /** @type {Map<string, number>} */ (new Map());
    for (const one of cases) for (const value of of(one)) counts.set(value, (counts.get(value) ?? 0) + 1);
    return [...counts].sort(([, one], [, other]) => other - one);
  };
  const fields = Object.entries(FIELDS).map(([field, label]) => ({
    field,
    label,
    values: count(({ row }) => valuesOf(row, field)),
  }));
  return {
    fields: fields.filter(({ values }) => values.length > 1),
    verdicts: new Map(count(({ verdict }) => [verdict])),
  };
}

/** @param {ReturnType<typeof countChoices>} choices @param {{view: View, update(changes: View): void, verdicts: Record<string, Verdict>}} options */
function renderFilters(choices, { view, update, verdicts }) {
  const chosen = view.verdict?.split(',') ?? [];
  /** @param {string} name */
  const toggled = (name) =>
    (chosen.includes(name) ? chosen.filter((other) => other !== name) : [...chosen, name]).join(',');
  /** Updates the part of the view that the control is named after. @param {Event & {target: HTMLInputElement}} event */
  const change = ({ target }) => update({ [target.name]: target.value });
  /** @param {string} name @param {string} value @param {string} label */
  const option = (name, value, label) =>
    html`<option value=${value} .selected=${(view[/** @type {keyof View} */ (name)] ?? '') === value}>${label}</option>`;
  return html`<input type="search" name="q" aria-label="Search in requests, tools, tags and ids" placeholder="Search in requests, tools, tags, ids" .value=${view.q ?? ''} @input=${change}>
    <select name="only" aria-label="Narrow the list" @change=${change}>${option('only', '', 'All kinds of cases')}
      ${choices.fields.map(({ field, label, values }) => html`<optgroup label=${label}>${values.map(([value, count]) => option('only', `${field}:${value}`, `${value} (${formatWhole(count)})`))}</optgroup>`)}</select>
    <select name="order" aria-label="Order of the list" @change=${change}>${option('order', '', 'What failed first')}${Object.entries(ORDERS).map(([name, { label }]) => option('order', name, label))}</select>
    ${Object.entries(verdicts).map(
      ([name, { word, sign, tone }]) =>
        choices.verdicts.has(name) &&
        html`<button type="button" class=${tone} data-verdict=${name} aria-pressed=${String(chosen.includes(name))} @click=${() => update({ verdict: toggled(name) })}>
      <b class="tone" aria-hidden="true">${sign}</b> ${word} <small>${formatWhole(choices.verdicts.get(name))}</small></button>`,
    )}
    ${Object.keys(view).some((key) => key !== 'case') && html`<button type="button" data-clear @click=${() => update({ q: '', only: '', order: '', verdict: '', cause: '' })}>Clear all${view.cause && `: ${formatName(view.cause)}`}</button>`}`;
}

/**
 * Caches the element of each case, so that open ones stay open whatever the list shows.
 * @param {ReportSource} source @param {Record<string, Verdict>} verdicts @param {(key: string) => void} onOpen
 */
function createRows(source, verdicts, onOpen) {
  const made = /** @type {Map<Case, HTMLElement>} */ (new Map());
  /** @param {Case} one @param {HTMLDetailsElement} details */
  async function toggle(one, details) {
    const place = details.querySelector('div');
    if (details.open) onOpen(one.key);
    if (details.open && place?.childElementCount === 0) render(await renderCase(one, source), place);
  }
  return (/** @type {Case} */ one) => {
    const element = made.get(one) ?? document.createElement('li');
    if (made.has(one)) return element;
    const { row, rows, verdict } = one;
    const { sign = '', word = '', tone = '' } = verdicts[verdict] ?? {};
    const causes = new Set(rows.flatMap((result) => (result?.cause ? formatName(result.cause) : [])));
    const facts = `${row.id}${row.repeat > 0 ? ` #${row.repeat + 1}` : ''} · ${formatShort(row.tokens)} tokens · ${formatDuration(row.milliseconds)}`;
    element.dataset.case = row.id;
    element.className = tone;
    render(
      // Keeps nodes few for thousands of rows: no blanks between elements, and texts as properties.
      html`<details @toggle=${(/** @type {Event & {target: HTMLDetailsElement}} */ { target }) => toggle(one, target)}><summary><b class="tone" role="img" aria-label=${word} .textContent=${sign}></b><span class="query" lang=${row.lang ?? nothing} .textContent=${row.query}></span><b class="tone" .textContent=${[...causes].join(' → ')}></b><small .textContent=${facts}></small></summary><div class="case"></div></details>`,
      element,
    );
    made.set(one, element);
    return element;
  };
}

/** Arrow keys move between cases. @param {KeyboardEvent} event */
function moveByArrow(event) {
  const row =
    event.target instanceof Element &&
    event.target.matches('#list > li > details > summary') &&
    event.target.closest('li');
  if (!row || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return;
  event.preventDefault();
  (event.key === 'ArrowDown' ? row.nextElementSibling : row.previousElementSibling)?.querySelector('summary')?.focus();
}
