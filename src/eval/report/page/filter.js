/** Which cases a view shows, and how many each choice of each filter would show. */

/** @import { Case } from './cases.js' */
/** @import { View } from './view-state.js' */

/** @typedef {'state' | 'cause' | 'tag' | 'suite' | 'lang' | 'kind' | 'mode'} Facet */

/** Of a case, its value or values for a filter. @type {Record<Facet, (one: Case) => string | string[] | undefined>} */
const VALUES = {
  state: ({ state }) => state,
  cause: ({ cause }) => cause,
  tag: ({ tags }) => tags,
  suite: ({ suite }) => suite,
  lang: ({ lang }) => lang,
  kind: ({ kind }) => kind ?? 'selection only',
  mode: ({ mode }) => mode,
};
/** @type {Facet[]} */
const FACETS = ['state', 'cause', 'tag', 'suite', 'lang', 'kind', 'mode'];

/**
 * One pass: a case that fails one filter alone still counts among that filter's choices.
 * @param {Case[]} cases
 * @param {View} view
 * @returns {{shown: Case[], counts: Record<Facet, Map<string, number>>}}
 */
export function filterCases(cases, view) {
  const wanted = FACETS.map((facet) => wantedOf(facet, view[facet]));
  const terms = termsOf(view.q ?? '');
  const counts = {
    state: new Map(),
    cause: new Map(),
    tag: new Map(),
    suite: new Map(),
    lang: new Map(),
    kind: new Map(),
    mode: new Map(),
  };
  const shown = [];
  for (const one of cases) {
    if (terms.length > 0 && !hasAll(one, terms)) continue;
    const failed = FACETS.filter((facet, at) => wanted[at] && !hasOne(VALUES[facet](one), wanted[at]));
    if (failed.length === 0) shown.push(one);
    const counted = failed.length === 0 ? FACETS : failed.length === 1 ? failed : [];
    for (const facet of counted) count(counts[facet], VALUES[facet](one));
  }
  return { shown, counts };
}

/** @param {Facet} facet @param {string | undefined} value */
function wantedOf(facet, value) {
  return value ? new Set(facet === 'state' ? value.split(',') : [value]) : undefined;
}

/** @param {string | string[] | undefined} values @param {Set<string>} wanted */
function hasOne(values, wanted) {
  return Array.isArray(values) ? values.some((value) => wanted.has(value)) : values !== undefined && wanted.has(values);
}

/** @param {Map<string, number>} counts @param {string | string[] | undefined} values */
function count(counts, values) {
  if (Array.isArray(values)) for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  else if (values !== undefined) counts.set(values, (counts.get(values) ?? 0) + 1);
}

/** Words, and "phrases in quotes"; a case must hold all of them. @param {string} text */
function termsOf(text) {
  return [...text.toLowerCase().matchAll(/"([^"]+)"|(\S+)/gu)].map((match) => match[1] ?? match[2] ?? '');
}

/** @param {Case} one @param {string[]} terms */
function hasAll(one, terms) {
  one.words ??= [
    one.id,
    one.query,
    ...one.expected,
    ...one.got.map(({ name }) => name),
    one.cause,
    one.kind,
    ...one.tags,
  ]
    .join('\n')
    .toLowerCase();
  const { words } = one;
  return terms.every((term) => words.includes(term));
}
