/** The order of the list. */
import { scoreOf } from './cases.js';

/** @import { Case } from './cases.js' */
/** @import { View } from './view-state.js' */

const STATE_ORDER = { error: 0, wrong: 1, unjudged: 2, right: 3 };
const compareText = new Intl.Collator(undefined, { numeric: true }).compare;

/** @type {Record<string, (one: Case) => number | string | null>} */
const SORT_KEYS = {
  state: ({ state }) => STATE_ORDER[state],
  id: ({ id }) => id,
  query: ({ query }) => query,
  cause: ({ cause }) => cause ?? null,
  tokens: ({ tokens }) => tokens,
  time: ({ milliseconds }) => milliseconds,
  cost: ({ cost }) => cost,
};

/** Cases without a value come last in either direction; equal ones stay in the order of the run. @param {Case[]} cases @param {View} view */
export function sortCases(cases, { sort, score }) {
  if (!sort) return cases;
  const isDown = sort.startsWith('-');
  const column = isDown ? sort.slice(1) : sort;
  const key = column === 'score' ? (/** @type {Case} */ one) => scoreOf(one, score ?? '') : SORT_KEYS[column];
  if (!key) return cases;
  const sign = isDown ? -1 : 1;
  const keyed = cases.map((one) => ({ one, value: key(one) }));
  keyed.sort((a, b) => {
    if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
    if (typeof a.value === 'string' && typeof b.value === 'string') return sign * compareText(a.value, b.value);
    return sign * (Number(a.value) - Number(b.value));
  });
  return keyed.map(({ one }) => one);
}
