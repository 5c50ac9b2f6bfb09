/** The middleware that routes tools, with those of its own. */
import { setTimeout as wait } from 'node:timers/promises';
import { tool } from '@langchain/core/tools';
import { createAgent } from 'langchain';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createMetaTools, createRoutingMiddleware } from '../../../src/adapters/langchain/index.js';
import type { CallResult } from '../../../src/agents/contracts.js';
import { META_TOOLS } from '../../../src/agents/meta-tools.js';
import { setUp, TOOLS } from '../../agents/setup.js';
import { createTool } from '../../support/create-tool.js';
import { ScriptedChat } from './scripted-chat.js';
import { answersOf, finalText, type RoutedOptions, saying, start } from './setup.js';

const META = ['tool_search', 'tool_enable', 'tool_disable'];
const READ = { name: 'file_read', args: { path: 'a' } };
const enabling = (...names: string[]) => ({ name: 'tool_enable', args: { names } });
const disabling = (...names: string[]) => ({ name: 'tool_disable', args: { names } });

describe('what the model is shown', () => {
  it('is the meta tools and what the session has enabled, at each call of the model anew', async () => {
    const { chat, say } = await start([enabling('file_read'), disabling('file_list'), 'done']);
    await say('read');
    expect(chat.seen.map(({ tools }) => tools)).toEqual([
      [...META, 'ask_user'],
      [...META, 'ask_user', 'file_read', 'file_list'],
      [...META, 'ask_user', 'file_read'],
    ]);
  });

  it('has schemas that providers take, and the texts of the catalogue', async () => {
    const tools = [
      createTool('a', { properties: { n: { type: 'integer', minimum: '1' } }, $schema: 'x' }, undefined, {
        alwaysLoad: true,
      }),
    ];
    const { chat, say } = await start(['done'], { setup: { tools } });
    await say('go');
    expect(chat.seen[0]?.definitions.at(-1)).toEqual({
      type: 'function',
      function: {
        name: 'a',
        description: '',
        parameters: { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } },
      },
    });
  });

  it('leaves out what is enabled for turns that are over', async () => {
    const once = { name: 'tool_enable', args: { names: ['lsp_open'], ttl_turns: 1 } };
    const { chat, say } = await start([once, 'one', 'two']);
    await say('one');
    await say('two');
    expect(chat.seen.map(({ tools }) => tools.includes('lsp_open'))).toEqual([false, true, false]);
  });

  it('is a fitting name in place of one that providers refuse, and the call reaches the tool', async () => {
    const name = 'repos/create issue';
    const tools = [createTool(name, {}, undefined, { risk: 'low', alwaysLoad: true })];
    const last: RoutedOptions['answers'] = (seen, index) => (index === 0 ? { name: seen.tools.at(-1) ?? '' } : 'done');
    const { runs, chat, say } = await start(last, { setup: { tools } });
    const messages = await say('go');
    expect(chat.seen[0]?.tools.at(-1)).toMatch(/^repos_create_issue_[0-9a-f]{8}$/);
    expect(runs.map((run) => run.tool.name)).toEqual([name]);
    expect(answersOf(messages)).toMatchObject([{ status: 'success' }]);
  });
});

