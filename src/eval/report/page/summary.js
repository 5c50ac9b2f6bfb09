/** The head of the page: what was run, its main figures, and every metric with its 95 % interval on one scale. */
import { drawing, element } from './dom.js';
import { formatCount, formatDate, formatDuration, formatMetric, formatShare, formatWhole } from './format.js';
import { STATE_NAMES, STATES } from './states.js';

/** @import { RunMetric } from '../../run-summary.ts' */
/** @import { ReportRun } from '../report-run.ts' */
/** @import { Case } from './cases.js' */

const GROUPS = { selection: 'Selection', plan: 'Plans', cost: 'Tokens and cost', time: 'Time' };

/** Metrics that the tile of all outcomes tells, and one that is alike in most runs. */
const TOLD_FIRST = new Set(['right', 'errors', 'calls']);

/** @param {ReportRun} run @param {Case[]} cases */
export function renderRunHead(run, cases) {
  const ended = run.endedAt ? formatDuration(Date.parse(run.endedAt) - Date.parse(run.startedAt)) : undefined;
  const repeats = 1 + cases.reduce((most, { repeat }) => Math.max(most, repeat), 0);
  const facts = [
    ['Model', run.model],
    ['Catalogue', run.suites.map(({ catalog, tools }) => `${catalog} (${formatCount(tools, 'tool')})`).join(', ')],
    ['Cases', repeats > 1 ? `${formatWhole(run.planned / repeats)} × ${repeats}` : formatWhole(run.planned)],
    ['Started', formatDate(run.startedAt)],
    ['Took', ended ?? 'not ended'],
  ];
  return [
    element('p', { class: 'brand' }, sieve(), 'winnow eval'),
    element('h1', {}, run.name, run.interrupted && element('span', { class: 'badge wrong' }, 'interrupted')),
    element(
      'dl',
      { class: 'facts' },
      facts.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))),
    ),
    cases.length < run.planned &&
      element(
        'p',
        { class: 'notice', role: 'note' },
        `${formatWhole(cases.length)} of ${formatCount(run.planned, 'result')} are here: the run is not complete.`,
      ),
  ].filter((part) => part !== false);
}

function sieve() {
  const dots = [4, 9, 14, 19].map((x) => drawing('circle', { cx: x, cy: 4, r: 2 }));
  return drawing(
    'svg',
    { class: 'sieve', viewBox: '0 0 23 20', width: 23, height: 20, 'aria-hidden': 'true' },
    dots,
    drawing('path', { d: 'M1 9h21l-8 6v4l-5-2v-2z' }),
  );
}

/** @param {ReportRun} run @param {Case[]} cases */
export function renderSummary(run, cases) {
  /** @param {RunMetric['group']} group */
  const of = (group) => run.metrics.filter((metric) => metric.group === group);
  /** @param {RunMetric['group']} group */
  const main = (group) => of(group).filter(({ name }) => !TOLD_FIRST.has(name));
  const plan = main('plan');
  const heads = [
    ...main('selection').slice(0, plan.length > 0 ? 2 : 3),
    ...plan.slice(0, 1),
    ...main('cost').slice(0, 1),
    ...main('time').slice(0, 1),
  ];
  const groups = /** @type {const} */ (['selection', 'plan', 'cost', 'time']).filter((group) => of(group).length > 0);
  return [
    element(
      'div',
      { class: 'tiles' },
      renderOutcome(cases),
      heads.map((metric) => renderTile(metric, run.currency)),
    ),
    element(
      'div',
      { class: 'metric-groups' },
      groups.map((group) => renderGroup(GROUPS[group], of(group), run.currency)),
    ),
    renderSettings(run),
  ];
}

/** @param {Case[]} cases */
function renderOutcome(cases) {
  /** @param {Case['state']} state */
  const count = (state) => cases.filter((one) => one.state === state).length;
  const counts = STATE_NAMES.map((state) => ({ state, count: count(state) }));
  const judged = count('right') + count('wrong');
  let left = 0;
  const bars = counts.map(({ state, count }) => {
    const width = (100 * count) / Math.max(1, cases.length);
    left += width;
    return drawing('rect', { class: `fill-${state}`, x: `${left - width}%`, width: `${width}%`, height: 8 });
  });
  return element(
    'div',
    { class: 'tile' },
    element('p', { class: 'tile-label' }, 'Right answers'),
    element('p', { class: 'tile-value' }, formatShare(judged > 0 ? count('right') / judged : null)),
    drawing('svg', { class: 'outcome-bar', width: '100%', height: 8, 'aria-hidden': 'true' }, bars),
    element(
      'p',
      { class: 'tile-note' },
      counts
        .filter(({ state, count }) => state !== 'unjudged' || count > 0)
        .map(({ state, count }) =>
          state === 'error' ? formatCount(count, 'error') : `${formatWhole(count)} ${STATES[state].word}`,
        )
        .join(' · '),
    ),
  );
}

