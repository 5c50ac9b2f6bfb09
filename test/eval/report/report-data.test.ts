import { describe, expect, it } from '@jest/globals';
import { createTally } from '../../../src/eval/metrics.js';
import type { CaseRecord } from '../../../src/eval/record.js';
import { nearestTools, stateOf, toRow } from '../../../src/eval/report/report-data.js';
import { aSelection } from '../setup.js';
import { createRecord } from './generated-run.js';

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
    expect(nearestTools({ expected, selection: aSelection(got) })).toEqual(needed);
  });
});
