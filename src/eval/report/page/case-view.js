/** One case, from the question to the answer: request, tools, plan, what the model saw and said, cost. */
import { renderCalls } from './calls-view.js';
import { element, section } from './dom.js';
import { renderFacts } from './facts-view.js';
import { formatScore } from './format.js';
import { renderPlans } from './plan-view.js';
import { colourOf } from './score-colour.js';
import { renderTools } from './tools-view.js';

/** @import { CaseRecord } from '../../record.ts' */
/** @import { Case } from './cases.js' */
/** @import { WholeCase } from '../whole-case.ts' */
/** @import { MetricMeaning } from '../../run-summary.ts' */

/** @typedef {(score: string) => MetricMeaning['better'] | undefined} BetterOf */

/**
 * @param {WholeCase} whole
 * @param {{one: Case, currency: string | undefined, labelOf(score: string): string, betterOf: BetterOf, readPrompt(place: [number, number]): Promise<string>}} options
 */
export function renderCase(whole, { one, currency, labelOf, betterOf, readPrompt }) {
  const { record, prompts } = whole;
  return element(
    'div',
    { class: 'case-body' },
    renderRequest(record),
    renderError(record),
    renderScores(record.scores, { labelOf, betterOf }),
    renderTools(record, one.expected),
    renderPlans(whole),
    renderCalls(record.calls, { prompts, readPrompt }),
    renderFacts(record, currency),
  );
}

/** @param {CaseRecord} record */
function renderRequest({ query, lang, history, entities }) {
  return section(
    'Request',
    'request',
    history &&
      history.length > 0 &&
      element(
        'ol',
        { class: 'history', 'aria-label': 'Earlier messages' },
        history.map(({ role, content }) =>
          element('li', { class: role }, element('span', { class: 'role' }, role), element('span', { lang }, content)),
        ),
      ),
    element('p', { class: 'query', lang }, query),
    entities &&
      Object.keys(entities).length > 0 &&
      element(
        'dl',
        { class: 'entities' },
        Object.entries(entities).map(([name, value]) =>
          element(
            'div',
            {},
            element('dt', {}, name),
            element('dd', { lang }, typeof value === 'string' ? value : JSON.stringify(value)),
          ),
        ),
      ),
  );
}

/** @param {CaseRecord} record */
function renderError({ error }) {
  if (!error) return null;
  return section(
    'Error',
    'error',
    element('p', {}, element('code', {}, error.code), ' ', error.message),
    error.issues.length > 0 &&
      element(
        'ul',
        {},
        error.issues.map((issue) => element('li', {}, issue)),
      ),
  );
}

/** @param {CaseRecord['scores']} scores @param {{labelOf(score: string): string, betterOf: BetterOf}} options */
function renderScores(scores, { labelOf, betterOf }) {
  const entries = Object.entries(scores);
  if (entries.length === 0) return null;
  return section(
    'Scores',
    'scores',
    element(
      'dl',
      { class: 'score-list' },
      entries.map(([name, value]) =>
        element(
          'div',
          { class: colourOf(value, betterOf(name)) },
          element('dt', { title: labelOf(name) }, labelOf(name)),
          element('dd', { title: value === null ? 'does not apply to this case' : '' }, formatScore(value)),
        ),
      ),
    ),
  );
}
