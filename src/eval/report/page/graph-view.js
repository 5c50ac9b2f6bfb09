/** Draws a plan: boxes by levels, arrows from a result to the step that uses it, with the field on the arrow. */
import { drawing } from './dom.js';
import { BOX, placeGraph } from './plan-graph.js';

/** @import { ShownStep } from '../whole-case.ts' */
/** @import { PlacedEdge } from './plan-graph.js' */

/** @typedef {ShownStep & {tool: string, state: 'hit' | 'missing' | 'extra'}} DrawnStep */

const PADDING = 6;
/** About the width of a character of the tool's name. */
const CHARACTER = 6.65;
/** The same of a field on an arrow. */
const FIELD_CHARACTER = 6.35;
const MARKS = { hit: '✓', missing: '✗', extra: '+', unjudged: '·' };

/** @param {DrawnStep[]} steps @param {{title: string, name: string}} options `name`: unique in the page, for the arrow heads. */
export function drawGraph(steps, { title, name }) {
  const graph = placeGraph(steps.map(({ id, uses }) => ({ id, from: uses.map(({ from }) => from) })));
  const byId = new Map(steps.map((step) => [step.id, step]));
  const edges = graph.edges.map((edge) => {
    const use = byId.get(edge.to)?.uses.find(({ from }) => from === edge.from);
    return { ...edge, state: use?.state ?? 'extra', field: use?.field ? placeField(use.field, edge) : undefined };
  });
  const left = Math.min(0, ...edges.map(({ field }) => field?.from ?? 0)) - PADDING;
  const width = Math.max(graph.width, ...edges.map(({ field }) => field?.to ?? 0)) + PADDING - left;
  const height = graph.height + 2 * PADDING;
  return drawing(
    'svg',
    {
      class: 'graph',
      role: 'img',
      'aria-label': `${title}. ${describe(steps)}`,
      width,
      height,
      viewBox: `${left} ${-PADDING} ${width} ${height}`,
    },
    drawing(
      'defs',
      {},
      /** @type {const} */ (['hit', 'missing', 'extra', 'unjudged']).map((state) =>
        drawArrowHead(`${name}-${state}`, state),
      ),
    ),
    edges.map(({ from, to, points, state }) =>
      drawing('path', {
        class: `edge ${state}`,
        'data-edge': `${from} ${to}`,
        'data-state': state,
        d: curveThrough(points),
        'marker-end': `url(#${name}-${state})`,
      }),
    ),
    edges.map(
      ({ field, state }) =>
        field &&
        drawing('text', { class: `field ${state}`, x: field.x, y: field.y, 'text-anchor': field.anchor }, field.text),
    ),
    graph.steps.map(({ id, x, y }) => {
      const step = byId.get(id);
      return step && drawStep(step, x, y);
    }),
  );
}

/** @param {DrawnStep} step @param {number} x @param {number} y */
function drawStep({ id, tool, state }, x, y) {
  return drawing(
    'g',
    { class: `step ${state}`, transform: `translate(${x} ${y})`, 'data-step': id, 'data-state': state },
    drawing('title', {}, `${id}: ${tool}`),
    drawing('rect', { width: BOX.width, height: BOX.height, rx: 8 }),
    drawing('text', { class: 'step-id', x: 12, y: 18 }, id),
    drawing('text', { class: 'step-mark', x: BOX.width - 12, y: 18, 'text-anchor': 'end' }, MARKS[state]),
    breakName(tool, Math.floor((BOX.width - 22) / CHARACTER)).map((line, at) =>
      drawing('text', { class: 'step-tool', x: 12, y: 35 + 13 * at }, line),
    ),
  );
}

/** Beside the arrow's head: those on the left to its left, those on the right to its right, neighbours in two lines. */
function placeField(/** @type {string} */ field, /** @type {PlacedEdge} */ { points, place, places }) {
  const [x, y] = points.at(-1) ?? [0, 0];
  const isLeft = places > 1 && place < places / 2;
  const line = places > 2 && place % 2 === 1 ? 2 : 1;
  const text = shorten(field, 22);
  const length = text.length * FIELD_CHARACTER;
  const start = isLeft ? x - 6 : x + 6;
  return {
    text,
    x: start,
    y: y - 13 * line + 2,
    anchor: isLeft ? 'end' : 'start',
    from: isLeft ? start - length : start,
    to: isLeft ? start : start + length,
  };
}

/** @param {string} id @param {string} state */
function drawArrowHead(id, state) {
  return drawing(
    'marker',
    { id, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: 'auto-start-reverse' },
    drawing('path', { class: `head ${state}`, d: 'M0 0.5 8 4 0 7.5z' }),
  );
}

/** Leaves and arrives from above to below. @param {[number, number][]} points */
function curveThrough(points) {
  const [first, ...rest] = points;
  if (!first) return '';
  let [x, y] = first;
  const parts = rest.map(([nextX, nextY]) => {
    const bend = (nextY - y) / 2;
    const part = `C${x} ${y + bend} ${nextX} ${nextY - bend} ${nextX} ${nextY}`;
    [x, y] = [nextX, nextY];
    return part;
  });
  return `M${first[0]} ${first[1]}${parts.join('')}`;
}

/** @param {DrawnStep[]} steps */
function describe(steps) {
  return steps
    .map(
      ({ id, tool, uses }) =>
        `${id} ${tool}${uses.length > 0 ? ` after ${uses.map(({ from }) => from).join(', ')}` : ''}`,
    )
    .join('; ');
}

/** On two lines where it must be, parted between its words. @param {string} name @param {number} most */
function breakName(name, most) {
  if (name.length <= most) return [name];
  const cut =
    Math.max(name.lastIndexOf('_', most - 1), name.lastIndexOf('-', most - 1), name.lastIndexOf('.', most - 1)) + 1 ||
    most;
  return [name.slice(0, cut), shorten(name.slice(cut), most)];
}

/** The middle goes: names of one family differ at their ends. @param {string} text @param {number} most */
function shorten(text, most) {
  const signs = [...text];
  if (signs.length <= most) return text;
  const half = Math.floor((most - 1) / 2);
  return `${signs.slice(0, most - 1 - half).join('')}…${signs.slice(signs.length - half).join('')}`;
}
