/** The plan: drawn beside the expected one, then step by step with every argument compared. */
import { element, section } from './dom.js';
import { formatCount } from './format.js';
import { drawGraph } from './graph-view.js';
import { compareArguments, matchSteps } from './match-steps.js';
import { referencesIn, toWritten } from './references.js';
import { renderValues } from './values-view.js';

/** @import { CaseRecord } from '../../record.ts' */
/** @import { DrawnStep } from './graph-view.js' */
/** @import { ArgumentPair, StepPair } from './match-steps.js' */

const MARKS = { hit: '✓', missing: '✗', extra: '+' };
/** Verdicts that need no second look. @type {Set<string>} */
const FINE = new Set(['same', 'accepted', 'optional', 'unjudged']);
const KIND_WORDS = {
  plan: 'a plan',
  clarification: 'a question back',
  unplannable: 'no plan',
  plan_invalid: 'no valid plan',
};

/** @param {CaseRecord} record */
export function renderPlans({ expected, result }) {
  const wanted = expected.steps ?? [];
  const got = result?.steps ?? [];
  if (!result && wanted.length === 0) return null;
  const pairs = matchSteps(wanted, got);
  const expectedGraph = drawnExpected(pairs, expected.edges ?? []);
  const gotGraph = drawnGot(pairs);
  markEdges(expectedGraph, gotGraph, pairs);
  return section(
    'Plan',
    'plan',
    renderKind(expected.kind, result),
    element(
      'div',
      { class: 'sides graphs' },
      renderSide('Expected', expectedGraph, 'No expected steps are given.'),
      renderSide(
        'Got',
        gotGraph,
        result ? `The answer was ${KIND_WORDS[result.kind]}.` : 'Only selection was asked for.',
      ),
    ),
    pairs.length > 0 &&
      result &&
      element(
        'div',
        { class: 'steps' },
        pairs.map((pair) => renderPair(pair, pairs)),
      ),
  );
}

/** @param {CaseRecord['expected']['kind']} expectedKind @param {CaseRecord['result']} result */
function renderKind(expectedKind, result) {
  if (!result) return null;
  const isOther = expectedKind !== undefined && expectedKind !== result.kind;
  return element(
    'p',
    { class: `kind${isOther ? ' different' : ''}` },
    element('span', { class: `badge ${isOther ? 'wrong' : ''}` }, KIND_WORDS[result.kind]),
    isOther && ` expected: ${KIND_WORDS[expectedKind]} `,
    result.repaired && element('span', { class: 'badge' }, 'after repair'),
    result.text && element('span', { class: 'kind-text' }, result.text),
  );
}

/** @param {string} title @param {DrawnStep[]} steps @param {string} none */
function renderSide(title, steps, none) {
  const name = `arrow-${title.toLowerCase()}`;
  return element(
    'div',
    { class: 'side', 'data-graph': title.toLowerCase() },
    element('h4', {}, title),
    steps.length > 0
      ? element('div', { class: 'graph-room' }, drawGraph(steps, { title: `${title} plan`, name }))
      : element('p', { class: 'muted' }, none),
  );
}

/** @param {StepPair[]} pairs @param {[number, number][]} edges @returns {DrawnStep[]} */
function drawnExpected(pairs, edges) {
  return pairs.flatMap(({ expected, expectedId = '', got, row }) => {
    if (!expected) return [];
    const uses = usesOf(toWritten(expected.arguments));
    const listed = edges.filter(([from, to]) => to === row && !uses.some((use) => use.from === `s${from + 1}`));
    return [
      {
        id: expectedId,
        tool: expected.tool,
        state: got ? 'hit' : 'missing',
        uses: [
          ...uses,
          ...listed.map(([from]) => ({ from: `s${from + 1}`, field: '', state: /** @type {const} */ ('missing') })),
        ],
      },
    ];
  });
}

