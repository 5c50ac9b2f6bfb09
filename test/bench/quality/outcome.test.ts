import { describe, expect, it } from '@jest/globals';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import type { EvaluationCase } from '../../../src/evaluation/case.js';
import type { Reply } from './contestant.js';
import { CONTESTANTS, contestantsOf } from './contestants.js';
import { type Measured, toOutcome } from './outcome.js';
import { noSpent } from './remembered-model.js';
import { TOOLS } from './setup.js';

const step = (tool: string) => ({ id: 's1', tool, arguments: { about: 'all' }, purpose: '', dependsOn: [] });

function outcomeOf(
  expected: EvaluationCase['expected'],
  reply: Measured['reply'],
  judged: 'select' | 'plan' = 'select',
) {
  const one = { id: 'c1', suite: 'set', request: { message: 'x' }, expected, ignoreCase: false, tags: [] };
  const trial = { case: one, request: one.request, catalog: createCatalog(TOOLS), tools: TOOLS, wantsPlan: true };
  const measured = { contestant: 'winnow', trial, reply, spent: noSpent(), schemaTokens: () => 10 };
  return toOutcome({ ...measured, set: { id: 'set', judged } });
}
const answered = (tools: readonly string[], more: Partial<Extract<Reply, { kind: 'answered' }>> = {}): Reply => ({
  kind: 'answered',
  tools,
  abstained: false,
  ...more,
});

describe('an outcome', () => {
  it('holds the share of the needed tools that are there, and what is missing', () => {
    const outcome = outcomeOf({ tools: ['read_level', 'send_mail'] }, answered(['send_mail', 'book_room']));
    expect(outcome).toMatchObject({ scores: { recall: 0.5, allNeeded: 0 }, missing: ['read_level'] });
    expect(outcome.schemaTokens).toEqual({ all: 10 * TOOLS.length, loaded: 20 });
  });

  it('counts an alternative as equal', () => {
    const expected = { tools: ['read_level'], alternatives: [['read_rain', 'find_station']] };
    expect(outcomeOf(expected, answered(['find_station', 'read_rain']))).toMatchObject({
      scores: { recall: 1, allNeeded: 1 },
      missing: [],
    });
    expect(outcomeOf(expected, answered(['find_station']))).toMatchObject({ scores: { recall: 0.5, allNeeded: 0 } });
  });

  it.each([
    ['nothing is called', answered([], { abstained: true }), 1],
    ['tools are there and nothing is called', answered(['read_level'], { abstained: true }), 1],
    ['something is called', answered(['read_level']), 0],
    ['the caller gets an exception', { kind: 'unanswered', reason: 'threw' } as const, 0],
  ])('where nothing fits is right or wrong by what is called: %s', (_, reply, abstention) => {
    expect(outcomeOf({ tools: [] }, reply).scores).toEqual({ abstention });
  });

  it('without an answer has nothing of what was needed, and no plan', () => {
    const expected = { tools: ['read_level'], steps: [{ tool: 'read_level', arguments: { about: 'all' } }] };
    const { scores, missing, plan } = outcomeOf(expected, { kind: 'unanswered', reason: 'threw' }, 'plan');
    expect(scores).toMatchObject({
      recall: 0,
      valid: 0,
      nodeF1: 0,
      argumentNameF1: 0,
      argumentValueF1: 0,
      planExact: 0,
    });
    expect([missing, plan?.fault]).toEqual([['read_level'], 'missing-step']);
  });

  it.each([
    ['right', [step('read_level')], { valid: 1, nodeF1: 1, planExact: 1 }],
    ['of another tool', [step('read_rain')], { valid: 1, nodeF1: 0, planExact: 0 }],
    ['refused', [], { valid: 0, nodeF1: 0, planExact: 0 }],
  ])('on a set of plans judges a plan that is %s', (_, steps, scores) => {
    const expected = { tools: ['read_level'], steps: [{ tool: 'read_level', arguments: { about: 'all' } }] };
    expect(outcomeOf(expected, answered(['read_level'], { steps }), 'plan').scores).toMatchObject({
      recall: 1,
      ...scores,
    });
  });

  it.each([
    ['an error of the model', { kind: 'error', reason: 'HTTP 500' } as const],
    ['a prompt that does not fit', { kind: 'does-not-fit', tokens: 20_000 } as const],
  ])('of %s is no case', (_, reply) => {
    expect(outcomeOf({ tools: ['read_level'] }, reply)).toMatchObject({ status: reply.kind, scores: {} });
  });

  it('counts the schemas that are loaded, also where fewer tools are called', () => {
    const all = TOOLS.map(({ name }) => name);
    expect(outcomeOf({ tools: ['read_level'] }, answered(['read_level'], { loaded: all })).schemaTokens).toEqual({
      all: 10 * TOOLS.length,
      loaded: 10 * TOOLS.length,
    });
  });
});

describe('the contestants', () => {
  it('are the peers, Winnow, Winnow with each part off, and other ways to put the parts together', () => {
    const idsOf = (group: string) => contestantsOf([group]).map(({ id }) => id);
    expect({ first: idsOf('first'), peer: idsOf('peer'), part: idsOf('part') }).toEqual({
      first: ['winnow', 'keywords'],
      peer: ['bm25', 'langchain', 'langchain-shown', 'langchain-described', 'all-bound'],
      part: [
        'winnow-no-producers',
        'winnow-no-fill',
        'winnow-names',
        'winnow-list',
        'winnow-list-alone',
        'winnow-rank-alone',
        'winnow-no-model',
        'winnow-no-rules',
        'winnow-no-companions',
      ],
    });
  });

  it('are taken by name or group, each once, in the order of the work', () => {
    const ids = contestantsOf(['winnow-list', 'bm25', 'first', 'peer']).map(({ id }) => id);
    expect(ids).toEqual(CONTESTANTS.map(({ id }) => id).filter((id) => ids.includes(id)));
    expect(ids).toHaveLength(8);
  });
});
