/** Rows of a table of any length: only those in sight are in the document, between two spacers as high as all others. */
import { element } from './dom.js';

/** Rows kept ready above and below the window. */
const SPARE_ROWS = 12;

/**
 * @param {HTMLTableSectionElement} body
 * @param {{columns: number, rowHeight(): number, renderRow(at: number): HTMLTableRowElement}} options `rowHeight`: in pixels, of every row.
 */
export function createRowWindow(body, { columns, rowHeight, renderRow }) {
  const rows = /** @type {Map<number, HTMLTableRowElement>} */ (new Map());
  const [above, below] = [createSpacer(columns), createSpacer(columns)];
  let count = 0;
  body.replaceChildren(above.row, below.row);

  /** Puts the rows from `first` to before `last` into the document; those that are there stay, with their focus. @param {number} first @param {number} last */
  function showRange(first, last) {
    for (const [at, row] of rows) {
      if (at >= first && at < last) continue;
      row.remove();
      rows.delete(at);
    }
    let next = below.row;
    for (let at = last - 1; at >= first; at -= 1) {
      const known = rows.get(at);
      const row = known ?? renderRow(at);
      if (!known) {
        rows.set(at, row);
        body.insertBefore(row, next);
      }
      next = row;
    }
    above.setHeight(first * rowHeight());
    below.setHeight((count - last) * rowHeight());
  }

  function showInSight() {
    const top = -body.getBoundingClientRect().top;
    const first = Math.min(count, Math.max(0, Math.floor(top / rowHeight()) - SPARE_ROWS));
    const last = Math.ceil((top + innerHeight) / rowHeight()) + SPARE_ROWS;
    // Rows are ready, too, when the list itself is not in sight yet.
    showRange(first, Math.min(count, Math.max(last, first + 2 * SPARE_ROWS)));
  }

  let isWaiting = false;
  function showSoon() {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      showInSight();
    });
  }
  addEventListener('scroll', showSoon, { passive: true });
  addEventListener('resize', showSoon);

  return {
    showInSight,
    /** Every row anew. @param {number} newCount */
    redraw(newCount) {
      count = newCount;
      for (const row of rows.values()) row.remove();
      rows.clear();
      showInSight();
    },
    /** Scrolls a row that is not between `top` and the lower edge of the window to its middle. @param {number} at @param {{top: number}} options */
    bringIntoSight(at, { top }) {
      const place = body.getBoundingClientRect().top + at * rowHeight();
      if (place >= top && place <= innerHeight - rowHeight()) return;
      scrollBy({ top: place - innerHeight / 2, behavior: 'instant' });
      showInSight();
    },
    /** @param {number} at */
    rowAt: (at) => rows.get(at),
    /** For paper: the first rows and no spacers, whatever is in sight. @param {number} most @returns {number} The rows shown. */
    showFirst(most) {
      const last = Math.min(most, count);
      showRange(0, last);
      below.setHeight(0);
      return last;
    },
  };
}

/** @param {number} columns */
function createSpacer(columns) {
  const cell = element('td', { colspan: columns });
  return {
    row: element('tr', { class: 'spacer', 'aria-hidden': 'true' }, cell),
    /** @param {number} height */
    setHeight(height) {
      cell.style.height = `${height}px`;
    },
  };
}