describe('a call', () => {
  it('of an enabled tool runs behind the router, with its arguments and its user', async () => {
    const { runs, say } = await start([enabling('file_read'), READ, 'done']);
    const messages = await say('read a');
    expect(runs).toMatchObject([{ tool: { name: 'file_read' }, arguments: { path: 'a' }, user: 'ann' }]);
    expect(answersOf(messages).at(-1)).toEqual({
      name: 'file_read',
      status: 'success',
      content: { done: true, uri: 'file:///a' },
    });
    expect(finalText(messages)).toBe('done');
  });

  it.each<[string, { name: string; args?: Record<string, unknown> }, string, object?]>([
    ['is not enabled', { name: 'deploy' }, 'not_enabled'],
    ['every object has', { name: 'constructor' }, 'unknown_tool'],
    ['has no name that a tool can have', { name: 'x'.repeat(300) }, 'invalid_request'],
    ['has wrong arguments', { ...READ, args: { pat: 1 } }, 'invalid_arguments', { issues: [expect.any(String)] }],
    [
      'is a meta tool with wrong arguments',
      { name: 'tool_search', args: { query: ' ' } },
      'invalid_request',
      { reason: expect.stringContaining('query') },
    ],
  ])('of what %s does not run, and the agent is told why and what to do', async (_, call, code, more = {}) => {
    const { runs, say } = await start([enabling('file_read'), call, 'done']);
    const messages = await say('go');
    const told = { ok: false, code, reason: expect.any(String), next: expect.any(String), ...more };
    expect(answersOf(messages).slice(1)).toMatchObject([{ name: call.name, status: 'error', content: told }]);
    expect(runs).toEqual([]);
    expect(finalText(messages)).toBe('done');
  });

  it.each(['v1', 'v2'] as const)('among several of one step is judged by itself (%s)', async (version) => {
    const { runs, say } = await start(
      [enabling('file_read'), [READ, { name: 'deploy' }, { name: 'file_read', args: { path: 'b' } }], 'done'],
      { version },
    );
    const messages = await say('go');
    expect(answersOf(messages).map(({ status }) => status)).toEqual(['success', 'success', 'error', 'success']);
    expect(runs.map((run) => run.arguments.path).sort()).toEqual(['a', 'b']);
  });

  it('that fails is an answer with its code, and notes stand behind the output', async () => {
    const results: CallResult[] = [
      { ok: false, code: 'tool_failed', reason: 'no such file', next: 'Use another path.' },
      { ok: true, output: 'text', notes: ['The result was shortened.'], milliseconds: 1 },
    ];
    const { say } = await start([enabling('file_read'), READ, READ, 'done'], {
      setup: { execute: async () => results.shift() ?? Promise.reject(new Error('too often')) },
    });
    const [, failed, shortened] = answersOf(await say('go'));
    expect(failed).toMatchObject({ status: 'error', content: { code: 'tool_failed', reason: 'no such file' } });
    expect(shortened).toMatchObject({ status: 'success', content: 'text\nNote: The result was shortened.' });
  });

  it('that needs an approval is refused with the id of the approval, and runs once when somebody else has granted it', async () => {
    const deploy = { name: 'deploy', args: { to: 'test' } };
    const { router, runs, say } = await start([enabling('deploy'), deploy, 'waiting', deploy, deploy, 'done']);
    const refused = answersOf(await say('deploy')).at(-1)?.content;
    const [approval] = await router.approvals.list({ state: 'pending' });
    expect(refused).toMatchObject({ code: 'needs_approval', approval: approval?.id });
    await router.approvals.grant(approval?.id ?? '', { by: { user: 'olga', roles: ['operator'] } });
    const again = answersOf(await say('it is granted'));
    expect(again.map(({ status }) => status)).toEqual(['success', 'error']);
    expect(runs).toHaveLength(1);
  });
});

describe('the signal of a run', () => {
  it('reaches the tool that runs', async () => {
    const controller = new AbortController();
    const signals: (AbortSignal | undefined)[] = [];
    const { say } = await start([enabling('file_read'), READ, 'done'], {
      setup: {
        async execute({ signal }) {
          signals.push(signal);
          controller.abort();
          await wait(10);
          return { ok: false, code: 'cancelled', reason: 'stopped', next: 'none' };
        },
      },
    });
    await expect(say('go', controller.signal)).rejects.toThrow(/abort/i);
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });
});

