/** Quality against tokens: whether cases that cost more are answered better, in groups of equally many cases. */
import { scoreOf } from './cases.js';
import { createChartFrame, fractionAxis, pathOf } from './chart-frame.js';
import { drawing } from './dom.js';
import { createTally, roundTicks } from './estimate.js';
import { formatScore, formatShort, formatWhole } from './format.js';

/** @import { Case } from './cases.js' */

const MOST_GROUPS = 8;
/** Below it a group's mean says little. */
const LEAST_CASES = 8;
/** More dots than this are grey fog and slow typing. */
const MOST_DOTS = 600;

/** @param {{tokens: number, score: number}[]} cases By tokens. */
export function groupByTokens(cases) {
  const groups = Math.max(1, Math.min(MOST_GROUPS, Math.floor(cases.length / LEAST_CASES)));
  return Array.from({ length: groups }, (_, at) => {
    const part = cases.slice(Math.floor((at * cases.length) / groups), Math.floor(((at + 1) * cases.length) / groups));
    const tally = createTally();
    for (const { score } of part) tally.add(score);
    const tokens = part.reduce((sum, one) => sum + one.tokens, 0) / Math.max(1, part.length);
    return {
      tokens,
      from: part[0]?.tokens ?? 0,
      to: part.at(-1)?.tokens ?? 0,
      score: tally.estimate(),
    };
  });
}

/** @param {Case[]} cases @param {{width: number, scoreName: string, label: string}} options */
export function drawQualityAgainstTokens(cases, { width, scoreName, label }) {
  const scored = cases
    .filter(({ state }) => state !== 'error')
    .flatMap((one) => {
      const score = scoreOf(one, scoreName);
      return score === null ? [] : [{ tokens: one.tokens, score }];
    })
    .sort((a, b) => a.tokens - b.tokens);
  if (scored.length === 0) return undefined;
  const groups = groupByTokens(scored);
  const [low, high] = rangeOf(scored);
  const { root, toX, toY } = createChartFrame({
    width,
    x: {
      low,
      high,
      label: 'tokens of a case, read and written',
      ticks: roundTicks(low, high, width < 420 ? 3 : 6).map((at) => ({ at, label: formatShort(at) })),
    },
    y: fractionAxis(label, formatScore),
    label: `${label} by tokens of a case. ${groups.map(({ from, to, score }) => `${formatWhole(from)} to ${formatWhole(to)} tokens: ${formatScore(score.mean)}`).join('; ')}.`,
  });
  const stride = Math.ceil(scored.length / MOST_DOTS);
  root.append(
    drawing('path', { class: 'trend', d: pathOf(groups.map(({ tokens, score }) => [toX(tokens), toY(score.mean)])) }),
    ...scored
      .filter(({ tokens }, at) => at % stride === 0 && tokens <= high)
      .map(({ tokens, score }, at) =>
        drawing('circle', { class: 'dot', cx: toX(tokens).toFixed(1), cy: (toY(score) + jitter(at)).toFixed(1), r: 2 }),
      ),
    ...groups.map(({ tokens, score: { low: from, high: to } }) =>
      drawing('line', { class: 'span', x1: toX(tokens), x2: toX(tokens), y1: toY(from), y2: toY(to) }),
    ),
    ...groups.map(({ tokens, from, to, score }) =>
      drawing(
        'circle',
        { class: 'mean', cx: toX(tokens), cy: toY(score.mean), r: 5 },
        drawing(
          'title',
          {},
          `${formatWhole(from)} to ${formatWhole(to)} tokens, ${formatWhole(score.count)} cases: ${formatScore(score.mean)} (${formatScore(score.low)} to ${formatScore(score.high)})`,
        ),
      ),
    ),
  );
  return root;
}

/** Up to the 99th percentile: one giant would press all others into a corner. @param {{tokens: number}[]} sorted @returns {[number, number]} */
function rangeOf(sorted) {
  const low = sorted[0]?.tokens ?? 0;
  const high = sorted[Math.floor(0.99 * (sorted.length - 1))]?.tokens ?? low;
  const room = Math.max(1, (high - low) * 0.04);
  return [Math.max(0, low - room), high + room];
}

/** Equal scores would lie on one another; golden steps spread them, the same at each drawing. @param {number} at */
function jitter(at) {
  return ((at * 0.618034) % 1) * 8 - 4;
}
