import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MemorySaver } from '@langchain/langgraph';
import { openStore } from '../../src/store/open-store.js';
import { setUp } from '../routing/setup.js';
import { createRouted } from './setup.js';

const ENABLE = { name: 'tool_enable', args: { names: ['lsp_open'] } };

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-threads-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a thread', () => {
  it('has one session, and each user message begins one turn of it, however many steps it takes', async () => {
    const { router } = setUp();
    const { say } = createRouted({ router, answers: [ENABLE, { name: 'ask_user' }, 'one', 'two', 'three'] });
    await say('one');
    await say('two');
    await say('three');
    const sessions = await router.sessions();
    expect(sessions).toMatchObject([{ user: 'ann', turn: 3, enabled: [{ name: 'ask_user' }, { name: 'lsp_open' }] }]);
    expect(await router.audit({ event: 'turn' })).toHaveLength(2);
  });

  it('goes on with its session in another process, with what it has enabled', async () => {
    const file = join(folder, 'restart.db');
    const checkpointer = new MemorySaver();
    const before = await openStore({ file });
    await createRouted({ router: setUp({ store: before }).router, checkpointer, answers: [ENABLE, 'one'] }).say('one');
    await before.close();
    const store = await openStore({ file });
    const { router, runs } = setUp({ store });
    const { chat, say } = createRouted({ router, checkpointer, answers: [{ name: 'lsp_open' }, 'two'] });
    await say('two');
    expect(chat.seen[0]?.tools).toContain('lsp_open');
    expect(runs).toMatchObject([{ tool: { name: 'lsp_open' } }]);
    expect(await router.sessions()).toMatchObject([{ turn: 2 }]);
    await store.close();
  });

  it('begins no turn where a run of the same message goes on after a failure', async () => {
    const { router } = setUp();
    const answers = [ENABLE, new Error('the server failed'), 'one', 'two'];
    const { run, say } = createRouted({ router, answers: () => answers.shift() ?? '' });
    await expect(say('one')).rejects.toThrow('the server failed');
    await run(null);
    await say('two');
    expect(await router.sessions()).toMatchObject([
      { turn: 2, enabled: [{}, { name: 'lsp_open', remainingTurns: 2 }] },
    ]);
  });

  it('begins no turn where it is run again without a new message', async () => {
    const { router } = setUp();
    const { run, say } = createRouted({ router, answers: ['one', 'one again'] });
    await say('one');
    await run({ messages: [] });
    expect(await router.sessions()).toMatchObject([{ turn: 1 }]);
  });

  it('sees nothing of what another thread of the same agent has enabled', async () => {
    const { router } = setUp();
    const checkpointer = new MemorySaver();
    await createRouted({ router, checkpointer, answers: [ENABLE, 'one'] }).say('one');
    const { agent, chat } = createRouted({ router, checkpointer, answers: ['one'] });
    await agent.invoke({ messages: [{ role: 'user', content: 'one' }] }, { configurable: { thread_id: 'other' } });
    expect(chat.seen[0]?.tools).not.toContain('lsp_open');
    expect(await router.sessions()).toHaveLength(2);
  });

  it.each([
    ['was idle for too long', async ({ pass }: ReturnType<typeof setUp>) => pass(2_000)],
    ['has ended', async ({ router }: ReturnType<typeof setUp>, id: string) => void (await router.endSession(id))],
  ])('whose session %s gets a new one', async (_, end) => {
    const all = setUp({ options: { sessionIdleMs: 1_000 } });
    const { chat, say } = createRouted({ router: all.router, answers: [ENABLE, 'one', 'two'] });
    await say('one');
    const [first] = await all.router.sessions();
    all.pass(1);
    await end(all, first?.id ?? '');
    await say('two');
    const [latest] = await all.router.sessions();
    expect(latest?.id).not.toBe(first?.id);
    expect(latest).toMatchObject({ turn: 1, user: 'ann' });
    expect(chat.seen.at(-1)?.tools).not.toContain('lsp_open');
  });

  it('that now works for somebody else gets a session of theirs', async () => {
    const { router } = setUp();
    const checkpointer = new MemorySaver();
    await createRouted({ router, checkpointer, answers: [ENABLE, 'one'] }).say('one');
    const { chat, say } = createRouted({ router, checkpointer, context: { user: 'bob' }, answers: ['two'] });
    await say('two');
    expect(chat.seen[0]?.tools).not.toContain('lsp_open');
    expect((await router.sessions()).map(({ user }) => user).sort()).toEqual(['ann', 'bob']);
  });
});

describe('the context of a run', () => {
  it('says what the session is for', async () => {
    const { router } = setUp();
    const context = { user: 'ann', roles: ['dev'], project: 'p', riskCeiling: 'low' as const };
    await createRouted({ router, context, answers: ['done'] }).say('go');
    expect(await router.sessions()).toMatchObject([context]);
  });

  it('may name an open session, in which each message begins a turn', async () => {
    const { router } = setUp();
    const { id } = await router.createSession({ user: 'ann' });
    await router.enable(id, { names: ['lsp_open'] });
    const { chat, say } = createRouted({ router, context: { session: id }, answers: ['one'] });
    await say('one');
    expect(chat.seen[0]?.tools).toContain('lsp_open');
    expect(await router.session(id)).toMatchObject({ turn: 2 });
  });

  it.each([
    ['does not exist', { session: 'nothing' }, 'not_found'],
    ['is not that of the user', { user: 'bob' }, 'not_found'],
  ])('that names a session which %s ends the run', async (_, context, code) => {
    const { router } = setUp();
    const { id } = await router.createSession({ user: 'ann' });
    const { say } = createRouted({ router, context: { session: id, ...context }, answers: ['one'] });
    await expect(say('one')).rejects.toMatchObject({ code });
  });

  it('with a field that nobody knows is refused with its name', async () => {
    const { router } = setUp();
    const { agent } = createRouted({ router, answers: ['one'] });
    const context = JSON.parse('{"winnow": {"usr": "ann"}}');
    const config = { configurable: { thread_id: '1' }, context };
    await expect(agent.invoke({ messages: [{ role: 'user', content: 'x' }] }, config)).rejects.toThrow('usr');
  });
});
