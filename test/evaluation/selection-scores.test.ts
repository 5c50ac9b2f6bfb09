import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { SelectedTool } from '../../src/core/result.js';
import { scoreConduct, scoreSelection } from '../../src/evaluation/selection-scores.js';
import { aSelection } from './setup.js';

const tokens = () => 10;
const score = (tools: string[], names: readonly (string | SelectedTool)[], alternatives?: string[][]) =>
  scoreSelection({ tools, ...(alternatives ? { alternatives } : {}) }, aSelection(names), tokens);

describe('scores of a selection', () => {
  it('are worked out by hand for two needed tools among four', () => {
    const fill = (name: string): SelectedTool => ({ name, via: 'keyword', fill: true });
    const scores = score(['a', 'b'], ['x', 'a', fill('y'), fill('b')]);
    expect(scores).toMatchObject({
      recall: 1,
      precision: 0.5,
      f1: 2 / 3,
      exact: 0,
      allNeeded: 1,
      chosenRecall: 0.5,
      chosenPrecision: 0.5,
      chosenF1: 0.5,
      chosenExact: 0,
      'recall@3': 0.5,
      'all@3': 0,
      'recall@5': 1,
      'all@5': 1,
      top1: 0,
      top3: 1,
      mrr: 0.5,
      handedOn: 4,
      'found.model': 0.5,
      'found.keyword': 0.5,
      'found.rule': 0,
      'tools.keyword': 2,
      'tokens.keyword': 20,
    });
  });

  it.each([1, 3, 4, 5, 6, 8, 9, 10, 11])('of a needed tool at place %i fall at the cut-offs before it', (place) => {
    const ranked = Array.from({ length: 12 }, (_, at) => (at + 1 === place ? 'a' : `other_${at}`));
    const from = (least: number) => Number(place <= least);
    expect(score(['a'], ranked)).toMatchObject({
      'recall@3': from(3),
      'recall@5': from(5),
      'recall@8': from(8),
      'recall@10': from(10),
      'all@3': from(3),
      'all@5': from(5),
      'all@8': from(8),
      'all@10': from(10),
      top1: from(1),
      top3: from(3),
      mrr: 1 / place,
    });
  });

  it('give nothing for a name that is nearly right', () => {
    expect(score(['get_user'], ['get_users', 'getuser', 'GET_USER'])).toMatchObject({
      recall: 0,
      'recall@3': 0,
      mrr: 0,
    });
  });

  it('count the alternative that is fulfilled best', () => {
    expect(score(['a', 'b'], ['c'], [['c']])).toMatchObject({ recall: 1, exact: 1, allNeeded: 1, 'all@3': 1, top1: 1 });
    expect(score(['a', 'b'], ['a'], [['c', 'd', 'e']])).toMatchObject({ recall: 0.5, top1: 1 });
  });

  it('do not apply where nothing is needed', () => {
    expect(score([], ['a'])).toMatchObject({
      recall: null,
      precision: null,
      'recall@8': null,
      mrr: null,
      allNeeded: null,
    });
  });

  it('have no rank where selection was skipped, since the order says nothing', () => {
    const skipped = aSelection(
      [
        { name: 'b', via: 'all' },
        { name: 'a', via: 'all' },
      ],
      { mode: 'passthrough' },
    );
    expect(scoreSelection({ tools: ['a'] }, skipped, tokens)).toMatchObject({
      recall: 1,
      'recall@3': null,
      top1: null,
    });
  });

  const names = fc.uniqueArray(fc.constantFrom(...'abcdefghijkl'), { maxLength: 12 });
  it('lie between 0 and 1, and grow with k', () => {
    fc.assert(
      fc.property(names, names, (needed, got) => {
        const scores = score(needed, got);
        for (const [name, value] of Object.entries(scores)) {
          if (value === null || /^(?:handedOn|tools\.|tokens\.)/u.test(name)) continue;
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
        }
        if (needed.length === 0) return;
        const at = [3, 5, 8, 10].map((cutoff) => scores[`recall@${cutoff}`] ?? -1);
        expect(at).toEqual([...at].sort((one, other) => one - other));
        expect(scores.exact === 1).toBe(scores.recall === 1 && scores.precision === 1);
        expect(scores['all@10'] === 1).toBe(scores['recall@10'] === 1);
        expect(scores.mrr === 1).toBe(scores.top1 === 1);
      }),
    );
  });

  it('do not change with the order, but for those of the rank', () => {
    fc.assert(
      fc.property(names, names, (needed, got) => {
        const { recall, precision, f1, exact } = score(needed, got);
        expect(score(needed, [...got].reverse())).toMatchObject({ recall, precision, f1, exact });
      }),
    );
  });
});

describe('conduct', () => {
  const unknown = { name: 'nope', reason: 'unknown' as const };
  const cap = { name: 'b', reason: 'cap' as const };

  it.each([
    ['nothing picked where nothing fits', [], { tools: [] }, { abstention: 1, falseAbstention: null }],
    ['something picked where nothing fits', ['a'], { tools: [] }, { abstention: 0, falseAbstention: null }],
    ['nothing picked where something fits', [], { tools: ['a'] }, { abstention: null, falseAbstention: 1 }],
    ['a question that is wanted', [], { tools: [], kind: 'clarification' as const }, { abstention: null }],
  ])('tells %s', (_, picked, expected, scores) => {
    expect(scoreConduct(expected, aSelection(picked), false)).toMatchObject(scores);
  });

  it('does not take an always-on tool for a pick', () => {
    const selection = aSelection([{ name: 'help', via: 'always' }]);
    expect(scoreConduct({ tools: [] }, selection, false)).toMatchObject({ abstention: 1 });
  });

  it('does not judge abstention where selection was skipped', () => {
    const skipped = scoreConduct({ tools: [] }, aSelection(['a'], { mode: 'passthrough' }), false);
    expect(skipped).toMatchObject({ abstention: null });
  });

  it('counts made-up names, repairs and fallbacks, and none of them where selection was skipped', () => {
    const selection = aSelection(['a'], { dropped: [unknown, cap] });
    expect(scoreConduct({ tools: ['a'] }, selection, true)).toMatchObject({
      unknownNames: 1,
      selectionRepaired: 1,
      fallback: 0,
      passthrough: 0,
    });
    const fallback = aSelection(['a'], { mode: 'fallback' });
    expect(scoreConduct({ tools: ['a'] }, fallback, false)).toMatchObject({ fallback: 1 });
    const skipped = aSelection(['a'], { mode: 'passthrough' });
    expect(scoreConduct({ tools: ['a'] }, skipped, false)).toMatchObject({
      unknownNames: null,
      fallback: null,
      passthrough: 1,
    });
  });
});
