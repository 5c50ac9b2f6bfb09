import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openStore } from '../../src/agents/store/open-store.js';
import { at, start, startModern } from './mcp-setup.js';

const QUESTIONS = [expect.stringContaining('Allow file_delete with {"path":"old.txt"}?')];

/** The flags of a server whose policy lets the person decide, without a planner; and a person who agrees. */
function decidedByPerson() {
  writeFileSync(at('self.yaml'), 'approvals: { self: ask }\n');
  writeFileSync(at('no-planner.yaml'), 'mcp: { planner: false }\n');
  const set = [`toolsModule=${at('tools.mjs')}`, `policy=${at('self.yaml')}`].flatMap((one) => ['--set', one]);
  const words = [...set, '--config', at('no-planner.yaml'), '--user', 'ann'];
  const questions: string[] = [];
  const agree = ({ message }: { message: string }) => {
    questions.push(message);
    return { action: 'accept', content: {} } as const;
  };
  return { words, questions, agree };
}

it('winnow mcp asks the person at the client where the policy lets them decide', async () => {
  const { words, questions, agree } = decidedByPerson();
  const { ask, names, log } = await start(words, agree);
  expect(await names()).not.toContain('plan');
  await ask('tool_enable', { names: ['file_delete'] });
  expect(await ask('file_delete', { path: 'old.txt' })).toEqual({ gone: 'old.txt', for: 'ann' });
  expect(questions).toEqual(QUESTIONS);
  expect(log()).not.toContain('nobody can grant');
});

it('winnow mcp serves a client of 2026-07-28: a plan is run, and the person is asked', async () => {
  const { words, questions, agree } = decidedByPerson();
  const { ask, list, client } = await startModern([...words, '--store', at('modern.db')], agree);
  const own = ['tool_search', 'tool_enable', 'tool_disable', 'tool_call', 'run'];
  expect((await list()).map(({ name }) => name)).toEqual(own);
  const { session } = await ask('tool_enable', { names: ['file_delete'] });
  const call = { tool: 'file_delete', arguments: { path: 'old.txt' }, session };
  expect(await ask('tool_call', call)).toEqual({ gone: 'old.txt', for: 'ann' });
  expect(questions).toEqual(QUESTIONS);
  const plan = { steps: [{ id: 's1', tool: 'file_list', arguments: {} }] };
  expect(await ask('run', { plan })).toMatchObject({ state: 'done', steps: [{ output: ['old.txt'] }] });
  await client.close();
  const { sessions, close } = await openStore({ file: at('modern.db') });
  // Handles end with the client: nobody else knows them.
  const all = await sessions.list({ limit: 10 });
  expect(all.map(({ id }) => id)).toContain(session);
  expect(all.filter(({ endedAt }) => endedAt === undefined)).toEqual([]);
  await close();
});
