/** Filters, charts and list together: each is drawn anew only when what it shows has changed. */
import { createCaseList } from './case-list.js';
import { scoreNamesOf } from './cases.js';
import { createCharts } from './charts.js';
import { byId } from './dom.js';
import { filterCases } from './filter.js';
import { createFilterBar } from './filter-bar.js';
import { sortCases } from './sort.js';

/** @import { Case } from './cases.js' */
/** @import { View } from './view-state.js' */

/**
 * @param {Case[]} cases
 * @param {{labelOf(score: string): string, currency: string | undefined, linkTo(one: Case): string, onChange(changes: View): void, onOpen(one: Case): void}} options
 */
export function createExplorer(cases, { labelOf, currency, linkTo, onChange, onOpen }) {
  const scoreNames = scoreNamesOf(cases);
  const usualScore = scoreNames.includes('recall') ? 'recall' : (scoreNames[0] ?? '');
  const hasCost = cases.some(({ cost }) => cost !== null);
  const drawn = /** @type {Map<string, string>} */ (new Map());
  let found = filterCases(cases, {});
  let shown = cases;

  const filters = createFilterBar(byId('filters'), { scoreNames, labelOf, all: found.counts, onChange });
  const charts = createCharts(byId('charts'), { labelOf, onChange });
  const list = createCaseList(byId('list'), {
    linkTo,
    labelOf,
    hasCost,
    currency,
    onOpen,
    onSort: (sort) => onChange({ sort }),
  });

  /** Whether the part was drawn for another value. @param {string} part @param {unknown} value */
  function hasChanged(part, value) {
    const text = JSON.stringify(value);
    const isOther = drawn.get(part) !== text;
    drawn.set(part, text);
    return isOther;
  }

  return {
    /** @param {View} view */
    show(view) {
      const { case: _case, repeat: _repeat, ...wanted } = { ...view, score: view.score ?? usualScore };
      const { sort: _sort, ...filter } = wanted;
      if (hasChanged('filter', filter)) {
        found = filterCases(cases, wanted);
        filters.show(wanted, found.counts, { shown: found.shown.length, total: cases.length });
        charts.show(found.shown, wanted);
      }
      if (hasChanged('list', wanted)) {
        shown = sortCases(found.shown, wanted);
        list.show(shown, wanted);
      }
    },
    /** The cases in view, in the order of the list. */
    shown: () => shown,
    focusSearch: filters.focusSearch,
    mark: list.mark,
    focus: list.focus,
  };
}
