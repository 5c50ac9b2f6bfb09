/** The contestants of the bench: what they answer, remember and call. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import { DEFAULT_STAGES } from '../../../src/core/selection/stages.js';
import type { EvaluationCase } from '../../../src/eval/case.js';
import type { Reply } from './contestant.js';
import { CONTESTANTS, contestantsOf } from './contestants.js';
import { type Measured, toOutcome } from './outcome.js';
import { noSpent } from './remembered-model.js';
import { TOOLS } from './setup.js';
import { isWithoutCalls, readToolCalls, renderBoundTools, stepsOf, toPythonJson } from './tool-calls.js';
import { PARTS } from './winnow.js';

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

/** What can be left out of selection is left out in turn: no part's share stays unknown. */
/** Without them a request is not served as it was asked: that is a contract, and no part that may be off. */
const CONTRACTS = ['wanted', 'cap'];

it.each(DEFAULT_STAGES.filter(({ name }) => !CONTRACTS.includes(name)).map((stage) => [stage.name, stage] as const))(
  'the stage "%s" has an ablation of its own',
  (_, stage) => {
    const alone = Object.values(PARTS).filter(({ without = [] }) => without.length === 1 && without[0] === stage);
    expect(alone).toHaveLength(1);
  },
);

const CALL = '{"name": "read_level", "arguments": {"lake": "a}b\\"{c"}}';
const READ = { name: 'read_level', arguments: { lake: 'a}b"{c' } };

describe('the calls in an answer', () => {
  it.each([
    ['in tags', `<tool_call>\n${CALL}\n</tool_call>`, [READ]],
    ['several in tags', `<tool_call>\n${CALL}\n</tool_call>\n<tool_call>\n${CALL}\n</tool_call>`, [READ, READ]],
    ['in a code fence, with prose around it', `Sure:\n\`\`\`json\n${CALL}\n\`\`\`\nDone.`, [READ]],
    ['in a list', `[${CALL}, ${CALL}]`, [READ, READ]],
    ['with `parameters` in place of `arguments`', '{"name": "a", "parameters": {}}', [{ name: 'a', arguments: {} }]],
    ['behind a brace that opens nothing', `{ ${CALL}`, [READ]],
  ])('are read %s', (_, text, calls) => {
    expect(readToolCalls(text)).toEqual(calls);
    expect(isWithoutCalls(text)).toBe(false);
  });

  it.each([
    ['prose', 'I can not help with that.'],
    ['an object of another kind', '{"name": "a"} {"arguments": {}} {"name": 1, "arguments": {}}'],
    ['arguments that are no object', '{"name": "a", "arguments": "x"}'],
    ['a tool that is told of again', '{"name": "a", "description": "Does a.", "parameters": {"type": "object"}}'],
    ['a schema around it', '{"type": "function", "function": {"name": "a", "parameters": {}}}'],
  ])('are none in %s', (_, text) => {
    expect(readToolCalls(text)).toEqual([]);
    expect(isWithoutCalls(text)).toBe(true);
  });

  it('are none in a call that breaks off, which is no abstention either', () => {
    const cut = '<tool_call>\n{"name": "a", "arguments": {"x": "on and on';
    expect(readToolCalls(cut)).toEqual([]);
    expect(isWithoutCalls(cut)).toBe(false);
  });

  it('come back as they were written, whatever the arguments', () => {
    const name = fc.stringMatching(/^\w{1,9}$/u);
    const values = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/u), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
    fc.assert(
      fc.property(fc.array(fc.tuple(name, values), { maxLength: 3 }), fc.string(), (calls, prose) => {
        const written = calls.map(([tool, given]) => JSON.stringify({ name: tool, arguments: given }));
        const text = `${prose.replace(/[{}"]/gu, '')}${written.map((one) => `<tool_call>${one}</tool_call>`).join('\n')}`;
        const read = calls.map(([tool, given]) => ({ name: tool, arguments: JSON.parse(JSON.stringify(given)) }));
        expect(readToolCalls(text)).toEqual(read);
      }),
    );
  });

  it('take no long time for an answer full of braces', () => {
    expect(readToolCalls('{'.repeat(3_000))).toEqual([]);
  });
});

describe('steps of calls', () => {
  it('are named in their order and depend on nothing', () => {
    expect(stepsOf([READ, { name: 'b', arguments: {} }])).toEqual([
      { id: 's1', tool: 'read_level', arguments: READ.arguments, purpose: '', dependsOn: [] },
      { id: 's2', tool: 'b', arguments: {}, purpose: '', dependsOn: [] },
    ]);
  });
});

describe('bound tools', () => {
  it('are written as the template of the model has them', () => {
    const tools = [{ name: 'a', description: 'Does "a".', parameters: { type: 'object', properties: {} } }];
    const { system, user } = renderBoundTools(tools, 'do it');
    expect(user).toBe('do it');
    expect(system).toContain('You are Qwen, created by Alibaba Cloud. You are a helpful assistant.\n\n# Tools\n\n');
    expect(system).toContain(
      '<tools>\n{"type": "function", "function": {"name": "a", "description": "Does \\"a\\".", "parameters": {"type": "object", "properties": {}}}}\n</tools>',
    );
    expect(system.endsWith('{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>')).toBe(true);
  });

  it('leave the system part of the application alone where there are none', () => {
    expect(renderBoundTools([], 'do it', 'Be kind.')).toEqual({ system: 'Be kind.', user: 'do it' });
  });

  it.each([
    [{ a: [1, 'x', null, true], b: undefined, c: { d: '水' } }, '{"a": [1, "x", null, true], "c": {"d": "水"}}'],
    [[], '[]'],
    [undefined, 'null'],
  ])('are JSON with a space behind each comma and colon: %j', (value, text) => {
    expect(toPythonJson(value)).toBe(text);
  });
});
