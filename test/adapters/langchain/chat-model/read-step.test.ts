import { describe, expect, it } from '@jest/globals';
import { readStep } from '../../../../src/adapters/langchain/chat-model/take-step.js';
import { createTool } from '../../../support/create-tool.js';

const optional = { properties: { path: { type: 'string' }, line: { type: 'integer' } }, required: ['path'] };
const tools = new Map([['file_read', createTool('file_read', optional)]]);
const read = (text: string, { finish = 'stop' as 'stop' | 'length', canAnswer = true } = {}) =>
  readStep({ text, finish }, { tools, canAnswer });

describe('a step', () => {
  it.each([
    ['a call', '{"tool":"file_read","arguments":{"path":"a"}}', { tool: 'file_read', arguments: { path: 'a' } }],
    ['a call in a fence', '```json\n{"tool":"file_read","arguments":{}}\n```', { tool: 'file_read', arguments: {} }],
    ['a call without arguments', '{"tool":"file_read"}', { tool: 'file_read', arguments: {} }],
    [
      'a call with nulls for what is left out',
      '{"tool":"file_read","arguments":{"path":"a","line":null}}',
      { tool: 'file_read', arguments: { path: 'a' } },
    ],
    ['an answer', 'So: {"answer":"done"}', { answer: 'done' }],
  ])('is read from %s', (_, text, value) => {
    expect(read(text)).toEqual({ ok: true, value });
  });

  it.each([
    ['words', 'I will read it.', {}, 'the answer holds no complete JSON'],
    [
      'a text that was cut',
      '{"answer":"it is',
      { finish: 'length' as const },
      'the answer was cut: write a shorter one',
    ],
    ['another object', '{"name":"file_read"}', {}, 'neither {"tool":"name","arguments":{...}} nor {"answer":"..."}'],
    ['a tool that is not bound', '{"tool":"rm","arguments":{}}', {}, 'tool: there is no "rm"; there are file_read'],
    ['an answer in place of a call', '{"answer":"no"}', { canAnswer: false }, 'answer: a tool has to be called now'],
  ])('is not read from %s', (_, text, options, issue) => {
    expect(read(text, options)).toEqual({ ok: false, issues: [issue] });
  });
});
