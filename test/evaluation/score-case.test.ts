import { describe, expect, it } from '@jest/globals';
import { type Outcome, scoreCase } from '../../src/evaluation/score-case.js';
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
