/** The opened case: beside the list where there is room, over it on a phone. What was asked for last is what is shown. */
import { renderCase } from './case-view.js';
import { createCaseReader } from './data.js';
import { element } from './dom.js';
import { formatName, formatWhole } from './format.js';
import { STATES } from './states.js';

/** @import { Case } from './cases.js' */
/** @import { BetterOf } from './case-view.js' */

/**
 * @param {HTMLElement} root
 * @param {{currency: string | undefined, labelOf(score: string): string, betterOf: BetterOf, linkTo(one: Case): string, repeatsOf(one: Case): Case[], onOpen(one: Case): void, onMove(by: number): void, onClose(): void}} options
 */
export function createCasePanel(root, { currency, labelOf, betterOf, linkTo, repeatsOf, onOpen, onMove, onClose }) {
  const reader = createCaseReader();
  let wanted = /** @type {Case | undefined} */ (undefined);

  /** @param {boolean} isOpen */
  function setOpen(isOpen) {
    root.hidden = !isOpen;
    document.documentElement.classList.toggle('case-open', isOpen);
  }

  /** @param {(Node | false)[]} content */
  function fillWith(...content) {
    root.replaceChildren(...content.filter((part) => part !== false));
    root.scrollTop = 0;
  }

  /** @param {Case} one @param {{at: number, count: number}} place */
  function renderHead(one, { at, count }) {
    const others = repeatsOf(one);
    return element(
      'header',
      { class: 'case-head' },
      element(
        'div',
        { class: 'case-title' },
        element('h2', {}, one.id),
        element('span', { class: `badge ${one.state}`, title: STATES[one.state].note }, STATES[one.state].word),
        one.cause && element('span', { class: `badge ${one.state} cause` }, formatName(one.cause)),
        element(
          'span',
          { class: 'tags' },
          one.tags.map((tag) => element('span', { class: 'tag' }, tag)),
        ),
      ),
      element(
        'div',
        { class: 'case-moves' },
        element(
          'span',
          { class: 'muted position' },
          at < 0 ? 'not in the list' : `${formatWhole(at + 1)} of ${formatWhole(count)}`,
        ),
        element(
          'button',
          { type: 'button', 'aria-label': 'Previous case', title: 'Previous case (k)', onclick: () => onMove(-1) },
          '↑',
        ),
        element(
          'button',
          { type: 'button', 'aria-label': 'Next case', title: 'Next case (j)', onclick: () => onMove(1) },
          '↓',
        ),
        element('a', { href: linkTo(one), class: 'button', title: 'A link to this case alone' }, 'Link'),
        element(
          'button',
          { type: 'button', 'aria-label': 'Close', title: 'Close (Esc)', class: 'close', onclick: onClose },
          '×',
        ),
      ),
      others.length > 1 && renderRepeats(others, one),
    );
  }

  /** @param {Case[]} repeats @param {Case} one */
  function renderRepeats(repeats, one) {
    const buttons = repeats.map((other) =>
      element(
        'button',
        {
          type: 'button',
          class: `chip ${other.state}`,
          'aria-pressed': String(other === one),
          onclick: () => onOpen(other),
        },
        `${other.repeat + 1}: ${STATES[other.state].word}`,
      ),
    );
    return element(
      'div',
      { class: 'repeats', role: 'group', 'aria-label': 'Repeats of the case' },
      element('span', { class: 'muted' }, 'Repeats'),
      buttons,
    );
  }

  return {
    isOpen: () => !root.hidden,
    hide() {
      wanted = undefined;
      setOpen(false);
    },
    /** @param {string} id */
    showMissing(id) {
      wanted = undefined;
      setOpen(true);
      fillWith(
        element(
          'header',
          { class: 'case-head' },
          element('h2', {}, id),
          element('button', { type: 'button', 'aria-label': 'Close', onclick: onClose }, '×'),
        ),
        element('p', { class: 'notice' }, 'This report holds no case of this id.'),
      );
    },
    /** @param {Case} one @param {{at: number, count: number}} place */
    async show(one, place) {
      const head = renderHead(one, place);
      if (wanted === one) {
        root.querySelector('.case-head')?.replaceWith(head);
        return;
      }
      wanted = one;
      const isOpening = root.hidden;
      setOpen(true);
      fillWith(head, element('p', { class: 'loading', role: 'status' }, 'Reading the case …'));
      if (isOpening) root.focus({ preventScroll: true });
      const whole = await reader.readCase(one.place);
      if (wanted !== one) return;
      fillWith(
        root.querySelector('.case-head') ?? head,
        renderCase(whole, { one, currency, labelOf, betterOf, readPrompt: reader.readPrompt }),
      );
    },
  };
}
