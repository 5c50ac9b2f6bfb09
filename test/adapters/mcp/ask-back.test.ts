/** What a call of 2026-07-28 still needs is asked of the client's person: arguments by all, approvals over stdio. */
import { describe, expect, it } from 'vitest';
import { createFunctionExecutor } from '../../../src/agents/sandbox/executors/functions.js';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import { createTool } from '../../support/create-tool.js';
import { type Answer, createWorld, openModern, serveHttp, servePipes, TOOLS, type WorldOptions } from './setup.js';

const yes: Answer = () => ({ action: 'accept', content: {} });

function asking(answer: Answer) {
  const questions: Parameters<Answer>[0][] = [];
  const asked: Answer = (question) => {
    questions.push(question);
    return answer(question);
  };
  return { questions, asked };
}

async function overStdio(answer: Answer | undefined, options: WorldOptions = {}) {
  const served = await servePipes(await createWorld(options));
  return { ...served, ...(await openModern(served.modern(), answer)) };
}

it('the sessions of handles end with the client over stdio, and no others', async () => {
  const { agents, ask, stdin, served } = await overStdio(undefined);
  const other = await agents.router.createSession({ user: 'ann' });
  const { session } = await ask('tool_search', { query: 'read a file' });
  await ask('tool_search', { query: 'read a file', session: other.id });
  expect((await agents.router.session(session)).endedAt).toBeUndefined();
  stdin.end();
  await served;
  expect((await agents.router.session(session)).endedAt).toEqual(expect.any(String));
  expect((await agents.router.session(other.id)).endedAt).toBeUndefined();
});

async function overHttp(answer: Answer, options: WorldOptions = {}) {
  const served = await serveHttp(await createWorld(options));
  return { ...served, ...(await openModern(served.modern('ann'), answer)) };
}

const SELF: WorldOptions = { policy: { approvals: { self: 'ask' } } };

describe('a call that needs an approval', () => {
  it('over stdio is not granted by an answer to another question', async () => {
    const { client, ask, runs, agents } = await overStdio(yes, SELF);
    const { session } = await ask('tool_enable', { names: ['file_delete'] });
    const asked = (path: string) => ({
      name: 'tool_call',
      arguments: { tool: 'file_delete', arguments: { path }, session },
    });
    const send = (params: Record<string, unknown>) =>
      client.request({ method: 'tools/call', params }, { allowInputRequired: true } as object);
    const first: ReturnType<typeof JSON.parse> = await send(asked('a'));
    const [approval = ''] = Object.keys(first.inputRequests);
    const stolen: ReturnType<typeof JSON.parse> = await send({
      ...asked('b'),
      inputResponses: { [approval]: { action: 'accept', content: {} } },
      requestState: first.requestState,
    });
    expect(Object.keys(stolen.inputRequests)).not.toContain(approval);
    expect(await agents.router.approvals.get(approval)).toMatchObject({ state: 'pending' });
    expect(runs).toEqual([]);
  });
});