describe("the agent's own tools", () => {
  const now = tool(async () => 'noon', { name: 'now', description: 'The time.', schema: z.object({}) });
  const create = async (ungated: readonly string[] | undefined, model: ScriptedChat) =>
    createAgent({
      model,
      tools: [now, { type: 'web_search' }],
      middleware: [createRoutingMiddleware({ router: (await setUp()).router, ungated })],
    });

  it('pass no gate where they are named, and those of the provider are left alone', async () => {
    const chat = new ScriptedChat([{ name: 'now' }, 'done']);
    const { messages } = await (await create(['now'], chat)).invoke(saying('when?'));
    expect(chat.seen[0]?.tools).toEqual(['now', 'web_search', ...META, 'ask_user']);
    expect(answersOf(messages)).toEqual([{ name: 'now', status: 'success', content: 'noon' }]);
  });

  it('open no way to a tool of the router that has such a name', async () => {
    const { runs, say } = await start([READ, 'done'], { ungated: ['file_read'] });
    expect(answersOf(await say('go'))).toMatchObject([{ content: { code: 'not_enabled' } }]);
    expect(runs).toEqual([]);
  });

  it('are refused where they are not', async () => {
    const chat = new ScriptedChat(['done']);
    await expect((await create(undefined, chat)).invoke(saying('when?'))).rejects.toMatchObject({
      cause: { code: 'invalid_option', message: expect.stringMatching(/\(now\).*"ungated"/) },
    });
    expect(chat.seen).toEqual([]);
  });
});

describe('a store that fails', () => {
  it('ends the run: it is nothing that an agent can mend', async () => {
    const { store, say } = await start([READ, 'done'], { setup: { tools: TOOLS } });
    store.sessions.enablements = () => Promise.reject(new Error('disk full'));
    await expect(say('go')).rejects.toThrow('disk full');
  });
});

async function createTools() {
  const { router, searched } = await setUp();
  const { id } = await router.createSession({ user: 'ann' });
  const [search, enable, disable] = createMetaTools(router, id, { caller: { user: 'ann' } });
  if (!search || !enable || !disable) throw new Error('there are three meta tools');
  return { router, searched, id, search, enable, disable };
}

describe('the meta tools of a session', () => {
  it('have the names and texts of Winnow everywhere', async () => {
    const { search, enable, disable } = await createTools();
    const shown = [search, enable, disable].map(({ name, description }) => [name, description]);
    expect(shown).toEqual(Object.entries(META_TOOLS).map(([name, { description }]) => [name, description]));
  });

  it('search, enable and disable in it, with the JSON of the router', async () => {
    const { router, id, search, enable, disable } = await createTools();
    expect(JSON.parse(await search.invoke({ query: 'read' }))).toMatchObject({ query: 'read', ranked_by: 'rules' });
    const enabled = JSON.parse(await enable.invoke({ names: ['lsp_open', 'diary'], ttl_turns: 2 }));
    expect(enabled).toMatchObject({
      enabled: [{ name: 'lsp_open', expires_after_turns: 2 }],
      rejected: [{ name: 'diary', code: 'unknown_tool' }],
    });
    expect((await router.session(id)).enabled.map(({ name }) => name)).toEqual(['ask_user', 'lsp_open']);
    expect(JSON.parse(await disable.invoke({ names: ['lsp_open'] }))).toEqual({ disabled: ['lsp_open'], rejected: [] });
  });

  it('serve an agent that has no middleware', async () => {
    const { router, id, search, enable, disable } = await createTools();
    const model = new ScriptedChat([{ name: 'tool_enable', args: { names: ['lsp_open'] } }, 'done']);
    const { messages } = await createAgent({ model, tools: [search, enable, disable] }).invoke(saying('go'));
    expect(answersOf(messages)).toMatchObject([{ name: 'tool_enable', content: { enabled: [{ name: 'lsp_open' }] } }]);
    expect((await router.session(id)).enabled).toHaveLength(2);
  });

  it('are cancelled by the signal of the run and by that of the session', async () => {
    const { router, searched } = await setUp();
    const { id } = await router.createSession();
    const [outer, inner] = [new AbortController(), new AbortController()];
    const [search] = createMetaTools(router, id, { signal: outer.signal });
    await search?.invoke({ query: 'read' }, { signal: inner.signal });
    const signal = searched[0]?.signal;
    expect(signal?.aborted).toBe(false);
    outer.abort();
    expect(signal?.aborted).toBe(true);
  });

  it("are refused to others: another's session looks like none", async () => {
    const { router } = await setUp();
    const { id } = await router.createSession({ user: 'ann' });
    const [search] = createMetaTools(router, id, { caller: { user: 'bob' } });
    await expect(search?.invoke({ query: 'read' })).rejects.toMatchObject({ code: 'not_found' });
  });
});
