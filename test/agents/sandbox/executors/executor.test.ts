import { describe, expect, it } from 'vitest';
import { runnerOf } from '../../../../src/agents/sandbox/executors/executor.js';
import { parseTool } from '../../../../src/core/catalog/tool.js';

const runner = (entry: object, origin = 'tools.json') => {
  const parsed = parseTool({ name: 'a', toolType: 'builtin', ...entry }, { origin, index: 0 });
  if (!parsed.ok) throw new Error('no tool');
  return runnerOf(parsed.tool);
};

describe('who runs a tool', () => {
  it.each([
    ['a function, for a builtin tool of a file', {}, 'tools.json', 'function'],
    ['no function, for one of a document of the network', {}, 'https://tools.test/all.json', undefined],
    ['HTTP, wherever the document is', { metadata: { http: {} } }, 'https://tools.test/openapi.json', 'http'],
    ['its server, for a tool of one', { toolType: 'mcp', metadata: { mcp: {} } }, 'files', 'mcp'],
    ['only its text, for a tool of a user', { scope: { user: 'ann' }, metadata: { http: {} } }, 'ann', undefined],
    ['its text, for a skill', { toolType: 'skill' }, 'https://tools.test/all.json', 'skill'],
  ] as const)('is %s', (_, entry, origin, expected) => {
    expect(runner(entry, origin)).toBe(expected);
  });
});
