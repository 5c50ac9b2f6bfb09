/** Keys for walking through the cases; none is taken from a field in which the reader writes. */
import { element } from './dom.js';

const KEYS = [
  ['j', 'next case'],
  ['k', 'previous case'],
  ['Enter', 'open the marked case'],
  ['/', 'search'],
  ['Esc', 'close'],
];

/** @param {{search(): void, move(by: number): void, open(): unknown, close(): unknown}} actions */
export function listenToKeys({ search, move, open, close }) {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const target = event.target instanceof HTMLElement ? event.target : undefined;
    const isWriting = target?.matches('input, select, textarea') ?? false;
    if (event.key === 'Escape') {
      if (isWriting) target?.blur();
      else close();
      return;
    }
    if (isWriting) return;
    const isOnControl = target?.matches('a, button, summary') ?? false;
    /** @type {Record<string, () => unknown>} */
    const actions = { '/': search, j: () => move(1), k: () => move(-1), ...(isOnControl ? {} : { Enter: open }) };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

export function renderKeyHelp() {
  return element(
    'p',
    { class: 'keys' },
    KEYS.flatMap(([key, meaning]) => [element('kbd', {}, key), ` ${meaning}  `]),
  );
}