describe('a call without a required argument', () => {
  const pick = createTool(
    'pick',
    {
      properties: {
        path: { type: 'string', description: 'Which\u202E file.' },
        size: { enum: ['small', 'large'] },
        count: { type: 'integer' },
        sure: { type: 'boolean' },
      },
      required: ['path', 'size', 'count', 'sure'],
    },
    undefined,
    { risk: 'low', alwaysLoad: true },
  );
  const odd = (name: string, field: object) =>
    createTool(name, { properties: { a: field }, required: ['a'] }, undefined, { risk: 'low', alwaysLoad: true });
  const secret = odd('secret', { type: 'string', format: 'password' });
  const hidden = odd('hidden', { type: 'string', anyOf: [{ format: 'password' }, { maxLength: 99 }] });
  const listed = odd('listed', { type: 'array', items: { type: 'string' } });
  const given: unknown[] = [];
  const options: WorldOptions = {
    ...SELF,
    more: {
      catalog: () => createCatalog([...TOOLS, pick, secret, hidden, listed]),
      executors: [createFunctionExecutor({ pick: (input) => given.push(input), file_delete: () => ({ gone: true }) })],
    },
  };

  it('asks the person for what is missing, and runs with what they said', async () => {
    given.length = 0;
    const content = { path: 'b', size: 'large', count: 2, sure: true };
    const { asked, questions } = asking(() => ({ action: 'accept', content }));
    const { ask, call, agents } = await overHttp(asked, options);
    // What the model gave stays.
    await call('pick', { path: 'a' });
    expect(given).toEqual([{ ...content, path: 'a' }]);
    expect(questions).toMatchObject([
      {
        message: 'pick still needs: size, count, sure.',
        requestedSchema: {
          properties: { size: { enum: ['small', 'large'] }, count: { type: 'integer' }, sure: { type: 'boolean' } },
          required: ['size', 'count', 'sure'],
        },
      },
    ]);
    await ask('tool_call', { tool: 'pick' });
    expect(questions[1]).toMatchObject({ requestedSchema: { properties: { path: { description: 'Which file.' } } } });
    // Each request stood alone, with the question in its midst.
    expect((await agents.router.sessions()).map(({ endedAt }) => typeof endedAt)).toEqual(['string', 'string']);
  });

  it('asks for the arguments first and for the approval of the whole call then', async () => {
    const { asked, questions } = asking(() => ({ action: 'accept', content: { path: 'old.txt' } }));
    const { ask } = await overStdio(asked, options);
    const { session } = await ask('tool_enable', { names: ['file_delete'] });
    expect(await ask('tool_call', { tool: 'file_delete', session })).toEqual({ gone: true });
    expect(questions.map(({ message }) => message)).toEqual([
      'file_delete still needs: path.',
      expect.stringContaining('Allow file_delete with {"path":"old.txt"}?'),
    ]);
  });

  it.each<[string, Answer, string, string]>([
    ['the person declines', () => ({ action: 'decline' }), 'pick', 'size'],
    ['their answer does not fit', () => ({ action: 'accept', content: { size: 'huge' } }), 'pick', 'size'],
    ['it is a secret', yes, 'secret', 'a'],
    ['it is a secret in one of its forms', yes, 'hidden', 'a'],
    ['it is no question for a form', yes, 'listed', 'a'],
  ])('is told what is wrong where %s', async (_, answer, name, argument) => {
    const { ask } = await overHttp(answer, options);
    const refused = await ask('tool_call', { tool: name });
    expect(refused).toMatchObject({ code: 'invalid_arguments' });
    expect(JSON.stringify(refused.issues)).toContain(argument);
  });
});

describe('over stdio', () => {
  it('a handle reaches no further than the ceiling with which the client was started', async () => {
    const world = await createWorld();
    const { id } = await world.agents.router.createSession({ user: 'ann', roles: ['lead'] });
    await world.agents.router.enable(id, { names: ['file_read'] });
    const low = await openModern((await servePipes(world, { user: 'ann', riskCeiling: 'low' })).modern());
    const call = { tool: 'file_read', arguments: { path: 'a' }, session: id };
    expect(await low.ask('tool_call', call)).toMatchObject({ code: 'unknown_session' });
    const other = await openModern((await servePipes(world, {})).modern());
    expect(await other.ask('tool_call', call)).toMatchObject({ code: 'unknown_session' });
  });

  it('hears of a change where it listens', async () => {
    let catalog = createCatalog(TOOLS);
    const { client, list, agents } = await overStdio(undefined, { more: { catalog: () => catalog } });
    const heard = new Promise<void>((resolve) => {
      client.setNotificationHandler('notifications/tools/list_changed', () => resolve());
    });
    await client.listen({ toolsListChanged: true });
    catalog = createCatalog([...TOOLS, createTool('new', {}, undefined, { risk: 'low', alwaysLoad: true })]);
    await agents.rebuild();
    await heard;
    expect((await list()).map(({ name }) => name)).toContain('new');
  });

  it('what runs when the client closes its end is still answered', async () => {
    const { stdin, stdout, served, agents } = await servePipes(await createWorld());
    let said = '';
    stdout.on('data', (chunk) => {
      said += String(chunk);
    });
    const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    const messages = [
      { id: 1, method: 'initialize', params: hello },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: { name: 'tool_search', arguments: { query: 'read a file' } } },
    ];
    for (const message of messages) stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    stdin.end();
    await served;
    expect(said).toContain('"id":2');
    expect((await agents.router.sessions()).map(({ endedAt }) => typeof endedAt)).toEqual(['string']);
  });
});
