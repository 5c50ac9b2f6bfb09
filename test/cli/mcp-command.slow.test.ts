import { writeFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { at, start } from './mcp-setup.js';

it('winnow mcp asks the person at the client where the policy lets them decide', async () => {
  writeFileSync(at('self.yaml'), 'approvals: { self: ask }\n');
  writeFileSync(at('no-planner.yaml'), 'mcp: { planner: false }\n');
  const words = ['--tools-module', at('tools.mjs'), '--policy', at('self.yaml'), '--config', at('no-planner.yaml')];
  const questions: string[] = [];
  const { ask, names, log } = await start([...words, '--user', 'ann'], ({ message }) => {
    questions.push(message);
    return { action: 'accept', content: {} };
  });
  expect(await names()).not.toContain('plan');
  await ask('tool_enable', { names: ['file_delete'] });
  expect(await ask('file_delete', { path: 'old.txt' })).toEqual({ gone: 'old.txt', for: 'ann' });
  expect(questions).toEqual([expect.stringContaining('Allow file_delete with {"path":"old.txt"}?')]);
  expect(log()).not.toContain('nobody can grant');
});
