/** The scores of a case: its selection, its values and the whole. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { SelectedTool } from '../../src/core/result.js';
import { type Outcome, scoreCase } from '../../src/eval/score-case.js';
import { scoreConduct, scoreSelection } from '../../src/eval/selection-scores.js';
import { isAccepted, isSameValue } from '../../src/eval/values.js';
import { aSelection, NO_USAGE, steps } from './setup.js';

const plan = (tool: string, values: Record<string, unknown> = {}) => ({
  kind: 'plan' as const,
  steps: steps([tool, values]),
});
const outcome = (more: Partial<Outcome>): Outcome => ({
  expected: { tools: ['a'], steps: [{ tool: 'a', arguments: { x: 1 } }], edges: [] },
  ignoreCase: false,
  selection: aSelection(['a']),
  selectionRepaired: false,
  result: undefined,
  usage: { selection: NO_USAGE, planning: NO_USAGE, schemaTokens: { all: 200, loaded: 20 } },
  schemaTokens: () => 1,
  isVisible: () => true,
  defaultOf: () => undefined,
  ...more,
});

describe('a case is right', () => {
  it.each<[string, Partial<Outcome>]>([
    ['when all needed tools are handed on, where only selection was asked for', { selection: aSelection(['b', 'a']) }],
    [
      'when all tools of an alternative are handed on',
      { expected: { tools: ['a'], alternatives: [['c', 'd']] }, selection: aSelection(['d', 'c']) },
    ],
    ['when nothing was picked and nothing fits', { expected: { tools: [] }, selection: aSelection([]) }],
    ['when the plan is exact', { result: plan('a', { x: 1 }) }],
    ['when the plan was given the tools and is exact', { selection: undefined, result: plan('a', { x: 1 }) }],
    [
      'when it asks back as it should',
      { expected: { tools: [], kind: 'clarification' }, result: { kind: 'clarification' } },
    ],
    [
      'when it refuses where nothing fits',
      { expected: { tools: [] }, selection: aSelection([]), result: { kind: 'unplannable' } },
    ],
    [
      'when only the tools of the plan are known, and they are there',
      { expected: { tools: ['a'] }, result: plan('a', { y: 7 }) },
    ],
  ])('%s', (_, more) => {
    const { scores, cause } = scoreCase(outcome(more));
    expect([scores.right, cause]).toEqual([1, undefined]);
  });

  it('or not can not be said of a selection that was skipped where nothing fits', () => {
    const skipped = aSelection(['a'], { mode: 'passthrough' });
    const { scores, cause } = scoreCase(outcome({ expected: { tools: [] }, selection: skipped }));
    expect([scores.right, cause]).toEqual([null, undefined]);
  });
});

describe('the cause of a case that is not right', () => {
  const none = aSelection(['b']);
  const cap = aSelection(['b'], { dropped: [{ name: 'a', reason: 'cap' }] });
  const schema = aSelection(['b'], { dropped: [{ name: 'a', reason: 'schemaTokens' }] });
  const invalid = { kind: 'plan_invalid' as const, repaired: true };
  const nothing = { tools: [] };

  it.each<[string, Partial<Outcome>]>([
    ['not-ranked', { selection: none }],
    ['not-shown', { selection: none, wasShown: (name) => name !== 'a' }],
    ['cap', { selection: cap }],
    ['cap', { selection: schema }],
    ['abstained', { selection: aSelection([]) }],
    ['fallback', { selection: aSelection(['b'], { mode: 'fallback' }) }],
    ['not-in-catalogue', { selection: none, isVisible: () => false }],
    ['should-abstain', { expected: nothing }],
    ['not-ranked', { selection: none, result: { kind: 'unplannable' } }],
    ['plan-invalid', { result: invalid }],
    ['gave-up', { result: { kind: 'unplannable' } }],
    ['asked-back', { result: { kind: 'clarification' } }],
    ['planned-anyway', { expected: nothing, result: plan('a') }],
    ['did-not-ask', { expected: { tools: [], kind: 'clarification' }, result: plan('a') }],
    ['wrong-tool', { result: plan('b') }],
    ['wrong-argument', { result: plan('a', { x: 2 }) }],
    [
      'wrong-tool',
      { expected: { tools: ['a'], alternatives: [['c']] }, selection: aSelection(['c']), result: plan('b') },
    ],
    ['missing-argument', { result: plan('a') }],
  ])('is %s', (cause, more) => {
    const verdict = scoreCase(outcome(more));
    expect(verdict).toMatchObject({ cause, scores: { right: 0 } });
  });
});

describe('the kind of a result', () => {
  it.each<[string, Partial<Outcome>, Record<string, number | null>]>([
    [
      'a plan at the first try',
      { result: plan('a', { x: 1 }) },
      { valid: 1, validFirst: 1, planRepaired: 0, kind: 1, unplannableWrong: 0 },
    ],
    [
      'a plan after a repair',
      { result: { ...plan('a', { x: 1 }), repaired: true } },
      { valid: 1, validFirst: 0, planRepaired: 1 },
    ],
    [
      'no valid plan',
      { result: { kind: 'plan_invalid', repaired: true } },
      { valid: 0, validFirst: 0, kind: 0, nodeF1: 0 },
    ],
    [
      'a refusal that is wrong',
      { result: { kind: 'unplannable' } },
      { unplannableWrong: 1, unplannableRight: null, planExact: 0 },
    ],
    [
      'a refusal that is right',
      { expected: { tools: [] }, result: { kind: 'unplannable' } },
      { unplannableRight: 1, unplannableWrong: null, nodeF1: null, planExact: null },
    ],
    [
      'a question that is wrong',
      { result: { kind: 'clarification' } },
      { clarificationWrong: 1, clarificationRight: null },
    ],
  ])('tells %s', (_, more, scores) => {
    expect(scoreCase(outcome(more)).scores).toMatchObject(scores);
  });

  it('says nothing of plans where only selection was asked for, and the share of tokens saved in both', () => {
    const { scores } = scoreCase(outcome({}));
    expect(scores).toMatchObject({ schemaTokensSaved: 0.9 });
    expect(scores).not.toHaveProperty('nodeF1');
  });
});

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

describe('values', () => {
  const exact = { ignoreCase: false };

  describe('two values are the same', () => {
    it.each<[string, unknown, unknown]>([
      ['numbers', 5, 5.0],
      ['a number and its text', 5, '5.0'],
      ['a text and its number', ' -1.5e3 ', -1500],
      ['texts with other white space', ' a  b ', 'a b'],
      ['full-width characters', '１２', '12'],
      ['dates with other separators', '2024-08-05', '2024/8/5'],
      ['a Chinese date', '2026年5月12日', '2026-05-12'],
      ['a date in words', 'Aug 5th, 2024', '5 August 2024'],
      ['a day that can be no month', '25/12/2024', '2024-12-25'],
      ['a day in front', '12.25.2024', '25 December 2024'],
      ['a day that has the number of its month', '5/05/2024', '2024-05-05'],
      ['one day that can be read in two ways', '05/08/2024', '5/8/2024'],
      ['times with and without seconds', '2024-08-05 09:30', '2024-08-05T09:30:00.000'],
      ['times at the zero meridian', '2024-08-05T09:30Z', '2024-08-05T09:30:00+00:00'],
      ['objects with keys in another order', { a: 1, b: [2] }, { b: ['2'], a: 1 }],
      ['null', null, null],
    ])('for %s', (_, one, other) => {
      expect(isSameValue(one, other, exact)).toBe(true);
      expect(isSameValue(other, one, exact)).toBe(true);
    });

    it.each<[string, unknown, unknown]>([
      ['a code and a number', '007', 7],
      ['two codes', '1.10', '1.1'],
      ['a text and nothing', 'a', undefined],
      ['an empty text and nought', '', 0],
      ['true and 1', true, 1],
      ['lists in another order', [1, 2], [2, 1]],
      ['two days', '2024-08-05', '2024-08-06'],
      ['a day that can be read in two ways', '05/08/2024', '2024-08-05'],
      ['a day that is none', '30/45/2024', '2024-30-45'],
      ['a day with two marks', '25/12-2024', '2024-12-25'],
      ['an object with more keys', { a: 1 }, { a: 1, b: 2 }],
      ['texts in another case', 'Paris', 'paris'],
    ])('but not for %s', (_, one, other) => {
      expect(isSameValue(one, other, exact)).toBe(false);
      expect(isSameValue(other, one, exact)).toBe(false);
    });

    it('in upper and lower case where the case says so, also inside', () => {
      expect(isSameValue(['Paris'], ['paris'], { ignoreCase: true })).toBe(true);
    });

    it('always with itself, and in both directions alike', () => {
      fc.assert(
        fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
          expect(isSameValue(one, JSON.parse(JSON.stringify(one)), exact)).toBe(true);
          expect(isSameValue(one, other, exact)).toBe(isSameValue(other, one, exact));
        }),
      );
    });
  });

  describe('a list of accepted values', () => {
    it.each<[string, unknown[], unknown, boolean]>([
      ['one of them', ['NYC', 'New York'], 'New York', true],
      ['none of them', ['NYC', 'New York'], 'Boston', false],
      ['a list as a whole', [['a', 'b']], ['a', 'b'], true],
      ['a part of a list', [['a', 'b']], ['a'], false],
      ['a list of its own for each key', [{ min: [3, 4], max: [5] }], { min: 4, max: 5 }, true],
      ['a key with a wrong value', [{ min: [3], max: [5] }], { min: 3, max: 6 }, false],
      ['a key that may be left out', [{ min: [3], unit: ['', 'm'] }], { min: 3 }, true],
      ['a key that may not', [{ min: [3], max: [5] }], { min: 3 }, false],
      ['a key too many', [{ min: [3] }], { min: 3, max: 5 }, false],
      ['objects in a list', [[{ name: ['a', 'b'] }]], [{ name: 'b' }], true],
    ])('takes or refuses %s', (_, accepted, got, expected) => {
      expect(isAccepted(accepted, got, exact)).toBe(expected);
    });
  });
});
