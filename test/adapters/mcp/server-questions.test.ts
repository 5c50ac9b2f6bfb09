/** What servers of tools ask while they work on a call reaches the client whose call it is, in either way of both. */
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describe, expect, it } from 'vitest';
import { createOpenCalls } from '../../../src/adapters/mcp/server-questions.js';
import { createMcpExecutor } from '../../../src/agents/sandbox/executors/mcp.js';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import { createTool } from '../../support/create-tool.js';
import {
  type Answer,
  asUser,
  createWorld,
  HOW,
  type How,
  MODERN,
  openClient,
  openModern,
  serveHttp,
  servePipes,
  type WorldOptions,
} from './setup.js';

const scriptOf = (name: string) => [resolve(`test/agents/sandbox/executors/${name}.mjs`), '/dev/null'];
const SERVERS = {
  old: { command: process.execPath, args: scriptOf('mcp-call-server') },
  'new one': { command: process.execPath, args: scriptOf('mcp-modern-server') },
};

const names = ['old__ask', 'new_one__ask', 'old__ask_often', 'old__hang'];
const catalog = createCatalog(
  names.map((name) => {
    const [, server, tool] = /^(.+)__(.+)$/u.exec(name.replace('_one', ' one')) ?? [];
    return createTool(name, {}, undefined, {
      ...{ toolType: 'mcp', risk: 'low', alwaysLoad: true, metadata: { mcp: { server, tool } } },
    });
  }),
);

const NO_STREAM = new Response(null, { status: 405 });
/** One user has one place: what belongs to a call that is under way takes none. */
const server = { concurrency: 4 };

/** A world of its own: of a connection that other users have had no question is handed on. */
async function serve(how: How, options: WorldOptions = {}) {
  const executors = [createMcpExecutor(SERVERS)];
  const world = await createWorld({ ...options, more: { catalog: () => catalog, executors } });
  return how.endsWith('HTTP') ? serveHttp(world, { server }) : servePipes(world);
}

/** Clients with sessions open no stream of their own, beside those of their calls. */
function withoutStream({ url }: { url: string }) {
  const fetchOf = async (...[to, init]: Parameters<typeof fetch>) =>
    init?.method === 'GET' ? NO_STREAM : fetch(to, init);
  return new OldHttp(new URL(url), { ...asUser('ann'), fetch: fetchOf }) as Transport;
}

async function open(how: How, answer: Answer | undefined, options: WorldOptions = {}) {
  const served = await serve(how, options);
  const { call } = how.startsWith(MODERN)
    ? await openModern(served.modern('ann'), answer)
    : await openClient('url' in served ? withoutStream(served) : served.old(), answer);
  return { agents: served.agents, call };
}

const requestedSchema = { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] };
const form = { mode: 'form', message: 'Allow file_delete?', requestedSchema };
const said = (content: readonly unknown[]) => JSON.parse(String(Object(content[0]).text));

describe.each(HOW)('to a client with %s', (how) => {
  it.each([
    ['old__ask', 'old'],
    ['new_one__ask', 'new one'],
  ])('what the server of %s asks comes with its name, and the answer goes back', async (name, server) => {
    const questions: unknown[] = [];
    const { call } = await open(how, (question) => {
      questions.push(question);
      return { action: 'accept', content: { day: 'Monday' } };
    });
    const { content } = await call('tool_call', { tool: name, arguments: form });
    expect(content).toHaveLength(1);
    expect(said(content)).toEqual({ action: 'accept', content: { day: 'Monday' } });
    const message = `The MCP server "${server}" asks: Allow file_delete?`;
    expect(questions).toEqual([expect.objectContaining({ message, requestedSchema })]);
    expect(said((await call(name, form)).content)).toMatchObject({ action: 'accept' });
    expect(questions).toHaveLength(2);
  });

  it.each(['old__ask', 'new_one__ask'])('that can not ask, %s gets no answer, and the result says so', async (name) => {
    const { call } = await open(how, undefined);
    const { content } = await call(name, form);
    expect(said(content)).toEqual({ action: 'decline' });
    expect(content[1]).toMatchObject({
      text: expect.stringMatching(/^Note: The MCP server "[a-z ]+" asked, and was/u),
    });
  });

  it('each of several questions is asked, and each has its own answer', async () => {
    let times = 0;
    const actions = ['decline', 'cancel', 'accept'] as const;
    const { call } = await open(how, () => {
      const action = actions[times++] ?? 'decline';
      return action === 'accept' ? { action, content: { day: 'Monday' } } : { action };
    });
    const { content } = await call('old__ask_often', { times: 3, form });
    expect(said(content)).toEqual(actions);
  });

  it('that lets the person decide on approvals, an answer to the server decides on none', async () => {
    const messages: string[] = [];
    const policy = {
      approvals: { self: 'ask' as const },
      rules: [{ name: 'all', match: {}, decision: 'needs_approval' as const }],
    };
    const { call, agents } = await open(
      how,
      ({ message }) => {
        messages.push(message);
        return message.startsWith('The MCP server') ? { action: 'decline' } : { action: 'accept', content: {} };
      },
      { policy },
    );
    const { content } = await call('old__ask', form);
    if (how.includes('HTTP')) return expect(messages).toEqual([]);
    expect(messages).toEqual([
      expect.stringMatching(/^Allow old__ask with/u),
      expect.stringMatching(/^The MCP server "old"/u),
    ]);
    expect(said(content)).toEqual({ action: 'decline' });
    expect(await agents.router.audit({ event: 'approval_granted' })).toHaveLength(1);
  });
});

