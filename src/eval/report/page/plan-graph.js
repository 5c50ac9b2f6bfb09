/**
 * Places the steps of a plan by levels, from above to below: a step stands under the last of those it waits for.
 * Long edges pass between the boxes (Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical
 * System Structures", 1981: levels, dummy places, barycentres).
 */

/** @typedef {{id: string, from: string[]}} GraphStep `from`: ids of the steps it waits for. */
/** @typedef {{id: string, x: number, y: number, level: number}} PlacedStep */
/** @typedef {{from: string, to: string, points: [number, number][], place: number, places: number}} PlacedEdge `place`: among the edges that reach the step, from the left. */
/** @typedef {{key: string, width: number, above: string[]}} Slot A step, or a place through which an edge passes. */

export const BOX = { width: 172, height: 56 };
const GAP = { x: 14, y: 60 };
const PASSAGE = 14;
const SWEEPS = 4;

/**
 * @param {GraphStep[]} steps
 * @returns {{steps: PlacedStep[], edges: PlacedEdge[], width: number, height: number}}
 */
export function placeGraph(steps) {
  const levelOf = findLevels(steps);
  const rows = orderRows(fillRows(steps, levelOf));
  const rowWidth = (/** @type {Slot[]} */ row) => row.reduce((sum, { width }) => sum + width + GAP.x, -GAP.x);
  const width = Math.max(BOX.width, ...rows.map(rowWidth));
  const middle = /** @type {Map<string, [number, number]>} */ (new Map());
  rows.forEach((row, level) => {
    let x = (width - rowWidth(row)) / 2;
    for (const slot of row) {
      middle.set(slot.key, [x + slot.width / 2, level * (BOX.height + GAP.y) + BOX.height / 2]);
      x += slot.width + GAP.x;
    }
  });
  const at = (/** @type {string} */ key) => middle.get(key) ?? [0, 0];
  return {
    width,
    height: rows.length * (BOX.height + GAP.y) - GAP.y,
    steps: steps.map(({ id }) => {
      const [x, y] = at(id);
      return { id, x: x - BOX.width / 2, y: y - BOX.height / 2, level: levelOf.get(id) ?? 0 };
    }),
    edges: placeEdges(steps, { levelOf, at }),
  };
}

/** @param {string[]} from @param {Map<string, number>} levelOf */
const knownOf = (from, levelOf) => [...new Set(from)].filter((other) => levelOf.has(other));

/** A circle, which a broken plan may hold, ends where it began: a step on the way to itself counts as the first. @param {GraphStep[]} steps @returns {Map<string, number>} */
function findLevels(steps) {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const levels = /** @type {Map<string, number>} */ (new Map());
  /** @param {GraphStep} step @param {Set<string>} way @returns {number} */
  const visit = (step, way) => {
    const known = levels.get(step.id);
    if (known !== undefined) return known;
    const before = step.from.flatMap((id) => byId.get(id) ?? []).filter(({ id }) => !way.has(id) && id !== step.id);
    const level = Math.max(-1, ...before.map((other) => visit(other, new Set([...way, step.id])))) + 1;
    levels.set(step.id, level);
    return level;
  };
  for (const step of steps) visit(step, new Set());
  return levels;
}

/** @param {string} from @param {string} to @param {number} level */
const passage = (from, to, level) => `${from}>${to}@${level}`;

/** @param {GraphStep[]} steps @param {Map<string, number>} levelOf @returns {Slot[][]} */
function fillRows(steps, levelOf) {
  const rows = /** @type {Slot[][]} */ (Array.from({ length: Math.max(0, ...levelOf.values()) + 1 }, () => []));
  for (const { id, from } of steps) {
    const level = levelOf.get(id) ?? 0;
    const above = [];
    for (const other of knownOf(from, levelOf)) {
      const first = (levelOf.get(other) ?? 0) + 1;
      for (let between = first; between < level; between += 1) {
        rows[between]?.push({
          key: passage(other, id, between),
          width: PASSAGE,
          above: [between === first ? other : passage(other, id, between - 1)],
        });
      }
      above.push(first < level ? passage(other, id, level - 1) : other);
    }
    rows[level]?.push({ key: id, width: BOX.width, above });
  }
  return rows;
}

/** Each row by the middle of its neighbours in the row above, then in the row below, some times over. @param {Slot[][]} rows */
function orderRows(rows) {
  const above = new Map(rows.flat().map((slot) => [slot.key, slot.above]));
  const below = new Map(rows.flat().map(({ key }) => [key, /** @type {string[]} */ ([])]));
  for (const [key, others] of above) for (const other of others) below.get(other)?.push(key);
  let ordered = rows;
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    ordered = sweepRows(sweepRows(ordered, above).reverse(), below).reverse();
  }
  return sweepRows(ordered, above);
}

/** @param {Slot[][]} rows @param {Map<string, string[]>} neighbours Of a slot, those in the row before. */
function sweepRows(rows, neighbours) {
  const done = /** @type {Slot[][]} */ ([]);
  for (const row of rows) {
    const place = new Map(done.at(-1)?.map(({ key }, at) => [key, at]));
    const keyed = row.map((slot, own) => {
      const places = (neighbours.get(slot.key) ?? []).flatMap((key) => place.get(key) ?? []);
      const center = places.length === 0 ? own : places.reduce((sum, at) => sum + at, 0) / places.length;
      return { slot, center };
    });
    done.push(keyed.sort((a, b) => a.center - b.center).map(({ slot }) => slot));
  }
  return done;
}

/**
 * Edges leave and reach a box side by side, in the order of what they lead to: so they cross no more than they must.
 * @param {GraphStep[]} steps
 * @param {{levelOf: Map<string, number>, at(key: string): [number, number]}} places
 * @returns {PlacedEdge[]}
 */
function placeEdges(steps, { levelOf, at }) {
  const edges = steps.flatMap(({ id, from }) =>
    knownOf(from, levelOf).map((other) => {
      const levels = Array.from({ length: Math.max(0, (levelOf.get(id) ?? 0) - (levelOf.get(other) ?? 0) - 1) });
      const passages = levels.map((_, step) => at(passage(other, id, (levelOf.get(other) ?? 0) + 1 + step)));
      return { from: other, to: id, way: [at(other), ...passages, at(id)] };
    }),
  );
  return edges.map((edge) => {
    const leaving = edges
      .filter(({ from }) => from === edge.from)
      .sort((a, b) => (a.way[1]?.[0] ?? 0) - (b.way[1]?.[0] ?? 0));
    const arriving = edges
      .filter(({ to }) => to === edge.to)
      .sort((a, b) => (a.way.at(-2)?.[0] ?? 0) - (b.way.at(-2)?.[0] ?? 0));
    const [start, end] = [at(edge.from), at(edge.to)];
    const [place, places] = [arriving.indexOf(edge), arriving.length];
    /** @type {[number, number][]} */
    const points = [
      [start[0] + portOf(leaving.indexOf(edge), leaving.length), start[1] + BOX.height / 2],
      ...edge.way.slice(1, -1).flatMap(
        ([x, y]) =>
          /** @type {[number, number][]} */ ([
            [x, y - BOX.height / 2],
            [x, y + BOX.height / 2],
          ]),
      ),
      [end[0] + portOf(place, places), end[1] - BOX.height / 2],
    ];
    return { from: edge.from, to: edge.to, points, place, places };
  });
}

/** From the middle of a box's side. @param {number} place @param {number} count */
function portOf(place, count) {
  return ((place + 0.5) / count - 0.5) * BOX.width * (count > 1 ? 0.7 : 1);
}
