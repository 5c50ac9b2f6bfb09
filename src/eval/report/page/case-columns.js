/** The columns of the list: what a row shows of a case, and in which direction a column sorts first. */
import { scoreOf } from './cases.js';
import { element } from './dom.js';
import { formatCost, formatDuration, formatName, formatScore, formatShort } from './format.js';
import { STATES } from './states.js';

/** @import { Case } from './cases.js' */

/** A row has room for less; the whole request stands in the opened case. */
const QUERY_CHARACTERS = 300;

/** @typedef {{name: string, label: string, class: string, render(one: Case): Node | string, isDownFirst?: boolean}} Column */

/**
 * @param {{linkTo(one: Case): string, hasCost: boolean, currency: string | undefined, scoreName(): string}} options
 * @returns {Column[]}
 */
export function columnsOf({ linkTo, hasCost, currency, scoreName }) {
  return [
    {
      name: 'state',
      label: 'Outcome',
      class: 'state',
      render: ({ state }) =>
        element(
          'span',
          { class: `sign ${state}`, title: STATES[state].word },
          element('span', { 'aria-hidden': 'true' }, STATES[state].sign),
          element('span', { class: 'hidden' }, STATES[state].word),
        ),
    },
    {
      name: 'id',
      label: 'Case',
      class: 'id',
      render: (one) =>
        element(
          'a',
          { href: linkTo(one), title: one.id },
          one.id,
          one.repeat > 0 && element('small', {}, ` #${one.repeat + 1}`),
        ),
    },
    {
      name: 'query',
      label: 'Request',
      class: 'query',
      render: ({ query, lang }) => element('span', { lang }, query.slice(0, QUERY_CHARACTERS)),
    },
    {
      name: 'cause',
      label: 'Cause',
      class: 'cause',
      render: ({ cause, state }) => (cause ? element('span', { class: `badge ${state}` }, formatName(cause)) : ''),
    },
    {
      name: 'score',
      label: 'Score',
      class: 'number score',
      isDownFirst: false,
      render: (one) => formatScore(scoreOf(one, scoreName())),
    },
    {
      name: 'tokens',
      label: 'Tokens',
      class: 'number tokens',
      isDownFirst: true,
      render: ({ tokens }) => formatShort(tokens),
    },
    {
      name: 'time',
      label: 'Time',
      class: 'number time',
      isDownFirst: true,
      render: ({ milliseconds }) => formatDuration(milliseconds),
    },
    ...(hasCost
      ? [
          {
            name: 'cost',
            label: 'Cost',
            class: 'number cost',
            isDownFirst: true,
            render: (/** @type {Case} */ { cost }) => formatCost(cost, currency),
          },
        ]
      : []),
  ];
}

/** A column's own direction first, then the other, then the order of the run. @param {string | undefined} sort @param {Column} column */
export function nextSort(sort, { name, isDownFirst }) {
  const [first, second] = isDownFirst ? [`-${name}`, name] : [name, `-${name}`];
  if (sort === first) return second;
  return sort === second ? '' : first;
}
