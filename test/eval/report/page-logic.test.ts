/** The parts of the page's script that draw nothing, as they stand in the files. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

const load = (name: string) => import(new URL(`../../../src/eval/report/page/${name}.js`, import.meta.url).href);

interface GraphStep {
  id: string;
  from: string[];
}
interface Graph {
  steps: { id: string; x: number; y: number; level: number }[];
  edges: { from: string; to: string; points: [number, number][] }[];
  width: number;
  height: number;
}
interface GraphModule {
  placeGraph(steps: GraphStep[]): Graph;
  BOX: { width: number; height: number };
}
interface ColourModule {
  colourOf(value: number | null, better: string | undefined): string;
}
interface RecallModule {
  recallAtK(cases: ChartCase[]): { k: number; recall: { mean: number; count: number }; all: { mean: number } }[];
}
interface ChartCase {
  state: string;
  mode: string;
  expected: string[];
  got: { name: string }[];
}

const { placeGraph, BOX }: GraphModule = await load('plan-graph');
const { recallAtK }: RecallModule = await load('recall-chart');
const { colourOf }: ColourModule = await load('score-colour');

/** Plans of up to nine steps, each after some of those before it. */
const plans = fc.array(fc.array(fc.nat(8), { maxLength: 4 }), { minLength: 1, maxLength: 9 }).map((lists) =>
  lists.map(
    (list, at): GraphStep => ({
      id: `s${at + 1}`,
      from: list.filter((other) => other < at).map((other) => `s${other + 1}`),
    }),
  ),
);

describe('the colour of a score', () => {
  it.each([
    ['higher', ['bad', 'between', 'good', 'good']],
    ['lower', ['good', 'between', 'bad', 'bad']],
    ['none', ['none', 'none', 'none', 'none']],
    [undefined, ['none', 'none', 'none', 'none']],
  ])('where %s is better says whether it is good', (better, colours) => {
    expect([0, 0.5, 1, 3].map((value) => colourOf(value, better))).toEqual(colours);
    expect(colourOf(null, better)).toBe('none');
  });
});

describe('the graph of a plan', () => {
  it('stands every step below all that it waits for', () => {
    fc.assert(
      fc.property(plans, (steps) => {
        const placed = new Map(placeGraph(steps).steps.map((step) => [step.id, step]));
        for (const { id, from } of steps) {
          for (const other of from)
            expect(placed.get(id)?.y).toBeGreaterThanOrEqual((placed.get(other)?.y ?? 0) + BOX.height);
        }
      }),
    );
  });

  it('lets no two boxes touch, and keeps all within its bounds', () => {
    fc.assert(
      fc.property(plans, (steps) => {
        const graph = placeGraph(steps);
        for (const one of graph.steps) {
          expect(one.x).toBeGreaterThanOrEqual(0);
          expect(one.x + BOX.width).toBeLessThanOrEqual(graph.width);
          expect(one.y + BOX.height).toBeLessThanOrEqual(graph.height);
          for (const other of graph.steps) {
            if (one !== other && one.y === other.y) expect(Math.abs(one.x - other.x)).toBeGreaterThan(BOX.width);
          }
        }
      }),
    );
  });

  it('draws each edge once, from box to box, through no other box', () => {
    fc.assert(
      fc.property(plans, (steps) => {
        const graph = placeGraph(steps);
        const wanted = steps.flatMap(({ id, from }) => [...new Set(from)].map((other) => `${other} ${id}`));
        expect(graph.edges.map(({ from, to }) => `${from} ${to}`).sort()).toEqual(wanted.sort());
        for (const { points, from, to } of graph.edges) {
          for (const box of graph.steps.filter(({ id }) => id !== from && id !== to)) {
            for (const [x, y] of points)
              expect(x > box.x && x < box.x + BOX.width && y > box.y && y < box.y + BOX.height).toBe(false);
          }
        }
      }),
    );
  });

  it.each<[string, GraphStep[]]>([
    [
      'steps in a circle',
      [
        { id: 'a', from: ['b'] },
        { id: 'b', from: ['a'] },
      ],
    ],
    ['a step that waits for itself', [{ id: 'a', from: ['a'] }]],
    ['a step that waits for one that does not exist', [{ id: 'a', from: ['z'] }]],
  ])('comes to an end with %s', (_, steps) => {
    expect(placeGraph(steps).steps.map(({ id }) => id)).toEqual(steps.map(({ id }) => id));
  });
});

describe('the chart of recall at k', () => {
  const aCase = (more: Partial<ChartCase>): ChartCase => ({
    state: 'right',
    mode: 'selected',
    expected: ['a', 'b'],
    got: ['x', 'a', 'y', 'b'].map((name) => ({ name })),
    ...more,
  });

  it('has the share of the needed tools that stand among the first k', () => {
    const points = recallAtK([aCase({})]);
    expect(points.map(({ recall }) => recall.mean)).toEqual([0, 0.5, 0.5, 1, 1, 1, 1, 1]);
    expect(points.map(({ all }) => all.mean)).toEqual([0, 0, 0, 1, 1, 1, 1, 1]);
  });

  it.each<[string, Partial<ChartCase>]>([
    ['ended with an error', { state: 'error' }],
    ['needs no tool', { expected: [] }],
    ['had its selection skipped', { mode: 'passthrough' }],
  ])('leaves out a case that %s', (_, more) => {
    expect(recallAtK([aCase({}), aCase(more)])[7]?.recall).toMatchObject({ mean: 1, count: 1 });
  });
});
