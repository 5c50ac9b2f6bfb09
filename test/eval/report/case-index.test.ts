import { describe, expect, it } from '@jest/globals';
import { createTally } from '../../../src/eval/metrics.js';
import type { CaseRecord } from '../../../src/eval/record.js';
import { createIndexBuilder, stateOf } from '../../../src/eval/report/case-index.js';
import { createRecord } from './generated-run.js';

const wordsOf = (words: readonly string[], numbers: readonly number[] = []) => numbers.map((at) => words[at]);
const indexOf = (...records: CaseRecord[]) => {
  const builder = createIndexBuilder();
  for (const [at, record] of records.entries()) builder.add(record, [0, at]);
  return builder.take();
};

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

describe('the index', () => {
  it('writes a word once, however often it comes', () => {
    const { words, tags } = indexOf(createRecord({ number: 0 }), createRecord({ number: 9 }));
    expect(new Set(words).size).toBe(words.length);
    expect(tags.map((list) => wordsOf(words, list))).toEqual([
      ['single', 'producer'],
      ['single', 'producer'],
    ]);
  });

  it('has a column for every score, with null where a case lacks it', () => {
    const [one, two, three] = [0, 1, 2].map((number) => createRecord({ number }));
    if (!one || !two || !three) throw new Error('There are three records.');
    const { scores } = indexOf(
      { ...one, scores: { recall: 1 } },
      { ...two, scores: { precision: 1 / 3 } },
      { ...three, scores: { recall: null } },
    );
    expect(scores).toEqual({ recall: [1, null, null], precision: [null, 0.3333, null] });
  });

  it('compares with the accepted set to which the case came nearest', () => {
    const record = createRecord({ number: 0 });
    const tools = (...names: string[]) => ({
      mode: 'selected' as const,
      reason: '',
      tools: names.map((name) => ({ name, via: 'model' as const })),
      dropped: [],
      leftOut: 0,
    });
    const expected = { tools: ['a', 'b'], alternatives: [['a', 'c'], ['d']] };
    const nearest = (...names: string[]) => {
      const { words, expected: columns } = indexOf({ ...record, expected, selection: tools(...names) });
      return wordsOf(words, columns[0]);
    };
    expect(nearest('a', 'b')).toEqual(['a', 'b']);
    expect(nearest('c', 'a')).toEqual(['a', 'c']);
    expect(nearest('d', 'a')).toEqual(['d']);
    expect(nearest('z')).toEqual(['a', 'b']);
  });

  it('takes the code of an error for its cause', () => {
    const { words, cause } = indexOf(createRecord({ number: 0, flaw: 'error' }));
    expect(wordsOf(words, cause)).toEqual(['model_timeout']);
  });

  it('begins anew after a block was taken', () => {
    const builder = createIndexBuilder();
    builder.add(createRecord({ number: 0 }), [0, 0]);
    builder.take();
    expect(builder.size).toBe(0);
    builder.add(createRecord({ number: 1 }), [4, 2]);
    const block = builder.take();
    expect([block.id, block.place]).toEqual([['hydrology-0002'], [[4, 2]]]);
    expect(Math.max(...Object.values(block.scores).map((column) => column.length))).toBe(1);
  });
});
