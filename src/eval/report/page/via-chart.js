/** What each way into the list of tools added, and how much of it was needed. */
import { drawBar } from './bar.js';
import { element } from './dom.js';
import { formatShare, formatWhole } from './format.js';

/** @import { Case } from './cases.js' */

/** @type {Record<string, string>} */
const VIA_WORDS = {
  model: 'named by the model',
  rule: 'by rule',
  producer: 'producers',
  companion: 'companions',
  always: 'always on',
  required: 'required by the caller',
  keyword: 'keyword matches',
  all: 'all tools taken',
};

/** Per way into the list of tools: tools handed on, those needed, and which part of all needed tools they are. @param {Case[]} cases */
function countVias(cases) {
  const counts = /** @type {Map<string, {needed: number, all: number}>} */ (new Map());
  let expectedCount = 0;
  for (const { expected, got, state } of cases) {
    if (state === 'error') continue;
    const needed = new Set(expected);
    expectedCount += needed.size;
    for (const { name, via } of got) {
      const count = counts.get(via) ?? { needed: 0, all: 0 };
      counts.set(via, { needed: count.needed + Number(needed.delete(name)), all: count.all + 1 });
    }
  }
  return { expectedCount, vias: [...counts].sort(([, a], [, b]) => b.needed - a.needed || b.all - a.all) };
}

/** @param {Case[]} cases */
export function renderVias(cases) {
  const { vias, expectedCount } = countVias(cases);
  if (vias.length === 0) return undefined;
  const most = Math.max(...vias.map(([, { all }]) => all));
  return element(
    'div',
    {},
    element(
      'ul',
      { class: 'bars vias' },
      vias.map(([via, { needed, all }]) =>
        element(
          'li',
          { 'data-via': via },
          element('span', { class: 'bar-label' }, VIA_WORDS[via] ?? via),
          drawBar([
            { class: 'fill-right', share: needed / most },
            { class: 'fill-rest', share: (all - needed) / most },
          ]),
          element(
            'span',
            { class: 'bar-value' },
            `${formatWhole(needed)} of ${formatWhole(all)} `,
            element('small', {}, expectedCount > 0 && `${formatShare(needed / expectedCount)} of all needed`),
          ),
        ),
      ),
    ),
    element(
      'p',
      { class: 'legend' },
      element('span', { class: 'swatch fill-right' }),
      'needed ',
      element('span', { class: 'swatch fill-rest' }),
      'not needed',
    ),
  );
}