describe('a call of 2026-07-28 whose client has been asked', () => {
  const yes: Answer = () => ({ action: 'accept', content: { day: 'Monday' } });
  const by = { allowInputRequired: true } as const;
  const params = { name: 'old__ask_often', arguments: { times: 2, form } };
  const answer = { inputResponses: { server: { action: 'accept', content: { day: 'Monday' } } } };

  async function ask() {
    const opened = await serve('2026-07-28 on HTTP');
    const { client } = await openModern(opened.modern('ann'), yes);
    const send = (more: object = {}, from = client) => from.callTool({ ...params, ...more }, by) as Promise<Sent>;
    return { ...opened, client, send, asked: await send() };
  }
  interface Sent {
    readonly requestState?: string;
    readonly inputRequests?: Record<string, { params: { message: string } }>;
    readonly structuredContent?: object;
    readonly content?: readonly unknown[];
  }
  const stateOf = ({ requestState = '' }: Sent) => ({ requestState });

  it('gets the question again where it has no answer, and each answer counts for one question', async () => {
    const { send, asked } = await ask();
    const again = await send(stateOf(asked));
    expect(again.inputRequests).toEqual(asked.inputRequests);
    const second = await send({ ...answer, ...stateOf(again) });
    expect(second.inputRequests).toEqual(asked.inputRequests);
    const repeated = await send({ ...answer, ...stateOf(asked) });
    expect(repeated.structuredContent).toMatchObject({
      code: 'connection_lost',
      reason: expect.stringContaining('not under way'),
    });
    const last = await send({ ...answer, ...stateOf(second) });
    expect(said(last.content ?? [])).toEqual(['accept', 'accept']);
  });

  it('is none of another user, nor of another session of the same', async () => {
    const { client, send, asked, modern } = await ask();
    const bob = await openModern(modern('bob'), yes);
    const refused = await send({ ...answer, ...stateOf(asked) }, bob.client);
    expect(refused.structuredContent).toMatchObject({ code: 'unknown_session' });
    const found = await client.callTool({ name: 'tool_search', arguments: { query: 'ask' } });
    const own = JSON.parse(Buffer.from(stateOf(asked).requestState, 'base64url').toString());
    const mixed = { ...own, session: Object(found.structuredContent).session };
    const forged = Buffer.from(JSON.stringify(mixed)).toString('base64url');
    const other = await send({ ...answer, requestState: forged });
    expect(other.structuredContent).toMatchObject({ code: 'connection_lost' });
    expect(await send({ ...answer, ...stateOf(asked) })).toMatchObject({ inputRequests: asked.inputRequests });
  });

  it.each(['2026-07-28 on stdio', '2026-07-28 on HTTP'] as const)('ends with the server of %s', async (how) => {
    const { agents, modern, close } = await serve(how);
    const { client } = await openModern(modern('ann'), yes);
    await client.callTool(params, by);
    await close();
    const outcomes = async () => (await agents.router.audit({ event: 'call' })).map(({ code }) => code);
    while (!(await outcomes()).includes('cancelled')) await pause(5);
  });
});

it('a question that its server takes back leaves the place of those that wait to others', async () => {
  const calls = createOpenCalls();
  const question = { server: 's', message: 'm', requestedSchema: {} };
  const waiting = await calls.begin('mine', {}, async ({ onQuestion }) => {
    const output = await onQuestion?.(question, new AbortController().signal);
    return { ok: true, output, notes: [], milliseconds: 0 };
  });
  await calls.begin('other', {}, async ({ onQuestion }) => {
    for (let times = 0; times < 1_100; times++) {
      const stop = new AbortController();
      const answered = onQuestion?.(question, stop.signal);
      stop.abort();
      await answered;
    }
    return { ok: true, output: 'asked', notes: [], milliseconds: 0 };
  });
  const answer = { action: 'decline' as const };
  const call = 'call' in waiting ? waiting.call : '';
  expect(await calls.goOn(call, 'mine', { ask: {}, answer })).toMatchObject({ result: { output: answer } });
});
