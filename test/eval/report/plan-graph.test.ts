/** Where the page draws the steps and the arrows of a plan. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ShownStep } from '../../../src/eval/report/show-plan.js';

interface GraphModule {
  placePlan(steps: readonly ShownStep[]): {
    nodes: { id: string; x: number; y: number }[];
    edges: { from: string; to: string; points: { x: number; y: number }[] }[];
    width: number;
    height: number;
  };
  BOX: { width: number; height: number };
}
const { placePlan, BOX }: GraphModule = await import(
  new URL('../../../src/eval/report/page/graph.js', import.meta.url).href
);

const aStep = (id: string, ...from: string[]): ShownStep => ({
  ...{ id, tool: `tool_of_${id}`, state: 'hit' },
  uses: from.map((other) => ({ from: other, field: 'code', state: 'hit' })),
});

/** Each step waits for some of those before it. */
const plans = fc
  .array(fc.uniqueArray(fc.nat(8), { maxLength: 4 }), { minLength: 1, maxLength: 9 })
  .map((lists) =>
    lists.map((list, at) => aStep(`s${at + 1}`, ...list.filter((other) => other < at).map((other) => `s${other + 1}`))),
  );

describe('the graph of a plan', () => {
  it('stands every step below all that it waits for, lets no two boxes touch, and draws each edge once', () => {
    fc.assert(
      fc.property(plans, (steps) => {
        const { nodes, edges, width, height } = placePlan(steps);
        const placed = new Map(nodes.map((node) => [node.id, node]));
        const wanted = steps.flatMap(({ id, uses }) => uses.map(({ from }) => [from, id]));
        expect(edges.map(({ from, to }) => [from, to])).toEqual(wanted);
        for (const [from = '', to = ''] of wanted)
          expect(placed.get(to)?.y).toBeGreaterThanOrEqual((placed.get(from)?.y ?? 0) + BOX.height);
        for (const one of nodes) {
          expect(one.x - BOX.width / 2).toBeGreaterThanOrEqual(0);
          expect(one.x + BOX.width / 2).toBeLessThanOrEqual(width);
          expect(one.y + BOX.height / 2).toBeLessThanOrEqual(height);
          for (const other of nodes) {
            if (one === other || Math.abs(one.y - other.y) >= BOX.height) continue;
            expect(Math.abs(one.x - other.x)).toBeGreaterThan(BOX.width);
          }
        }
      }),
    );
  });

  it.each<[string, ShownStep[], number]>([
    ['steps in a circle', [aStep('a', 'b'), aStep('b', 'a')], 2],
    ['a step that waits for itself', [aStep('a', 'a')], 0],
    ['a step that waits for one that does not exist', [aStep('a', 'z')], 0],
  ])('comes to an end with %s', (_, steps, count) => {
    const { nodes, edges } = placePlan(steps);
    expect(nodes.map(({ id }) => id)).toEqual(steps.map(({ id }) => id));
    expect(edges).toHaveLength(count);
  });
});
