/** What a record tells of a plan beside the expected one; that it agrees with the scores is how these are made. */
import { describe, expect, it } from '@jest/globals';
import type { Step } from '../../src/core/result.js';
import type { CompareOptions } from '../../src/evaluation/compare-steps.js';
import { scorePlan } from '../../src/evaluation/plan-scores.js';
import type { CaseRecord, ExpectedStep } from '../../src/evaluation/record.js';
import { steps } from './setup.js';

const wanted = (
  tool: string,
  values: Record<string, unknown> = {},
  more: Partial<ExpectedStep> = {},
): ExpectedStep => ({ tool, arguments: values, ...more });

function compare(expected: readonly ExpectedStep[], got: readonly Step[], options: Partial<CompareOptions> = {}) {
  const tools = expected.map(({ tool }) => tool);
  return scorePlan({ tools, steps: [...expected], edges: [] }, got, { ignoreCase: false, ...options }).comparison;
}

describe('steps side by side', () => {
  it('are those of one tool that agree best over all, and what is left over stands alone', () => {
    const { steps: pairs } = compare(
      [wanted('find', { name: 'a' }), wanted('find', { name: 'b', kind: 'RR' }), wanted('read')],
      steps(['find', { name: 'b', kind: 'RR' }], ['find', { name: 'x' }], ['draw']),
    );
    expect(pairs.map(({ expected, got }) => [expected, got])).toEqual([
      [0, 1],
      [1, 0],
      [2, undefined],
      [undefined, 2],
    ]);
  });

  it('do not take the step that another one fits better', () => {
    const half = wanted('find', { name: 'b', kind: 'PP' });
    const { steps: pairs } = compare(
      [half, wanted('find', { name: 'b', kind: 'RR' })],
      steps(['find', { name: 'b', kind: 'RR' }], ['find', { name: 'c', kind: 'XX' }]),
    );
    expect(pairs.map(({ expected, got }) => [expected, got])).toEqual([
      [0, 1],
      [1, 0],
    ]);
  });

  it('are those of the alternative that the plan was judged by', () => {
    const expected: CaseRecord['expected'] = {
      tools: ['find', 'read'],
      alternatives: [['list'], ['find', 'look']],
      steps: [wanted('find'), wanted('read', { code: '$0.code' })],
    };
    const { comparison } = scorePlan(expected, steps(['find'], ['look', { code: 1 }]), { ignoreCase: false });
    expect(comparison).toEqual({
      alternative: 1,
      steps: [
        { expected: 0, got: 0, arguments: {} },
        { expected: 1, got: 1, arguments: { code: 'unjudged' } },
      ],
    });
  });
});

describe('arguments side by side', () => {
  const verdictOf = (expected: ExpectedStep, values: Record<string, unknown>, options: Partial<CompareOptions> = {}) =>
    compare([expected], steps(['t', values]), options).steps[0]?.arguments.a;

  it.each<[string, ExpectedStep, Record<string, unknown>, string]>([
    ['the same value', wanted('t', { a: { x: 1, y: [2] } }), { a: { y: [2], x: 1 } }, 'same'],
    ['another value', wanted('t', { a: 1 }), { a: 2 }, 'different'],
    ['one that counts too', wanted('t', { a: 'x' }, { argumentsAnyOf: { a: ['x', 'y'] } }), { a: 'y' }, 'accepted'],
    ['the number as a text', wanted('t', { a: 24 }), { a: '24' }, 'form'],
    ['the day written otherwise', wanted('t', { a: '2026-07-21' }), { a: 'July 21, 2026' }, 'form'],
    ['the text in another case', wanted('t', { a: 'Lake' }), { a: 'LAKE' }, 'different'],
    ['none', wanted('t', { a: 1 }), {}, 'missing'],
    ['none, where it may be left out', wanted('t', { a: 1 }, { argumentsAnyOf: { a: ['', 1] } }), {}, 'optional'],
    ['one too many', wanted('t'), { a: 1 }, 'extra'],
    ['one more that is allowed', wanted('t', {}, { argumentsAnyOf: { a: ['', 'RR'] } }), { a: 'RR' }, 'accepted'],
    ['one that nobody judges', wanted('t', {}, { argumentsUnknown: true }), { a: 1 }, 'unjudged'],
    ['a price that looks like a reference', wanted('t', { a: '$1.50' }), { a: '$1.50' }, 'same'],
  ])('say of %s what the scores count', (_, expected, values, verdict) => {
    expect(verdictOf(expected, values)).toBe(verdict);
  });

  it('count letter case and defaults as the case and the catalogue have them', () => {
    expect(verdictOf(wanted('t', { a: 'Lake' }), { a: 'LAKE' }, { ignoreCase: true })).toBe('form');
    const defaultOf = () => 7;
    expect(verdictOf(wanted('t', { a: 7 }), {}, { defaultOf })).toBe('default');
    expect(verdictOf(wanted('t'), { a: 7 }, { defaultOf })).toBe('default');
    expect(verdictOf(wanted('t', { a: 8 }), {}, { defaultOf })).toBe('missing');
  });

  it.each([
    ['to the same step in another order', '${s2.code}', 'same'],
    ['to the same field below another one', '${s2.data[0].code}', 'same'],
    ['to another step', '${s1.code}', 'different'],
    ['to another field', '${s2.name}', 'different'],
    ['to no step', '${s9.code}', 'different'],
  ])('have references compared: %s', (_, reference, verdict) => {
    const { steps: pairs } = compare(
      [wanted('find'), wanted('list'), wanted('read', { code: '$0.code' })],
      steps(['list'], ['find'], ['read', { code: reference }]),
    );
    expect(pairs[2]?.arguments.code).toBe(verdict);
  });
});
