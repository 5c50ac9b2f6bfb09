/** The list of cases: a table that sorts by its heads, opens a case at a click and marks the current one. */
import { columnsOf, nextSort } from './case-columns.js';
import { byId, element } from './dom.js';
import { formatWhole } from './format.js';
import { createRowWindow } from './row-window.js';

/** @import { Case } from './cases.js' */
/** @import { View } from './view-state.js' */

/** The heights that cases.css gives the rows, in pixels. */
const ROW_HEIGHT = { wide: 44, narrow: 84 };
/** Up to this width of the list, in pixels, a row is a card. */
const NARROW_WIDTH = 640;
/** Rows of the list on paper. */
const PRINTED_ROWS = 500;

/**
 * @param {HTMLElement} root
 * @param {{linkTo(one: Case): string, labelOf(score: string): string, hasCost: boolean, currency: string | undefined, onOpen(one: Case): void, onSort(sort: string): void}} options
 */
export function createCaseList(root, { linkTo, labelOf, hasCost, currency, onOpen, onSort }) {
  let shown = /** @type {Case[]} */ ([]);
  let view = /** @type {View} */ ({});
  let current = /** @type {Case | undefined} */ (undefined);
  let isNarrow = false;
  const columns = columnsOf({ linkTo, hasCost, currency, scoreName: () => view.score ?? '' });
  const heads = columns.map((column) => {
    const button = element(
      'button',
      { type: 'button', onclick: () => onSort(nextSort(view.sort, column)) },
      column.label,
    );
    return { column, button, head: element('th', { scope: 'col', class: column.class }, button) };
  });
  const body = element('tbody');
  const head = element(
    'thead',
    {},
    element(
      'tr',
      {},
      heads.map((one) => one.head),
    ),
  );
  const table = element('table', { class: 'cases' }, element('caption', { class: 'hidden' }, 'Cases'), head, body);
  const empty = element('p', { class: 'empty', hidden: true }, 'No case fits these filters.');
  const printed = element('p', { class: 'on-paper note' });
  root.replaceChildren(table, empty, printed);
  const rows = createRowWindow(body, {
    columns: columns.length,
    rowHeight: () => (isNarrow ? ROW_HEIGHT.narrow : ROW_HEIGHT.wide),
    renderRow,
  });

  /** @param {number} at */
  function renderRow(at) {
    const one = shown[at];
    const isCurrent = one !== undefined && one === current;
    const attributes = {
      'data-at': at,
      'data-case': one?.id,
      'aria-rowindex': at + 2,
      class: isCurrent ? 'current' : '',
      'aria-current': isCurrent && 'true',
    };
    return element(
      'tr',
      attributes,
      columns.map((column) => element('td', { class: column.class }, one ? column.render(one) : '')),
    );
  }

  function redraw() {
    isNarrow = root.offsetWidth <= NARROW_WIDTH;
    rows.redraw(shown.length);
  }

  new ResizeObserver(() => {
    if (isNarrow !== root.offsetWidth <= NARROW_WIDTH) redraw();
  }).observe(root);

  body.addEventListener('click', (event) => {
    const row = event.target instanceof Element ? event.target.closest('tr[data-at]') : null;
    const one = row ? shown[Number(row.getAttribute('data-at'))] : undefined;
    // A click on the link with a key held opens another tab, as anywhere.
    if (!one || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onOpen(one);
  });
  addEventListener('beforeprint', () => {
    const count = rows.showFirst(PRINTED_ROWS);
    printed.textContent =
      count < shown.length ? `The first ${formatWhole(count)} of ${formatWhole(shown.length)} results.` : '';
  });
  addEventListener('afterprint', rows.showInSight);

  return {
    /** @param {Case[]} cases @param {View} newView */
    show(cases, newView) {
      [shown, view] = [cases, newView];
      table.setAttribute('aria-rowcount', String(cases.length + 1));
      for (const { column, button, head: cell } of heads) {
        setDirection(cell, column.name, view.sort);
        if (column.name === 'score') button.textContent = labelOf(view.score ?? '');
      }
      empty.hidden = cases.length > 0;
      table.hidden = cases.length === 0;
      redraw();
    },
    /** Marks a case and brings its row into sight. @param {Case} one */
    mark(one) {
      current = one;
      redraw();
      const at = shown.indexOf(one);
      // Under the filters, which stay on top.
      if (at >= 0) rows.bringIntoSight(at, { top: Math.max(0, byId('filters').getBoundingClientRect().bottom) });
    },
    /** @param {Case} one */
    focus(one) {
      rows.rowAt(shown.indexOf(one))?.querySelector('a')?.focus({ preventScroll: true });
    },
  };
}

/** @param {Element} cell @param {string} name @param {string | undefined} sort */
function setDirection(cell, name, sort) {
  if (sort === name) cell.setAttribute('aria-sort', 'ascending');
  else if (sort === `-${name}`) cell.setAttribute('aria-sort', 'descending');
  else cell.removeAttribute('aria-sort');
}
