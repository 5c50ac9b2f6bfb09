/** What the reader looks at, kept in the address behind `#`: a link shows the same, and Back goes back. */

/**
 * @typedef {object} View
 * @property {string} [case]
 * @property {string} [repeat]
 * @property {string} [q]
 * @property {string} [state] Several, with commas between.
 * @property {string} [cause]
 * @property {string} [tag]
 * @property {string} [suite]
 * @property {string} [lang]
 * @property {string} [kind]
 * @property {string} [mode]
 * @property {string} [sort] A column; with `-` before it from high to low.
 * @property {string} [score] The score that the list and the charts show.
 */

/** @type {readonly (keyof View)[]} */
const KEYS = ['case', 'repeat', 'q', 'state', 'cause', 'tag', 'suite', 'lang', 'kind', 'mode', 'sort', 'score'];

/** @returns {View} */
export function readView() {
  const given = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(KEYS.flatMap((key) => (given.get(key) ? [[key, given.get(key)]] : [])));
}

/** @param {View} view */
export function hashOf(view) {
  const entries = KEYS.flatMap((key) => (view[key] ? [[key, view[key]]] : []));
  return `#${new URLSearchParams(Object.fromEntries(entries))}`;
}

/** @param {View} view @param {{asStep?: boolean}} [options] asStep: Back returns to the view before. */
export function writeView(view, { asStep = false } = {}) {
  const hash = hashOf(view);
  if (hash === (location.hash || '#')) return;
  if (asStep) history.pushState(null, '', hash);
  else history.replaceState(null, '', hash);
}
