/** Threads of an agent: their sessions, and interrupts for approvals. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, MemorySaver } from '@langchain/langgraph';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApprovalResume } from '../../../src/adapters/langchain/index.js';
import { openStore } from '../../../src/agents/store/open-store.js';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import { type Setup, setUp, TOOLS } from '../../agents/setup.js';
import { createTool } from '../../support/create-tool.js';
import { answersOf, type ChatAnswer, createRouted, saying, start } from './setup.js';

describe('the threads of an agent', () => {
  const ENABLE = { name: 'tool_enable', args: { names: ['lsp_open'] } };

  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'winnow-threads-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  describe('a thread', () => {
    it('has one session, and each user message begins one turn of it, however many steps it takes', async () => {
      const { router, say } = await start([ENABLE, { name: 'ask_user' }, 'one', 'two', 'three']);
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
      await createRouted({
        router: (await setUp({ store: before })).router,
        checkpointer,
        answers: [ENABLE, 'one'],
      }).say('one');
      await before.close();
      const store = await openStore({ file });
      const { router, runs, chat, say } = await start([{ name: 'lsp_open' }, 'two'], {
        checkpointer,
        setup: { store },
      });
      await say('two');
      expect(chat.seen[0]?.tools).toContain('lsp_open');
      expect(runs).toMatchObject([{ tool: { name: 'lsp_open' } }]);
      expect(await router.sessions()).toMatchObject([{ turn: 2 }]);
      await store.close();
    });

    it('begins no turn where a run of the same message goes on after a failure', async () => {
      const { router } = await setUp();
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
      const { router, run, say } = await start(['one', 'one again']);
      await say('one');
      await run({ messages: [] });
      expect(await router.sessions()).toMatchObject([{ turn: 1 }]);
    });

    it('sees nothing of what another thread of the same agent has enabled', async () => {
      const { router } = await setUp();
      const checkpointer = new MemorySaver();
      await createRouted({ router, checkpointer, answers: [ENABLE, 'one'] }).say('one');
      const { agent, chat } = createRouted({ router, checkpointer, answers: ['one'] });
      await agent.invoke({ messages: [{ role: 'user', content: 'one' }] }, { configurable: { thread_id: 'other' } });
      expect(chat.seen[0]?.tools).not.toContain('lsp_open');
      expect(await router.sessions()).toHaveLength(2);
    });

    it.each([
      ['was idle for too long', async ({ pass }: Setup) => pass(2_000)],
      ['has ended', async ({ router }: Setup, id: string) => void (await router.endSession(id))],
    ])('whose session %s gets a new one', async (_, end) => {
      const all = await setUp({ options: { sessionIdleMs: 1_000 } });
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
      const { router } = await setUp();
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
      const { router } = await setUp();
      const context = { user: 'ann', roles: ['dev'], project: 'p', riskCeiling: 'low' as const };
      await createRouted({ router, context, answers: ['done'] }).say('go');
      expect(await router.sessions()).toMatchObject([context]);
    });

    it('may name an open session, in which each message begins a turn', async () => {
      const { router } = await setUp();
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
      const { router } = await setUp();
      const { id } = await router.createSession({ user: 'ann' });
      const { say } = createRouted({ router, context: { session: id, ...context }, answers: ['one'] });
      await expect(say('one')).rejects.toMatchObject({ code });
    });

    it('with a field that nobody knows is refused with its name', async () => {
      const { agent } = await start(['one']);
      const context = JSON.parse('{"winnow": {"usr": "ann"}}');
      const config = { configurable: { thread_id: '1' }, context };
      await expect(agent.invoke({ messages: [{ role: 'user', content: 'x' }] }, config)).rejects.toThrow('usr');
    });
  });
});

describe('an interrupt for an approval', () => {
  const ENABLE = { name: 'tool_enable', args: { names: ['deploy', 'file_read'] } };
  const DEPLOY = { name: 'deploy', args: { to: 'test', token: 'secret-1' } };
  const READ = { name: 'file_read', args: { path: 'a' } };
  const resume = (...decisions: unknown[]) => new Command({ resume: { decisions } });
  const APPROVE = { type: 'approve' };
  const OLGA = { user: 'olga', roles: ['operator'] };

  /** Up to the first interrupt. */
  async function paused(call: ChatAnswer = DEPLOY, given?: Setup) {
    const setup = given ?? (await setUp());
    const routed = createRouted({ router: setup.router, onApproval: 'interrupt', answers: [ENABLE, call, 'done'] });
    const result = await routed.agent.invoke(saying('deploy'), routed.config);
    const [asked] = await setup.router.approvals.list({ state: 'pending' });
    return { ...setup, ...routed, interrupts: result.__interrupt__ ?? [], approval: asked?.id ?? '' };
  }

  describe('a call that needs an approval', () => {
    it("pauses the run, in the form of LangChain's human-in-the-loop, with what is secret masked", async () => {
      const { interrupts, approval, runs } = await paused();
      expect(interrupts).toMatchObject([
        {
          value: {
            actionRequests: [
              {
                name: 'deploy',
                args: { to: 'test', token: expect.stringMatching(/^\[secret: 8 characters/u) },
                description: expect.stringMatching(
                  /deploy has high risk\.\nruns: a function of this server \(test\), high risk\nAsked for by ann, until 2026/,
                ),
              },
            ],
            reviewConfigs: [{ actionName: 'deploy', allowedDecisions: ['approve', 'edit', 'reject'] }],
            approval: { id: approval, tool: 'deploy' },
          },
        },
      ]);
      expect(runs).toEqual([]);
    });

    it('says where its arguments come from, where it is a step of a plan', async () => {
      const setup = await setUp();
      const { router } = setup;
      const sources = { to: { source: 'unknown' }, token: { source: 'step', references: ['${s1.token}'] } } as const;
      const told = { to: sources.to, token: { ...sources.token, references: [...sources.token.references] } };
      const call: typeof router.call = (id, input, ask) => router.call(id, input, { ...ask, sources: told });
      const { interrupts } = await paused(DEPLOY, { ...setup, router: { ...router, call } });
      const lines = 'deploy has high risk.\nto: ! unknown\ntoken: step ${s1.token}\nruns: a function';
      const description = expect.stringContaining(lines);
      expect(interrupts).toMatchObject([{ value: { actionRequests: [{ description }], approval: { sources } } }]);
    });

    it('runs once when it was granted elsewhere and the run is resumed', async () => {
      const { router, run, approval, runs } = await paused();
      await router.approvals.grant(approval, { by: OLGA });
      const messages = await run(resume({ type: 'approve' }));
      expect(answersOf(messages).at(-1)).toMatchObject({ name: 'deploy', status: 'success' });
      expect(runs).toMatchObject([{ arguments: DEPLOY.args }]);
      expect(await router.approvals.get(approval)).toMatchObject({ state: 'used', decidedBy: 'olga' });
    });

    it('runs when the run is resumed with who approves it', async () => {
      const { router, run, approval, runs } = await paused();
      await run(resume({ ...APPROVE, message: 'it is friday' }), OLGA);
      expect(runs).toHaveLength(1);
      expect(await router.approvals.get(approval)).toMatchObject({
        state: 'used',
        decidedBy: 'olga',
        reason: 'it is friday',
      });
    });

    describe('that is resumed with an edit', () => {
      const EDIT = { type: 'edit', editedAction: { name: 'deploy', args: { to: 'live' } } };

      it('runs with the new arguments and the secrets of the call, and the agent is told', async () => {
        const { router, run, approval, runs } = await paused();
        const messages = await run(resume(EDIT), OLGA);
        expect(runs).toMatchObject([{ arguments: { to: 'live', token: 'secret-1' } }]);
        const answer = JSON.stringify(answersOf(messages).at(-1));
        expect(answer).toContain('olga approved the call with other arguments, and changed to.');
        expect(answer).toContain('live');
        expect(answer).not.toContain('secret-1');
        expect(await router.approvals.get(approval)).toMatchObject({
          state: 'used',
          granted: { arguments: { to: 'live' } },
        });
      });

      it('runs with what was granted elsewhere', async () => {
        const { router, run, approval, runs } = await paused();
        await router.approvals.grant(approval, { by: OLGA, arguments: { to: 'live' } });
        await run(resume(APPROVE));
        expect(runs).toMatchObject([{ arguments: { to: 'live', token: 'secret-1' } }]);
      });

      it.each<[string, object, { user: string; roles: string[] } | undefined, string]>([
        ['nobody approves it', EDIT, undefined, 'An edit needs somebody who approves it'],
        ['it is of another tool', { ...EDIT, editedAction: { name: 'x', args: {} } }, OLGA, 'An edit keeps the tool'],
      ])('stays paused where %s', async (_, edit, approver, problem) => {
        const { agent, config, configFor, runs, router, approval } = await paused();
        const again = await agent.invoke(resume(edit), approver ? configFor(approver) : config);
        expect(again.__interrupt__).toMatchObject([
          { value: { actionRequests: [{ description: expect.stringContaining(problem) }] } },
        ]);
        expect(runs).toEqual([]);
        expect(await router.approvals.get(approval)).toMatchObject({ state: 'pending' });
      });
    });

    it.each([
      ['nobody has granted it', undefined, undefined],
      ['somebody approves it who may not', { user: 'bob' }, 'bob is not among those who may approve'],
    ])('stays paused where %s', async (_, approver, problem) => {
      const { agent, config, configFor, runs, router, approval } = await paused();
      const again = await agent.invoke(resume(APPROVE), approver ? configFor(approver) : config);
      expect(again.__interrupt__).toMatchObject([
        { value: { actionRequests: [{ description: expect.stringContaining(problem ?? 'high risk') }] } },
      ]);
      expect(runs).toEqual([]);
      await agent.invoke(resume(APPROVE), configFor(OLGA));
      expect(runs).toHaveLength(1);
      expect(await router.approvals.get(approval)).toMatchObject({ decidedBy: 'olga' });
    });

    it.each([
      ['by somebody', OLGA, 'refused'],
      ['by the program', undefined, 'pending'],
    ])('does not run when it is rejected %s, and the agent is told why', async (_, approver, state) => {
      const { run, runs, router, approval } = await paused();
      const messages = await run(resume({ type: 'reject', message: 'not today' }), approver);
      expect(answersOf(messages).at(-1)).toMatchObject({
        status: 'error',
        content: { code: 'approval_refused', reason: expect.stringContaining('not today') },
      });
      expect(runs).toEqual([]);
      expect(await router.approvals.get(approval)).toMatchObject({ state });
    });

    it('is asked for anew where its time is over when the run is resumed', async () => {
      const setup = await setUp();
      const { agent, configFor, runs, approval } = await paused(DEPLOY, setup);
      setup.pass(16 * 60_000);
      const approve = resume(APPROVE);
      const again = await agent.invoke(approve, configFor(OLGA));
      expect(runs).toEqual([]);
      expect(again.__interrupt__).toMatchObject([
        { value: { actionRequests: [{ description: expect.stringContaining('The question asked before was over') }] } },
      ]);
      expect(again.__interrupt__).not.toMatchObject([{ value: { approval: { id: approval } } }]);
      await agent.invoke(approve, configFor(OLGA));
      expect(runs).toHaveLength(1);
    });

    it('runs when an agent of another process resumes it', async () => {
      const checkpointer = new MemorySaver();
      const { router, runs } = await setUp();
      const shared = { router, checkpointer, onApproval: 'interrupt' } as const;
      await createRouted({ ...shared, answers: [ENABLE, DEPLOY] }).say('deploy');
      await createRouted({ ...shared, answers: ['done'] }).run(resume(APPROVE), OLGA);
      expect(runs).toHaveLength(1);
    });

    describe('for another approval than was shown', () => {
      const BOB = { user: 'bob' };

      /** One step makes two equal calls, which wait for one approval. */
      async function moving() {
        const at = (server: string) => {
          const http = { method: 'POST', path: '/deploy', server, parameters: {} };
          return createCatalog([
            ...TOOLS.filter(({ name }) => name !== 'deploy'),
            createTool('deploy', { properties: { to: {} } }, undefined, { risk: 'high', metadata: { http } }),
          ]);
        };
        let catalog = at('https://test.example');
        const setup = await setUp({ catalog: () => catalog });
        const call = { name: 'deploy', args: { to: 'a' } };
        const all = await paused([call, call], setup);
        return { ...all, move: () => (catalog = at('https://production.example')) };
      }

      function answering(interrupts: readonly { id?: string | undefined }[]) {
        const answers = interrupts.map(({ id }) => [id ?? '', { decisions: [APPROVE] }]);
        return new Command({ resume: Object.fromEntries(answers) });
      }

      it('is asked for by itself, also where an equal call has opened it', async () => {
        const { agent, interrupts, approval, runs, router, configFor, move } = await moving();
        expect(interrupts).toMatchObject([
          { value: { approval: { id: approval } } },
          { value: { approval: { id: approval } } },
        ]);
        move();
        const again = await agent.invoke(answering(interrupts), configFor(OLGA));
        expect(runs).toEqual([]);
        const description = expect.stringMatching(/production\.example(.|\n)*The question asked before was over/u);
        const asked = { value: { actionRequests: [{ description }] } };
        expect(again.__interrupt__).toMatchObject([asked, asked]);
        const states = (await router.approvals.list()).map(({ state }) => state);
        expect(states).toEqual(['pending', 'pending']);
      });

      it.each([
        ['by somebody', OLGA],
        ['by the program', undefined],
      ])('is asked for again where the other one is rejected %s', async (_, approver) => {
        const { agent, runs, router, config, configFor, pass } = await paused();
        pass(16 * 60_000);
        const again = await agent.invoke(resume({ type: 'reject' }), approver ? configFor(approver) : config);
        expect(again.__interrupt__).toHaveLength(1);
        expect(await router.approvals.list()).toMatchObject([{ state: 'pending' }, { state: 'expired' }]);
        await agent.invoke(resume(APPROVE), configFor(OLGA));
        expect(runs).toHaveLength(1);
      });

      it('is not granted by the earlier answer when the later one rejects it', async () => {
        const { agent, runs, configFor, ...setup } = await paused();
        setup.pass(16 * 60_000);
        await agent.invoke(resume(APPROVE), configFor(OLGA));
        await agent.invoke(resume({ type: 'reject' }), configFor(OLGA));
        expect(runs).toEqual([]);
        expect(await setup.router.approvals.list()).toMatchObject([{ state: 'refused' }, { state: 'expired' }]);
      });

      it('is not granted in the name of who rejects it, where somebody approved it before who may not', async () => {
        const { agent, runs, router, configFor, approval } = await paused();
        await agent.invoke(resume(APPROVE), configFor(BOB));
        await agent.invoke(resume({ type: 'reject' }), configFor(OLGA));
        expect(runs).toEqual([]);
        expect(await router.approvals.get(approval)).toMatchObject({ state: 'refused', decidedBy: 'olga' });
      });
    });

    it('does not make the other calls of its step run twice', async () => {
      const { run, runs } = await paused([READ, DEPLOY]);
      expect(runs).toHaveLength(1);
      const messages = await run(resume(APPROVE), OLGA);
      expect(runs.map(({ tool }) => tool.name)).toEqual(['file_read', 'deploy']);
      expect(answersOf(messages).map(({ status }) => status)).toEqual(['success', 'success', 'success']);
    });

    it('can be resumed rightly after a payload that says who decides', async () => {
      const { agent, config, run, runs } = await paused();
      const value = { decisions: [{ type: 'approve', by: OLGA }] };
      await expect(agent.invoke(new Command({ resume: value }), config)).rejects.toThrow('"by"');
      expect(runs).toEqual([]);
      const right: ApprovalResume = { decisions: [{ type: 'approve' }] };
      await run(new Command({ resume: right }), OLGA);
      expect(runs).toHaveLength(1);
    });
  });

  describe('a refusal that nobody can lift', () => {
    it('does not pause the run', async () => {
      const { interrupts, runs } = await paused({ name: 'no_such_tool' });
      expect(interrupts).toEqual([]);
      expect(runs).toEqual([]);
    });
  });
});
