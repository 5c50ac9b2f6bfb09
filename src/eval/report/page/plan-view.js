/** The plan: drawn beside the expected one, then step by step with every argument compared. */
import { element, section } from './dom.js';
import { formatCount } from './format.js';
import { drawGraph } from './graph-view.js';
import { renderValues } from './values-view.js';

/** @import { Step } from '../../../core/result.ts' */
/** @import { CaseRecord, PlanComparison } from '../../record.ts' */
/** @import { ShownPlan, WholeCase } from '../whole-case.ts' */
/** @import { DrawnStep } from './graph-view.js' */

/** @typedef {'expected' | 'got'} Side */

const MARKS = { hit: '✓', missing: '✗', extra: '+' };
/** Verdicts that need no second look. @type {Set<string>} */
const FINE = new Set(['same', 'form', 'accepted', 'default', 'optional', 'unjudged']);
const KIND_WORDS = {
  plan: 'a plan',
  clarification: 'a question back',
  unplannable: 'no plan',
  plan_invalid: 'no valid plan',
};

/** @param {WholeCase} whole */
export function renderPlans({ record: { expected, result, comparison }, plan }) {
  if (!plan || !comparison) return null;
  const steps = result?.steps ?? [];
  const pairs = comparison.steps.map((pair) => toPair(pair, plan.expected, steps));
  /** @param {Side} side @param {string} id */
  const stateOf = (side, id) => pairs.find((pair) => pair[side]?.id === id)?.state ?? 'extra';
  const wanted = plan.expected.map((step) => ({ ...step, state: stateOf('expected', step.id) }));
  const got = steps.map(({ id, tool }, at) => ({
    id,
    tool,
    state: stateOf('got', id),
    uses: plan.got[at]?.uses ?? [],
  }));
  const none = result ? `The answer was ${KIND_WORDS[result.kind]}.` : 'Only selection was asked for.';
  return section(
    'Plan',
    'plan',
    renderKind(expected.kind, result),
    element(
      'div',
      { class: 'sides graphs' },
      renderSide('Expected', wanted, 'No expected steps are given.'),
      renderSide('Got', got, none),
    ),
    pairs.length > 0 && result && element('div', { class: 'steps' }, pairs.map(renderPair)),
  );
}

/**
 * @param {PlanComparison['steps'][number]} places
 * @param {ShownPlan['expected']} wanted
 * @param {Step[]} steps
 */
function toPair(places, wanted, steps) {
  const [expected, got] = [wanted[places.expected ?? -1], steps[places.got ?? -1]];
  /** @type {'hit' | 'missing' | 'extra'} */
  const state = expected && got ? 'hit' : expected ? 'missing' : 'extra';
  const values = Object.entries(places.arguments).map(([name, verdict]) => ({
    name,
    verdict,
    expected: expected?.arguments[name],
    got: got?.arguments[name],
  }));
  return { state, expected, got, values };
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

/** @param {ReturnType<typeof toPair>} pair */
function renderPair({ state, expected, got, values }) {
  const ids = [expected && `expected ${expected.id}`, got && `got ${got.id}`].filter(Boolean).join(' · ');
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
