/** The tools that were needed beside those that were handed on, each marked. */
import { element, section } from './dom.js';
import { formatName, formatShare, formatWhole } from './format.js';

/** @import { CaseRecord } from '../../record.ts' */

const MARKS = { hit: '✓', missing: '✗', extra: '+' };
const MARK_WORDS = { hit: 'needed and there', missing: 'needed but missing', extra: 'not needed' };

/** @param {CaseRecord} record @param {string[]} expected The set of tools that the case is compared with. */
export function renderTools({ expected: { tools, alternatives = [] }, selection, rung }, expected) {
  const got = selection?.tools ?? [];
  const gotNames = new Set(got.map(({ name }) => name));
  const needed = new Set(expected);
  const others = [tools, ...alternatives].filter((set) => set.join('\n') !== expected.join('\n'));
  return section(
    'Tools',
    'tools',
    element(
      'div',
      { class: 'sides' },
      element(
        'div',
        { class: 'side' },
        element('h4', {}, 'Expected'),
        element(
          'ul',
          { class: 'tool-list' },
          expected.map((name) => renderTool(name, gotNames.has(name) ? 'hit' : 'missing')),
        ),
        expected.length === 0 && element('p', { class: 'muted' }, 'No tool fits: the right choice is none.'),
        others.length > 0 &&
          element(
            'details',
            {},
            element('summary', {}, `${others.length} other accepted ${others.length === 1 ? 'set' : 'sets'}`),
            element(
              'ul',
              {},
              others.map((set) => element('li', {}, set.join(', ') || 'no tool')),
            ),
          ),
      ),
      element(
        'div',
        { class: 'side' },
        element(
          'h4',
          {},
          'Got',
          selection && selection.mode !== 'selected' && element('span', { class: 'badge' }, selection.mode),
          rung && element('span', { class: 'why' }, `summaries: ${formatName(rung)}`),
        ),
        element(
          'ol',
          { class: 'tool-list' },
          got.map((tool) => renderTool(tool.name, needed.has(tool.name) ? 'hit' : 'extra', renderWhy(tool))),
        ),
        got.length === 0 &&
          element('p', { class: 'muted' }, selection ? 'No tool was chosen.' : 'There was no selection.'),
      ),
    ),
    selection?.reason &&
      element('p', { class: 'reason' }, element('span', { class: 'muted' }, 'Reason: '), selection.reason),
    selection &&
      selection.leftOut > 0 &&
      element('p', { class: 'muted' }, `${formatWhole(selection.leftOut)} visible tools did not fit.`),
    selection && selection.dropped.length > 0 && renderDropped(selection.dropped, needed),
  );
}

/** @param {string} name @param {'hit' | 'missing' | 'extra'} mark @param {...(Node | string | false | null)} why */
function renderTool(name, mark, ...why) {
  return element(
    'li',
    { class: mark, 'data-tool': name, 'data-mark': mark },
    element('span', { class: 'mark', 'aria-hidden': 'true' }, MARKS[mark]),
    element('code', {}, name),
    element('span', { class: 'hidden' }, `, ${MARK_WORDS[mark]}`),
    ...why,
  );
}

/** @param {import('../../../core/result.ts').SelectedTool} tool */
function renderWhy({ via, rank, probability, fill, serves }) {
  const facts = [
    fill ? `${via}, fill` : via,
    serves && `for ${serves}`,
    rank !== undefined && `#${rank}`,
    probability !== undefined && formatShare(probability),
  ];
  return element('span', { class: 'why' }, facts.filter(Boolean).join(' · '));
}

/** @param {import('../../../core/result.ts').Dropped[]} dropped @param {Set<string>} needed */
function renderDropped(dropped, needed) {
  return element(
    'div',
    { class: 'dropped' },
    element('h4', {}, 'Dropped'),
    element(
      'ul',
      {},
      dropped.map(({ name, reason, suggestion }) =>
        element(
          'li',
          { class: needed.has(name) ? 'missing' : '' },
          element('code', {}, name),
          ` ${formatName(reason)}`,
          needed.has(name) && ' (it was needed)',
          suggestion && ` · near: ${suggestion}`,
        ),
      ),
    ),
  );
}
