import { describe, expect, it } from '@jest/globals';
import { type CaseRecord, caseRecordSchema } from '../../../src/eval/record.js';
import { compareRecord, showPlan } from '../../../src/eval/report/show-plan.js';
import { aRecord, steps } from '../setup.js';
import { generateRun } from './generated-run.js';

const exact = { ignoreCase: false };

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

const planned = (more: Partial<CaseRecord> = {}, options = exact) =>
  compareRecord(aRecord({ expected: EXPECTED, result: { kind: 'plan', steps: GOT }, ...more }), options);

describe('the plan of a case, as the page draws it', () => {
  it('has expected values as a plan writes them, and takes a price for no reference', () => {
    expect(showPlan(planned())?.expected.map((step) => step.arguments)).toEqual([
      { name: 'Lake' },
      { price: '$1.50', code: '${s1.data[0].code}' },
      { text: 'Bought ${s2.name} for $20' },
    ]);
  });

  it('has an arrow for each edge that is counted, with the fields that are taken', () => {
    expect(showPlan(planned())).toMatchObject({
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

  it('leaves the comparison of the record alone, which knew the catalogue', () => {
    const told = [{ expected: 0, got: 0, arguments: { name: 'missing' as const, kind: 'default' as const } }];
    expect(planned({ comparison: { steps: told } }).comparison).toEqual({ steps: told });
  });

  it('compares by itself where a record of an earlier version does not tell, by the letter case of the run', () => {
    const result = { kind: 'plan' as const, steps: steps(['find', { name: 'LAKE' }]) };
    const verdictOf = (ignoreCase: boolean) => planned({ result }, { ignoreCase }).comparison?.steps[0]?.arguments.name;
    expect([verdictOf(false), verdictOf(true)]).toEqual(['different', 'form']);
    for (const record of generateRun({ cases: 60 }).records()) {
      const { comparison: _, ...old } = record;
      expect(compareRecord(caseRecordSchema.parse(old), exact)).toEqual(compareRecord(record, exact));
    }
  });

  it('is the alternative that the plan was judged by, each reference to its step there', () => {
    const alternatives = [['find', 'tell']];
    const result = { kind: 'plan' as const, steps: steps(['find', { name: 'Lake' }], ['tell', { text: 'x' }]) };
    const plan = showPlan(planned({ expected: { ...EXPECTED, alternatives }, result }));
    expect(plan?.expected.map(({ id, tool }) => `${id} ${tool}`)).toEqual(['s1 find', 's2 tell']);
    expect(plan?.expected[1]?.arguments.text).toBe('Bought $1.name for $20');
  });

  it('leaves arrows unjudged where no edges are known, and has no plan where none is told of', () => {
    const { edges: _, ...expected } = EXPECTED;
    const uses = showPlan(planned({ expected }))?.got.flatMap((step) => step.uses.map(({ state }) => state));
    expect(uses).toEqual(['unjudged', 'unjudged']);
    expect(showPlan(compareRecord(aRecord({}), exact))).toBeUndefined();
  });
});
