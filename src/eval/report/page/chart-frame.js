/** The axes of a chart, and the scales between values and places. */
import { drawing } from './dom.js';

const MARGIN = { top: 14, right: 18, bottom: 42, left: 44 };
const HEIGHT = 240;

/**
 * @typedef {object} Axis
 * @property {number} low
 * @property {number} high
 * @property {{at: number, label: string}[]} ticks
 * @property {string} label
 */

/**
 * @param {{width: number, x: Axis, y: Axis, label: string}} options `label`: what the chart shows, for those who cannot see it.
 */
export function createChartFrame({ width, x, y, label }) {
  /** @param {number} value */
  const toX = (value) => MARGIN.left + ((value - x.low) / (x.high - x.low || 1)) * (width - MARGIN.left - MARGIN.right);
  /** @param {number} value */
  const toY = (value) =>
    HEIGHT - MARGIN.bottom - ((value - y.low) / (y.high - y.low || 1)) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const bottom = toY(y.low);
  const root = drawing(
    'svg',
    { class: 'chart', role: 'img', 'aria-label': label, width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}` },
    y.ticks.flatMap(({ at, label: text }) => [
      drawing('line', { class: 'grid', x1: toX(x.low), x2: toX(x.high), y1: toY(at), y2: toY(at) }),
      drawing('text', { class: 'tick', x: MARGIN.left - 8, y: toY(at) + 4, 'text-anchor': 'end' }, text),
    ]),
    x.ticks.map(({ at, label: text }) =>
      drawing('text', { class: 'tick', x: toX(at), y: bottom + 18, 'text-anchor': 'middle' }, text),
    ),
    drawing('line', { class: 'axis', x1: toX(x.low), x2: toX(x.high), y1: bottom, y2: bottom }),
    drawing('text', { class: 'axis-label', x: toX(x.high), y: HEIGHT - 6, 'text-anchor': 'end' }, x.label),
  );
  return { root, toX, toY };
}

/** From 0 to 1 in fifths. @param {string} label @param {(value: number) => string} format @returns {Axis} */
export function fractionAxis(label, format) {
  return { low: 0, high: 1, label, ticks: [0, 0.2, 0.4, 0.6, 0.8, 1].map((at) => ({ at, label: format(at) })) };
}

/** @param {[number, number][]} points */
export function pathOf(points) {
  return points.map(([x, y], at) => `${at === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');
}
