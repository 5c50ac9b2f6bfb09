/** Where failures come from: a bar a cause, which shows its cases. */
import { drawBar } from './bar.js';
import { element } from './dom.js';
import { formatCount, formatName, formatShare, formatWhole } from './format.js';

/** @import { Case } from './cases.js' */
/** @import { View } from './view-state.js' */

const MOST_CAUSES = 9;

/** @param {Case[]} cases @param {View} view @param {(changes: View) => void} onChange */
export function renderCauses(cases, view, onChange) {
  const counts = /** @type {Map<string, {count: number, state: string}>} */ (new Map());
  for (const { cause, state } of cases) {
    if (!cause) continue;
    const known = counts.get(cause) ?? { count: 0, state };
    counts.set(cause, { count: known.count + 1, state: known.state });
  }
  if (counts.size === 0) return undefined;
  const sorted = [...counts].sort(([, a], [, b]) => b.count - a.count);
  const most = sorted[0]?.[1].count ?? 1;
  const rest = sorted.slice(MOST_CAUSES).reduce((sum, [, { count }]) => sum + count, 0);
  return element(
    'ul',
    { class: 'bars' },
    sorted.slice(0, MOST_CAUSES).map(([cause, { count, state }]) =>
      element(
        'li',
        {},
        element(
          'button',
          {
            type: 'button',
            'data-cause': cause,
            'aria-pressed': String(view.cause === cause),
            onclick: () => onChange({ cause: view.cause === cause ? '' : cause }),
          },
          element('span', { class: 'bar-label' }, formatName(cause)),
          drawBar([{ class: `fill-${state}`, share: count / most }]),
          element(
            'span',
            { class: 'bar-value' },
            `${formatWhole(count)} `,
            element('small', {}, formatShare(count / cases.length)),
          ),
        ),
      ),
    ),
    rest > 0 &&
      element(
        'li',
        { class: 'note' },
        `${formatCount(rest, 'case')} of ${formatCount(counts.size - MOST_CAUSES, 'other cause')}: see the filter.`,
      ),
  );
}
