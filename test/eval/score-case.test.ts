/** The scores of a case: its selection, its values and the whole. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SelectedTool } from '../../src/core/result.js';
import { type Outcome, scoreCase } from '../../src/eval/score-case.js';
import { scoreSelection } from '../../src/eval/selection-scores.js';
import { isAccepted, isSameValue } from '../../src/eval/values.js';
import { aSelection, steps } from './setup.js';

const plan = (tool: string, values: Record<string, unknown> = {}) => ({
  kind: 'plan' as const,
  steps: steps([tool, values]),
});
const outcome = (more: Partial<Outcome>): Outcome => ({
  expected: { tools: ['a'], steps: [{ tool: 'a', arguments: { x: 1 } }], edges: [] },
  ignoreCase: false,
  selection: aSelection(['a']),
  result: undefined,
  schemaTokens: { all: 200, loaded: 20 },
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
    ['a plan, also after a repair', { result: { ...plan('a', { x: 1 }), repaired: true } }, { valid: 1, kind: 1 }],
    ['no valid plan', { result: { kind: 'plan_invalid', repaired: true } }, { valid: 0, kind: 0, nodeF1: 0 }],
    ['a refusal that is wrong', { result: { kind: 'unplannable' } }, { kind: 0, nodeF1: 0 }],
    [
      'a refusal that is right',
      { expected: { tools: [] }, result: { kind: 'unplannable' } },
      { kind: 1, nodeF1: null },
    ],
    ['a question that is wrong', { result: { kind: 'clarification' } }, { kind: 0, valid: 1 }],
  ])('counts %s', (_, more, scores) => {
    expect(scoreCase(outcome(more)).scores).toMatchObject(scores);
  });

  it('says nothing of plans where only selection was asked for, and the share of tokens saved in both', () => {
    const { scores } = scoreCase(outcome({}));
    expect(scores).toMatchObject({ schemaTokensSaved: 0.9 });
    expect(scores).not.toHaveProperty('nodeF1');
  });
});

const score = (tools: string[], names: readonly (string | SelectedTool)[], alternatives?: string[][]) =>
  scoreSelection({ tools, ...(alternatives ? { alternatives } : {}) }, aSelection(names));

describe('scores of a selection', () => {
  it('are worked out by hand for two needed tools among four', () => {
    expect(score(['a', 'b'], ['x', 'a', 'y', 'b'])).toEqual({
      allNeeded: 1,
      recall: 1,
      precision: 0.5,
      'recall@3': 0.5,
      'recall@5': 1,
      'recall@8': 1,
      'recall@10': 1,
      top1: 0,
      abstention: null,
      fallback: 0,
    });
  });

  it.each([1, 3, 4, 5, 6, 8, 9, 10, 11])('of a needed tool at place %i fall at the cut-offs before it', (place) => {
    const ranked = Array.from({ length: 12 }, (_, at) => (at + 1 === place ? 'a' : `other_${at}`));
    const found = [3, 5, 8, 10].map((cutoff) => [`recall@${cutoff}`, Number(place <= cutoff)]);
    expect(score(['a'], ranked)).toMatchObject({ ...Object.fromEntries(found), top1: Number(place === 1) });
  });

  it('give nothing for a name that is nearly right', () => {
    expect(score(['get_user'], ['get_users', 'getuser', 'GET_USER'])).toMatchObject({ recall: 0, top1: 0 });
  });

  it('count the alternative that is fulfilled best', () => {
    expect(score(['a', 'b'], ['c'], [['c']])).toMatchObject({ recall: 1, precision: 1, allNeeded: 1, top1: 1 });
    expect(score(['a', 'b'], ['a'], [['c', 'd', 'e']])).toMatchObject({ recall: 0.5, top1: 1, allNeeded: 0 });
  });

  it('do not apply where nothing is needed', () => {
    const none = { recall: null, precision: null, 'recall@8': null, top1: null, allNeeded: null };
    expect(score([], ['a'])).toMatchObject(none);
  });

  it('have no rank where selection was skipped, since the order says nothing', () => {
    const skipped = aSelection(['b', 'a'], { mode: 'passthrough' });
    expect(scoreSelection({ tools: ['a'] }, skipped)).toMatchObject({ recall: 1, 'recall@3': null, top1: null });
  });

  it.each<[string, Partial<Parameters<typeof scoreSelection>[0]>, Parameters<typeof aSelection>, number | null]>([
    ['nothing picked where nothing fits', {}, [[]], 1],
    [
      'what is always there, where nothing fits',
      {},
      [
        [
          { name: 'a', via: 'always' },
          { name: 'b', via: 'required' },
        ],
      ],
      1,
    ],
    ['a tool where none fits', {}, [['a']], 0],
    ['nothing picked where something fits', { tools: ['a'] }, [[]], null],
    ['a case that wants a question back', { kind: 'clarification' }, [[]], null],
    ['a selection that was skipped', {}, [['a'], { mode: 'passthrough' }], null],
  ])('judge abstention on %s', (_, expected, selection, abstention) => {
    expect(scoreSelection({ tools: [], ...expected }, aSelection(...selection))).toMatchObject({ abstention });
  });

  const names = fc.uniqueArray(fc.constantFrom(...'abcdefghijkl'), { maxLength: 12 });
  it('lie between 0 and 1, and grow with k', () => {
    fc.assert(
      fc.property(names, names, (needed, got) => {
        const scores = score(needed, got);
        for (const value of Object.values(scores)) {
          if (value === null) continue;
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
        }
        if (needed.length === 0) return;
        const at = [3, 5, 8, 10].map((cutoff) => scores[`recall@${cutoff}`] ?? -1);
        expect(at).toEqual([...at].sort((one, other) => one - other));
        expect(scores.allNeeded === 1).toBe(scores.recall === 1);
      }),
    );
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
      ['dates in words of other languages', '5 août 2024', '5 de agosto de 2024'],
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
      ['a word that begins as a month does', 'Marvel 5, 2024', '2024-03-05'],
      ['a day and a time in words', '5 August 2024 10:00', '2024-08-05'],
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
