/** Search and filters. Each choice says how many cases it would leave, given all other filters. */
import { element } from './dom.js';
import { formatName, formatWhole } from './format.js';
import { STATE_NAMES, STATES } from './states.js';

/** @import { Facet } from './filter.js' */
/** @import { View } from './view-state.js' */

/** @type {[Facet, string, string][]} */
const CHOICES = [
  ['cause', 'Cause', 'Any cause'],
  ['tag', 'Tag', 'Any tag'],
  ['kind', 'Kind of result', 'Any kind'],
  ['mode', 'Selection', 'Any selection'],
  ['suite', 'Suite', 'Any suite'],
  ['lang', 'Language', 'Any language'],
];

/** @typedef {Record<Facet, Map<string, number>>} Counts */

/**
 * @param {HTMLElement} form
 * @param {{scoreNames: string[], labelOf(score: string): string, all: Counts, onChange(changes: View): void}} options `all`: the counts without a filter.
 */
export function createFilterBar(form, { scoreNames, labelOf, all, onChange }) {
  const search = element('input', {
    type: 'search',
    name: 'q',
    id: 'search',
    placeholder: 'Search requests, tools, ids …',
    'aria-label': 'Search requests, tool names, ids, tags and causes',
    autocomplete: 'off',
    spellcheck: 'false',
    oninput: () => onChange({ q: search.value }),
  });
  // Most runs hold no case that cannot be judged.
  const states = STATE_NAMES.filter((state) => state !== 'unjudged' || all.state.has(state)).map((state) => {
    const { label, sign, note } = STATES[state];
    const count = element('span', { class: 'count' });
    const button = element(
      'button',
      {
        type: 'button',
        class: `chip ${state}`,
        'data-state': state,
        'aria-pressed': 'false',
        title: note,
        onclick: () => onChange({ state: toggled(state) }),
      },
      element('span', { 'aria-hidden': 'true' }, sign),
      label,
      count,
    );
    return { state, button, count };
  });
  const choices = CHOICES.filter(([facet]) => all[facet].size > 0).map(([facet, label, any]) => {
    const select = element('select', {
      name: facet,
      'aria-label': label,
      onchange: () => onChange({ [facet]: select.value }),
    });
    return { facet, any, select };
  });
  const score = element('select', {
    name: 'score',
    'aria-label': 'Score shown',
    onchange: () => onChange({ score: score.value }),
  });
  score.append(...scoreNames.map((name) => element('option', { value: name }, labelOf(name))));
  const shownCount = element('output', { class: 'shown', 'aria-live': 'polite' });
  const clear = element('button', { type: 'button', class: 'plain', onclick: clearAll }, 'Clear filters');

  form.addEventListener('submit', (event) => event.preventDefault());
  form.replaceChildren(
    element(
      'div',
      { class: 'filter-row' },
      search,
      element(
        'div',
        { class: 'chips', role: 'group', 'aria-label': 'Outcome' },
        states.map(({ button }) => button),
      ),
    ),
    element(
      'div',
      { class: 'filter-row selects' },
      choices.map(({ select }) => select),
      scoreNames.length > 0 && element('label', { class: 'score-choice' }, 'Score ', score),
    ),
    element('p', { class: 'filter-row result' }, shownCount, clear),
  );

  /** @param {string} state */
  function toggled(state) {
    const pressed = states
      .filter(({ button }) => button.getAttribute('aria-pressed') === 'true')
      .map((one) => one.state);
    return STATE_NAMES.filter((name) => pressed.some((one) => one === name) !== (name === state)).join(',');
  }

  function clearAll() {
    onChange({ q: '', state: '', ...Object.fromEntries(CHOICES.map(([facet]) => [facet, ''])) });
    search.focus();
  }

  return {
    focusSearch() {
      search.focus();
      search.select();
    },
    /** @param {View} view @param {Counts} counts @param {{shown: number, total: number}} sizes */
    show(view, counts, { shown, total }) {
      if (search.value !== (view.q ?? '')) search.value = view.q ?? '';
      const pressed = new Set(view.state?.split(',') ?? []);
      for (const { state, button, count } of states) {
        button.setAttribute('aria-pressed', String(pressed.has(state)));
        count.textContent = formatWhole(counts.state.get(state) ?? 0);
      }
      for (const { facet, any, select } of choices)
        showChoices(select, { any, value: view[facet], counts: counts[facet], all: all[facet] });
      score.value = view.score ?? '';
      shownCount.textContent =
        shown === total
          ? `All ${formatWhole(total)} results`
          : `${formatWhole(shown)} of ${formatWhole(total)} results`;
      const facets = CHOICES.map(([facet]) => facet);
      clear.hidden = !view.q && !view.state && facets.every((facet) => !view[facet]);
    },
  };
}

/**
 * Choices with cases first, the most frequent on top.
 * @param {HTMLSelectElement} select
 * @param {{any: string, value: string | undefined, counts: Map<string, number>, all: Map<string, number>}} options
 */
function showChoices(select, { any, value, counts, all }) {
  const names = [...all.keys()].sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0) || a.localeCompare(b));
  if (value && !all.has(value)) names.unshift(value);
  const options = names.map((name) =>
    element('option', { value: name }, `${formatName(name)} (${formatWhole(counts.get(name) ?? 0)})`),
  );
  select.replaceChildren(element('option', { value: '' }, any), ...options);
  select.value = value ?? '';
  select.classList.toggle('active', Boolean(value));
}