/** @param {RunMetric} metric @param {string | undefined} currency */
function renderTile(metric, currency) {
  const value = formatMetric(metric.mean, metric.unit, currency);
  return element(
    'div',
    { class: 'tile' },
    element('p', { class: 'tile-label' }, metric.label),
    element('p', { class: `tile-value ${value.length > 8 ? 'long' : ''}` }, value),
    metric.unit === 'fraction' && renderInterval(metric),
    element('p', { class: 'tile-note' }, '95 %: ', formatInterval(metric, currency)),
  );
}

/** @param {RunMetric} metric @param {string | undefined} currency */
function formatInterval(metric, currency) {
  const [low, high] = [metric.low, metric.high].map((value) => formatMetric(value, metric.unit, currency));
  return `${low} to ${high}`;
}

/** From 0 to 1: the interval as a line, the mean as a dot. @param {RunMetric} metric */
function renderInterval({ mean, low, high }) {
  if (mean === null) return false;
  /** @param {number} value */
  const at = (value) => `${Math.min(100, Math.max(0, 100 * value))}%`;
  return drawing(
    'svg',
    { class: 'interval', width: '100%', height: 14, 'aria-hidden': 'true' },
    [0, 0.25, 0.5, 0.75, 1].map((tick) =>
      drawing('line', { class: 'grid', x1: at(tick), x2: at(tick), y1: 0, y2: 14 }),
    ),
    drawing('line', { class: 'span', x1: at(low ?? mean), x2: at(high ?? mean), y1: 7, y2: 7 }),
    drawing('circle', { class: 'mean', cx: at(mean), cy: 7, r: 4 }),
  );
}

/** @param {string} title @param {RunMetric[]} metrics @param {string | undefined} currency */
function renderGroup(title, metrics, currency) {
  const hasScale = metrics.some((metric) => metric.unit === 'fraction');
  const rows = metrics.map((metric) =>
    element(
      'tr',
      { 'data-metric': metric.name },
      element('th', { scope: 'row', title: metric.name }, metric.label),
      hasScale && element('td', { class: 'scale' }, metric.unit === 'fraction' && renderInterval(metric)),
      element('td', { class: 'number strong' }, formatMetric(metric.mean, metric.unit, currency)),
      element(
        'td',
        { class: 'number muted' },
        metric.mean === null ? 'applies to no case' : formatInterval(metric, currency),
      ),
      element('td', { class: 'number muted count' }, formatWhole(metric.count)),
    ),
  );
  const heads = ['Metric', ...(hasScale ? ['0 to 1'] : []), 'Mean', '95 % interval', 'Cases'];
  return element(
    'div',
    { class: `card metrics${hasScale ? '' : ' plain'}` },
    element('h2', {}, title),
    element(
      'table',
      {},
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          heads.map((head) => element('th', { scope: 'col', class: head === 'Cases' ? 'count' : '' }, head)),
        ),
      ),
      element('tbody', {}, rows),
    ),
  );
}

/** @param {ReportRun} run */
function renderSettings({ settings, promptHashes }) {
  /** @param {string} name @param {unknown} value */
  const row = (name, value) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, name),
      element('td', {}, typeof value === 'string' ? value : JSON.stringify(value)),
    );
  return element(
    'details',
    { class: 'card settings' },
    element('summary', {}, 'Settings and prompts of this run'),
    element('div', { class: 'columns' }, [
      element(
        'table',
        {},
        element('caption', {}, 'Settings'),
        element(
          'tbody',
          {},
          Object.entries(settings).map(([name, value]) => row(name, value)),
        ),
      ),
      element(
        'table',
        {},
        element('caption', {}, 'Prompt hashes'),
        element(
          'tbody',
          {},
          Object.entries(promptHashes).map(([name, value]) => row(name, value)),
        ),
      ),
    ]),
  );
}
