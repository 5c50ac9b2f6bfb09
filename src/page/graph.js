/** A plan as a graph from top to bottom: a box for each step, and an arrow from a result to each step that uses it. */
import { Graph, layout } from '@dagrejs/dagre';
import { svg } from './format.js';

/** @import { ShownStep } from './shown-step.ts' */

export const BOX = { width: 178, height: 52 };
/** Approximate width of a character on an arrow, and of one in a box. */
const CHARACTER = { field: 6.4, tool: 6.7 };
const MARKS = { hit: '✓', missing: '✗', extra: '+', unjudged: '' };

/** The head of an arrow has the arrow's colour. @param {readonly ShownStep[]} steps @param {string} title */
export function drawPlan(steps, title) {
  const { nodes, edges, width, height } = placePlan(steps);
  const texts = steps.map((step) => `${step.id} ${step.tool}${step.uses.map(({ from }) => ` after ${from}`).join('')}`);
  return svg`<svg class="graph" role="img" aria-label="${title}: ${texts.join('; ')}" width=${width} height=${height} viewBox="0 0 ${width} ${height}">
    ${edges.map(
      (edge) => svg`<g class="edge ${edge.state}" data-edge="${edge.from} ${edge.to}" data-state=${edge.state}>
        <path d=${curve(edge.points)} marker-end="url(#arrow)"></path>
        <text x=${edge.x} y=${edge.y + 4}>${edge.field}</text>
      </g>`,
    )}
    ${nodes.map(
      (
        one,
      ) => svg`<g class=${one.state} data-step=${one.id} data-state=${one.state} transform="translate(${one.x - BOX.width / 2} ${one.y - BOX.height / 2})">
        <title>${one.id}: ${one.tool}</title>
        <rect width=${BOX.width} height=${BOX.height} rx="8"></rect>
        <text class="tone" x="12" y="18">${one.id} ${one.mark ?? MARKS[one.state]}</text>
        ${breakName(one.tool).map((line, at) => svg`<text x="12" y=${33 + 13 * at}>${line}</text>`)}
      </g>`,
    )}
  </svg>`;
}

/** Leaves out arrows from unknown steps and from a step to itself, as in a broken plan. @param {readonly ShownStep[]} steps */
export function placePlan(steps) {
  const graph = new Graph();
  graph.setGraph({ nodesep: 16, ranksep: 30, edgesep: 14, marginx: 6, marginy: 6 });
  for (const { id } of steps) graph.setNode(id, { ...BOX });
  const ids = new Set(steps.map(({ id }) => id));
  const uses = steps.flatMap(({ id, uses }) => uses.map((use) => ({ ...use, field: shorten(use.field, 24), to: id })));
  const drawn = uses.filter(({ from, to }) => from !== to && ids.has(from));
  for (const { from, to, field } of drawn)
    graph.setEdge(from, to, { width: field.length * CHARACTER.field, height: field ? 14 : 0, labelpos: 'c' });
  layout(graph);
  const { width = BOX.width, height = BOX.height } = graph.graph();
  return {
    width,
    height,
    nodes: steps.map((step) => ({ ...step, ...pointOf(graph.node(step.id)) })),
    edges: drawn.map((use) => {
      const edge = graph.edge(use.from, use.to);
      return { ...use, ...pointOf(edge), points: /** @type {{x: number, y: number}[]} */ (edge.points) };
    }),
  };
}

/** @param {{x?: number, y?: number}} placed */
const pointOf = ({ x = 0, y = 0 }) => ({ x, y });

/** Passes through the midpoints between the points, so that it has no corners. @param {{x: number, y: number}[]} points */
function curve(points) {
  const [first = { x: 0, y: 0 }, ...rest] = points;
  const last = rest.at(-1) ?? first;
  const parts = rest.slice(0, -1).map((point, at) => {
    const next = rest[at + 1] ?? last;
    const end = at === rest.length - 2 ? next : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q${point.x} ${point.y} ${end.x} ${end.y}`;
  });
  return `M${first.x} ${first.y}${parts.join('') || `L${last.x} ${last.y}`}`;
}

/** On two lines if needed, broken between words. @param {string} name */
function breakName(name) {
  const most = Math.floor((BOX.width - 22) / CHARACTER.tool);
  if (name.length <= most) return [name];
  const cut = Math.max(...['_', '-', '.'].map((sign) => name.lastIndexOf(sign, most - 1))) + 1 || most;
  return [name.slice(0, cut), shorten(name.slice(cut), most)];
}

/** Cuts the middle, since related names differ at their ends. @param {string} text @param {number} most */
function shorten(text, most) {
  const half = Math.floor((most - 1) / 2);
  return text.length <= most ? text : `${text.slice(0, most - 1 - half)}…${text.slice(text.length - half)}`;
}
