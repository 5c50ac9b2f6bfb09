import { describe, expect, it } from '@jest/globals';
import { scorePlan } from '../../../src/eval/plan-scores.js';
import type { CaseRecord } from '../../../src/eval/record.js';
import { showPlan } from '../../../src/eval/report/show-plan.js';
import { aRecord, steps } from '../setup.js';

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
