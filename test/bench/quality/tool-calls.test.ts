import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isWithoutCalls, readToolCalls, renderBoundTools, stepsOf, toPythonJson } from './tool-calls.js';

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
