/** The charts of the cases in view: they follow every filter, one frame behind the list, so that typing stays quick. */
import { renderCauses } from './cause-chart.js';
import { element } from './dom.js';
import { drawRecallAtK } from './recall-chart.js';
import { drawQualityAgainstTokens } from './tokens-chart.js';
import { renderVias } from './via-chart.js';

/** @import { Case } from './cases.js' */
/** @import { View } from './view-state.js' */

/** @param {HTMLElement} root @param {{onChange(changes: View): void, labelOf(score: string): string}} options */
export function createCharts(root, { onChange, labelOf }) {
  const causes = createCard('Where failures come from', 'A cause shows its cases.');
  const recall = createCard(
    'Recall at k',
    'Of the needed tools, those among the first k; the bands are 95 % intervals.',
  );
  const vias = createCard('What each way added', 'Tools chosen or added, and how many of them were needed.');
  const tokens = createCard(
    'Quality against tokens',
    'Dots: cases. Circles: means of equally many cases, with 95 % intervals.',
  );
  root.replaceChildren(...[causes, recall, vias, tokens].map(({ card }) => card));
  let last = /** @type {{cases: Case[], view: View} | undefined} */ (undefined);
  let drawn = { last, width: 0 };

  function draw() {
    root.setAttribute('aria-busy', 'false');
    // While a case is open the charts are hidden: they are drawn when they come back.
    if (!last || root.clientWidth === 0) return;
    const { cases, view } = last;
    const label = labelOf(view.score ?? '');
    causes.show(renderCauses(cases, view, onChange));
    recall.show(drawRecallAtK(cases, recall.width()));
    vias.show(renderVias(cases));
    tokens.show(drawQualityAgainstTokens(cases, { width: tokens.width(), scoreName: view.score ?? '', label }));
    tokens.rename(`Quality against tokens: ${label}`);
    drawn = { last, width: root.clientWidth };
  }

  new ResizeObserver(() => {
    if (root.clientWidth !== drawn.width || last !== drawn.last) draw();
  }).observe(root);
  return {
    /** @param {Case[]} cases @param {View} view */
    show(cases, view) {
      const next = { cases, view };
      last = next;
      root.setAttribute('aria-busy', 'true');
      requestAnimationFrame(() => setTimeout(() => last === next && draw()));
    },
  };
}

/** @param {string} title @param {string} note */
function createCard(title, note) {
  const place = element('div', { class: 'plot' });
  const head = element('h3', {}, title);
  const card = element(
    'section',
    { class: 'card chart-card', 'aria-label': title },
    head,
    element('p', { class: 'note' }, note),
    place,
  );
  return {
    card,
    width: () => Math.max(260, place.clientWidth),
    /** @param {string} text */
    rename(text) {
      head.textContent = text;
    },
    /** @param {Node | undefined} content */
    show(content) {
      place.replaceChildren(content ?? element('p', { class: 'empty' }, 'Nothing to draw for these cases.'));
    },
  };
}
