/** Recall at k: which part of the needed tools stands among the first k, and how often all of them do. */
import { createChartFrame, fractionAxis, pathOf } from './chart-frame.js';
import { drawing, element } from './dom.js';
import { createTally } from './estimate.js';
import { formatScore, formatShare, formatWhole } from './format.js';

/** @import { Case } from './cases.js' */
/** @import { Estimate } from './estimate.js' */

const LEAST_K = 8;
const MOST_K = 20;

/**
 * Errors have no list of tools, cases that need none have no recall, and the order of a skipped selection says nothing: all
 * three stay out, as they do of the metrics.
 * @param {Case[]} cases
 */
export function recallAtK(cases) {
  const counted = cases.filter(
    ({ state, mode, expected }) => state !== 'error' && mode !== 'passthrough' && expected.length > 0,
  );
  const longest = counted.reduce((most, { got }) => Math.max(most, got.length), 0);
  const tallies = Array.from({ length: Math.min(MOST_K, Math.max(LEAST_K, longest)) }, () => ({
    recall: createTally(),
    all: createTally(),
  }));
  for (const { expected, got } of counted) {
    const missing = new Set(expected);
    const needed = missing.size;
    tallies.forEach(({ recall, all }, at) => {
      missing.delete(got[at]?.name ?? '');
      recall.add(1 - missing.size / needed);
      all.add(Number(missing.size === 0));
    });
  }
  return tallies.map(({ recall, all }, at) => ({ k: at + 1, recall: recall.estimate(), all: all.estimate() }));
}

/** @param {Case[]} cases @param {number} width */
export function drawRecallAtK(cases, width) {
  const points = recallAtK(cases);
  const count = points[0]?.recall.count ?? 0;
  if (count === 0) return undefined;
  const last = points.at(-1);
  const every = points.length > 12 && width < 420 ? 2 : 1;
  const { root, toX, toY } = createChartFrame({
    width,
    x: {
      low: 1,
      high: points.length,
      label: 'first k tools',
      ticks: points.filter(({ k }) => k % every === 0).map(({ k }) => ({ at: k, label: formatWhole(k) })),
    },
    y: fractionAxis('', formatShare),
    label: `Recall at k over ${count} cases. ${points.map(({ k, recall, all }) => `${k}: recall ${formatScore(recall.mean)}, all there ${formatScore(all.mean)}`).join('; ')}.`,
  });
  for (const series of /** @type {const} */ (['recall', 'all'])) {
    const line = points.map(({ k, [series]: value }) => /** @type {[number, number]} */ ([toX(k), toY(value.mean)]));
    const upper = points.map(({ k, [series]: { high } }) => /** @type {[number, number]} */ ([toX(k), toY(high)]));
    const lower = points
      .map(({ k, [series]: { low } }) => /** @type {[number, number]} */ ([toX(k), toY(low)]))
      .reverse();
    root.append(
      drawing('path', { class: `band ${series}`, d: `${pathOf([...upper, ...lower])}Z` }),
      drawing('path', { class: `line ${series}`, d: pathOf(line) }),
      ...points.map(({ k, [series]: value }) => drawPoint(value, { k, series, x: toX(k), y: toY(value.mean) })),
    );
  }
  return element('div', {}, root, renderLegend(last));
}

/** @param {{k: number, recall: Estimate, all: Estimate} | undefined} last */
function renderLegend(last) {
  if (!last) return false;
  return element(
    'p',
    { class: 'legend' },
    element('span', { class: 'swatch fill-right' }),
    `recall, ${formatShare(last.recall.mean)} at ${last.k} `,
    element('span', { class: 'swatch all' }),
    `all needed there, ${formatShare(last.all.mean)} at ${last.k}`,
  );
}

/** @param {Estimate} value @param {{k: number, series: string, x: number, y: number}} place */
function drawPoint({ mean, low, high }, { k, series, x, y }) {
  const name = series === 'recall' ? 'Recall' : 'All needed there';
  return drawing(
    'circle',
    { class: `point ${series}`, cx: x, cy: y, r: 3 },
    drawing('title', {}, `${name} at ${k}: ${formatScore(mean)} (${formatScore(low)} to ${formatScore(high)})`),
  );
}