/** In the order of the plan. @param {StepPair[]} pairs @returns {DrawnStep[]} */
function drawnGot(pairs) {
  const steps = pairs.flatMap(({ expected, got }) =>
    got ? [{ got, state: /** @type {'hit' | 'extra'} */ (expected ? 'hit' : 'extra') }] : [],
  );
  steps.sort((a, b) => a.got.id.localeCompare(b.got.id, undefined, { numeric: true }));
  return steps.map(({ got, state }) => {
    const uses = usesOf(got.arguments);
    const listed = got.dependsOn.filter((from) => !uses.some((use) => use.from === from));
    return {
      id: got.id,
      tool: got.tool,
      state,
      uses: [...uses, ...listed.map((from) => ({ from, field: '', state: /** @type {const} */ ('extra') }))],
    };
  });
}

/** One arrow from a step, with all fields that are taken from it. @param {unknown} values @returns {DrawnStep['uses']} */
function usesOf(values) {
  const fields = /** @type {Map<string, Set<string>>} */ (new Map());
  for (const { step, field } of referencesIn(values)) fields.set(step, (fields.get(step) ?? new Set()).add(field));
  return [...fields].map(([from, names]) => ({ from, field: [...names].join(', '), state: 'extra' }));
}

/** An arrow is right when both plans have it between the same two steps. @param {DrawnStep[]} expected @param {DrawnStep[]} got @param {StepPair[]} pairs */
function markEdges(expected, got, pairs) {
  const rowOfExpected = new Map(pairs.map(({ expectedId, row }) => [expectedId, row]));
  const rowOfGot = new Map(pairs.map((pair) => [pair.got?.id, pair.row]));
  /** @param {DrawnStep[]} steps @param {Map<string | undefined, number>} rows */
  const edgesOf = (steps, rows) =>
    new Set(steps.flatMap(({ id, uses }) => uses.map(({ from }) => `${rows.get(from)} ${rows.get(id)}`)));
  const [wanted, written] = [edgesOf(expected, rowOfExpected), edgesOf(got, rowOfGot)];
  for (const { id, uses } of expected)
    for (const use of uses)
      use.state = written.has(`${rowOfExpected.get(use.from)} ${rowOfExpected.get(id)}`) ? 'hit' : 'missing';
  for (const { id, uses } of got)
    for (const use of uses) use.state = wanted.has(`${rowOfGot.get(use.from)} ${rowOfGot.get(id)}`) ? 'hit' : 'extra';
}

/** @param {StepPair} pair @param {StepPair[]} pairs */
function renderPair(pair, pairs) {
  const { expected, expectedId, got } = pair;
  const state = expected && got ? 'hit' : expected ? 'missing' : 'extra';
  const compared = state === 'extra' ? [] : compareArguments(pair, pairs);
  const written = Object.entries(got?.arguments ?? {}).map(
    ([name, value]) => /** @type {ArgumentPair} */ ({ name, verdict: 'extra', got: value }),
  );
  const ids = [expectedId && `expected ${expectedId}`, got && `got ${got.id}`].filter(Boolean).join(' · ');
  const values = state === 'extra' ? written : compared;
  const isFine = state === 'hit' && values.every(({ verdict }) => FINE.has(verdict));
  return element(
    'details',
    { class: `step-pair ${state}`, 'data-pair': state, open: !isFine },
    element(
      'summary',
      {},
      element('span', { class: 'mark', 'aria-hidden': 'true' }, MARKS[state]),
      element('code', {}, got?.tool ?? expected?.tool ?? ''),
      element('span', { class: 'why' }, ids),
      isFine &&
        element(
          'span',
          { class: 'why' },
          values.length > 0 ? `${formatCount(values.length, 'argument')} right` : 'no arguments',
        ),
      state !== 'hit' && element('span', { class: `badge ${state}` }, state === 'missing' ? 'missing' : 'not expected'),
    ),
    got?.purpose && element('p', { class: 'purpose' }, got.purpose),
    renderValues(values),
  );
}
