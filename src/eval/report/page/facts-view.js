/** What the case cost: tokens of each stage, schemas, money, and where the time went. */
import { drawing, element, section } from './dom.js';
import { formatCost, formatDuration, formatShare, formatWhole } from './format.js';

/** @import { CaseRecord } from '../../record.ts' */

const COLUMNS = /** @type {const} */ (['calls', 'read', 'cached', 'written']);

/** @param {CaseRecord} record @param {string | undefined} currency */
export function renderFacts({ usage, cost, milliseconds, calls }, currency) {
  const { selection, planning, schemaTokens } = usage;
  const all = Object.fromEntries(COLUMNS.map((name) => [name, selection[name] + planning[name]]));
  const rows = [
    { name: 'selection', values: /** @type {Record<string, number>} */ (selection) },
    { name: 'planning', values: /** @type {Record<string, number>} */ (planning) },
    { name: 'both', values: all },
  ];
  const saved =
    schemaTokens.all > 0
      ? ` of ${formatWhole(schemaTokens.all)} tokens (${formatShare(1 - schemaTokens.loaded / schemaTokens.all)} less)`
      : ' tokens';
  return section(
    'Cost',
    'cost',
    drawTimes(calls, milliseconds),
    element(
      'dl',
      { class: 'facts' },
      [
        ['Time', formatDuration(milliseconds.total)],
        ['Schemas loaded', `${formatWhole(schemaTokens.loaded)}${saved}`],
        ...(cost === undefined ? [] : [['Price', formatCost(cost, currency)]]),
      ].map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
    ),
    element(
      'table',
      { class: 'usage' },
      element('caption', {}, 'Tokens'),
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          ['Stage', ...COLUMNS].map((head) => element('th', { scope: 'col' }, head)),
        ),
      ),
      element(
        'tbody',
        {},
        rows.map(({ name, values }) =>
          element(
            'tr',
            {},
            element('th', { scope: 'row' }, name),
            COLUMNS.map((column) => element('td', { class: 'number' }, formatWhole(values[column]))),
          ),
        ),
      ),
    ),
  );
}

/** The calls one after another, and what is left: Winnow's own work and waiting. @param {CaseRecord['calls']} calls @param {CaseRecord['milliseconds']} milliseconds */
function drawTimes(calls, { total }) {
  const asked = calls.reduce((sum, call) => sum + call.milliseconds, 0);
  const whole = Math.max(total, asked, 1);
  const parts = [
    ...calls.map((call, at) => ({ name: `call ${at + 1}, ${call.stage}`, stage: call.stage, time: call.milliseconds })),
    { name: 'all else', stage: 'rest', time: whole - asked },
  ];
  let left = 0;
  const bars = parts.map(({ name, stage, time }) => {
    left += time;
    return drawing(
      'rect',
      { class: `time ${stage}`, x: `${(100 * (left - time)) / whole}%`, width: `${(100 * time) / whole}%`, height: 14 },
      drawing('title', {}, `${name}: ${formatDuration(time)}`),
    );
  });
  const label = parts.map(({ name, time }) => `${name}: ${formatDuration(time)}`).join('; ');
  return element(
    'figure',
    { class: 'times' },
    drawing('svg', { role: 'img', 'aria-label': `Where the time went. ${label}`, width: '100%', height: 14 }, bars),
    element('figcaption', { class: 'note' }, label),
  );
}
