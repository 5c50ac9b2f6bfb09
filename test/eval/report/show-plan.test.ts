/** What the page shows of a case and its plan, and where it draws it. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTally } from '../../../src/eval/metrics.js';
import { scorePlan } from '../../../src/eval/plan-scores.js';
import type { CaseRecord } from '../../../src/eval/record.js';
import { stateOf, toRow } from '../../../src/eval/report/report-data.js';
import { showPlan } from '../../../src/eval/report/show-plan.js';
import { bestSet } from '../../../src/eval/selection-scores.js';
import { toolSets } from '../../../src/eval/variants.js';
import type { ShownStep } from '../../../src/page/shown-step.js';
import { aRecord, steps } from '../setup.js';
import { createRecord } from './generated-run.js';

const EXPECTED: CaseRecord['expected'] = {
  tools: ['find', 'buy', 'tell'],
  steps: [
    { tool: 'find', arguments: { name: 'Lake' } },
    { tool: 'buy', arguments: { price: '$1.50', code: '$0.data[0].code' } },
    { tool: 'tell', arguments: { text: 'Bought $1.name for $20' } },
  ],
  edges: [
    [0, 1],
    [1, 2],
  ],
};
const GOT = steps(
  ['find', { name: 'Lake' }],
  ['buy', { price: '$1.50', code: '${s1.code}' }, ['s1']],
  ['tell', { text: 'Bought ${s1.name} for $20' }, ['s1']],
);

const planned = (more: Partial<CaseRecord> = {}) => {
  const record = aRecord({ expected: EXPECTED, result: { kind: 'plan', steps: GOT }, ...more });
  const { comparison } = scorePlan(record.expected, record.result?.steps ?? [], { ignoreCase: false });
  return showPlan({ ...record, comparison });
};

describe('the plan of a case, as the page draws it', () => {
  it('has expected values as a plan writes them, and takes a price for no reference', () => {
    expect(planned().pairs.map((pair) => pair.expected?.arguments)).toEqual([
      { name: 'Lake' },
      { price: '$1.50', code: '${s1.data[0].code}' },
      { text: 'Bought ${s2.name} for $20' },
    ]);
  });

  it('has an arrow for each edge that is counted, with the fields that are taken', () => {
    expect(planned()).toMatchObject({
      expected: [
        { id: 's1', uses: [] },
        { id: 's2', uses: [{ from: 's1', field: 'data[0].code', state: 'hit' }] },
        { id: 's3', uses: [{ from: 's2', field: 'name', state: 'missing' }] },
      ],
      got: [
        { id: 's1', uses: [] },
        { id: 's2', uses: [{ from: 's1', field: 'code', state: 'hit' }] },
        { id: 's3', uses: [{ from: 's1', field: 'name', state: 'extra' }] },
      ],
    });
  });

  it('puts each step beside the one that stands for it, with the verdict of each argument', () => {
    const steps = GOT.slice(0, 2).reverse();
    const { pairs, expected, got } = planned({ result: { kind: 'plan', steps } });
    expect(pairs.map((pair) => [pair.expected?.id, pair.got?.id, pair.arguments])).toEqual([
      ['s1', 's1', { name: 'same' }],
      ['s2', 's2', { price: 'same', code: 'same' }],
      ['s3', undefined, { text: 'missing' }],
    ]);
    expect(expected.map(({ state }) => state)).toEqual(['hit', 'hit', 'missing']);
    expect(got.map(({ state }) => state)).toEqual(['hit', 'hit']);
  });

  it('draws a plan that nobody expected, each of its steps one too many', () => {
    const record = aRecord({ expected: { tools: [], kind: 'unplannable' }, result: { kind: 'plan', steps: GOT } });
    expect(showPlan(record)).toMatchObject({
      expected: [],
      got: [{ state: 'extra' }, { state: 'extra' }, { state: 'extra' }],
      pairs: GOT.map((got) => ({ got, arguments: {} })),
    });
  });

  it('is the alternative that the plan was judged by, each reference to its step there', () => {
    const alternatives = [['find', 'tell']];
    const result = { kind: 'plan' as const, steps: steps(['find', { name: 'Lake' }], ['tell', { text: 'x' }]) };
    const plan = planned({ expected: { ...EXPECTED, alternatives }, result });
    expect(plan.expected.map(({ id, tool }) => `${id} ${tool}`)).toEqual(['s1 find', 's2 tell']);
    expect(plan.pairs[1]?.expected?.arguments.text).toBe('Bought $1.name for $20');
  });

  it('leaves arrows unjudged where no edges are known, and draws no plan where there is none', () => {
    const { edges: _, ...expected } = EXPECTED;
    const uses = planned({ expected }).got.flatMap((step) => step.uses.map(({ state }) => state));
    expect(uses).toEqual(['unjudged', 'unjudged']);
    expect(showPlan(aRecord({}))).toEqual({ expected: [], got: [], pairs: [] });
  });
});

interface GraphModule {
  placePlan(steps: readonly ShownStep[]): {
    nodes: { id: string; x: number; y: number }[];
    edges: { from: string; to: string; points: { x: number; y: number }[] }[];
    width: number;
    height: number;
  };
  BOX: { width: number; height: number };
}
const { placePlan, BOX }: GraphModule = await import(new URL('../../../src/page/graph.js', import.meta.url).href);

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

const countsOf = (record: CaseRecord) => {
  const tally = createTally();
  tally.add(record);
  return tally.facts().counts;
};

describe('the state of a case', () => {
  it.each<[string, Pick<CaseRecord, 'outcome' | 'scores'>]>([
    ['right', { outcome: 'answered', scores: { right: 1 } }],
    ['wrong', { outcome: 'answered', scores: { right: 0 } }],
    ['unjudged', { outcome: 'answered', scores: { right: null, recall: null } }],
    ['error', { outcome: 'error', scores: {} }],
  ])('is %s, as the counts of the run say', (state, record) => {
    expect(stateOf(record)).toBe(state);
    const { right, wrong, errors } = countsOf({ ...createRecord({ number: 0 }), ...record });
    expect([right, wrong, errors]).toEqual(['right', 'wrong', 'error'].map((name) => Number(name === state)));
  });
});

describe('the row of a case', () => {
  it('has what the list shows and the search looks at', () => {
    const record = createRecord({ number: 1, repeat: 2 });
    const { selection, planning } = record.usage;
    const tokens = [selection, planning].reduce((sum, one) => sum + one.read + one.cached + one.written, 0);
    const names = new Set([...record.expected.tools, ...(record.selection?.tools ?? []).map(({ name }) => name)]);
    expect(toRow(record, 1, [3, 4])).toMatchObject({
      ...{ run: 1, id: 'hydrology-0002', repeat: 2, query: record.query, lang: 'en', tags: record.tags },
      ...{ state: 'right', cause: undefined, kind: 'plan', tools: [...names], tokens, place: [3, 4] },
    });
  });

  it('takes the code of an error for its cause', () => {
    expect(toRow(createRecord({ number: 0, flaw: 'error' }), 0, [0, 0]).cause).toBe('model_timeout');
  });
});

describe('the needed tools', () => {
  it.each([
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
    [
      ['c', 'a'],
      ['a', 'c'],
    ],
    [['d', 'a'], ['d']],
    [['z'], ['a', 'b']],
  ])('of a case that got %j are the accepted set to which it came nearest', (got, needed) => {
    const expected = { tools: ['a', 'b'], alternatives: [['a', 'c'], ['d']] };
    expect(bestSet(toolSets(expected), got)).toEqual(needed);
  });
});
