import { expect, it } from 'vitest';
import { checkLimits, resolveLimits } from '../../../src/agents/sandbox/limits.js';
import { createTool } from '../../support/create-tool.js';

const TOOLS = [
  createTool('file_delete'),
  createTool('file_read'),
  createTool('file_diary', {}, undefined, { scope: { user: 'bob' } }),
];
const problemsOf = (...names: string[]) =>
  checkLimits(resolveLimits({ tools: Object.fromEntries(names.map((name) => [name, { timeoutMs: 10 }])) }), TOOLS);

it('limits of tools that are there are no problem, also of private ones', () => {
  expect(problemsOf('file_delete', 'file_diary')).toEqual([]);
  expect(checkLimits(resolveLimits({ timeoutMs: 10 }), TOOLS)).toEqual([]);
});

it('limits of a tool that is not there are told, with the names that may be meant', () => {
  expect(problemsOf('file_delte', 'zebra')).toEqual([
    'sandbox.tools: there is no tool "file_delte"; near: file_delete, file_read',
    'sandbox.tools: there is no tool "zebra"',
  ]);
});

it('a private tool is never suggested', () => {
  expect(problemsOf('file_dairy')).toEqual(['sandbox.tools: there is no tool "file_dairy"']);
});
