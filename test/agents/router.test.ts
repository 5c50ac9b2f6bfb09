/** The router: its requests, what it writes down, its spans, and its names for clients. */
import { trace } from '@opentelemetry/api';
import { afterEach, describe, expect, it } from 'vitest';
import { canonicalHash } from '../../src/agents/approvals/canonical-json.js';
import { callKey } from '../../src/agents/calls/definition.js';
import type { CallResult } from '../../src/agents/contracts.js';
import { clientName } from '../../src/agents/meta-tools.js';
import type { Router } from '../../src/agents/router.js';
import { createFunctionExecutor } from '../../src/agents/sandbox/executors/functions.js';
import { createSandbox } from '../../src/agents/sandbox/sandbox.js';
import { reportTelemetry } from '../../src/agents/telemetry/rates.js';
import { createTool } from '../support/create-tool.js';
import { recordSpans } from '../support/record-spans.js';
import { setUp, TOOLS } from './setup.js';

const READ = { tool: 'file_read', arguments: { path: 'a' } };
const codeOf = (result: CallResult) => (result.ok ? 'ran' : result.code);

describe('a session', () => {
  it('begins at turn one with what is always on, and counts its turns', async () => {
    const { router } = await setUp();
    const session = await router.createSession({ user: 'ann', roles: ['dev'], project: 'p', riskCeiling: 'medium' });
    expect(session).toMatchObject({ user: 'ann', roles: ['dev'], project: 'p', riskCeiling: 'medium', turn: 1 });
    expect(session.enabled).toEqual([{ name: 'ask_user', via: 'always' }]);
    expect(await router.beginTurn(session.id)).toMatchObject({ turn: 2 });
    expect(await router.session(session.id)).toMatchObject({ turn: 2 });
  });

  it("looks like none to anybody but its user, and is the embedding program's own", async () => {
    const { router } = await setUp();
    const { id } = await router.createSession({ user: 'ann' });
    for (const caller of [{ user: 'bob' }, {}, { user: 'ANN' }])
      await expect(router.call(id, READ, { caller })).rejects.toMatchObject({ code: 'not_found' });
    await expect(router.session('nothing')).rejects.toMatchObject({ code: 'not_found' });
    await expect(router.session(id, { caller: { user: 'ann' } })).resolves.toMatchObject({ id });
    await expect(router.session(id)).resolves.toMatchObject({ id });
  });

  it('that has ended refuses all, and says so', async () => {
    const { router, runs } = await setUp();
    const { id } = await router.createSession({ user: 'ann' });
    await router.enable(id, { names: ['file_read'] });
    expect(await router.endSession(id)).toMatchObject({ endedAt: expect.any(String), enabled: [] });
    expect(codeOf(await router.call(id, READ))).toBe('session_ended');
    expect((await router.enable(id, { names: ['file_read'] })).rejected).toMatchObject([{ code: 'session_ended' }]);
    expect(await router.list(id)).toMatchObject({ ok: false, code: 'session_ended' });
    expect(await router.search(id, { query: 'read' })).toMatchObject({ matches: [], error: { code: 'session_ended' } });
    await expect(router.beginTurn(id)).rejects.toMatchObject({ code: 'not_found' });
    expect(runs).toEqual([]);
  });

  it('that did nothing for long is over, before and after it is removed', async () => {
    const { router, pass, store } = await setUp({ options: { sessionIdleMs: 1_000 } });
    const { id } = await router.createSession();
    pass(900);
    await router.session(id);
    pass(900);
    await router.session(id);
    pass(1_001);
    await expect(router.session(id)).rejects.toMatchObject({ code: 'not_found' });
    await router.sweep();
    expect(await store.sessions.get(id)).toBeUndefined();
    expect(await router.audit({ session: id, event: 'session_ended' })).toHaveLength(1);
  });

  it('that was for one request is in the audit from its begin to its idle end where something came of it', async () => {
    const { router, pass } = await setUp();
    const open = async () => (await router.createSession({ user: 'ann' }, { isForOneRequest: true })).id;
    const [, used] = [await open(), await open(), await open()];
    await router.call(used, { tool: 'ask_user' });
    pass(48 * 3_600_000);
    await router.sweep();
    expect((await router.audit()).map(({ event, session }) => [event, session])).toEqual([
      ['session_ended', used],
      ['call', used],
      ['session_created', used],
    ]);
  });

  it('is not kept from being idle by those who only look: at all sessions, or whether its tools are others', async () => {
    const { router, pass } = await setUp({ options: { sessionIdleMs: 1_000 } });
    const { id } = await router.createSession();
    pass(900);
    let turns = 0;
    const count = () => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    expect(await router.sessions()).toHaveLength(1);
    clearImmediate(next);
    // Others have their turn after each of a thousand sessions.
    expect(turns).toBeGreaterThan(0);
    await router.fingerprint(id);
    pass(101);
    expect(await router.sessions()).toEqual([]);
    await expect(router.fingerprint(id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it.each([
    ['an unknown field', { name: 'ann' }, 'name'],
    ['an unknown risk', { riskCeiling: 'huge' }, 'riskCeiling'],
  ])('is not opened with %s', async (_, input, field) => {
    const { router } = await setUp();
    await expect(router.createSession(JSON.parse(JSON.stringify(input)))).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(field),
    });
  });
});

describe('a call', () => {
  it('runs what is enabled, with its own copy of the arguments, and gives the result', async () => {
    const { router, runs } = await setUp();
    const { id } = await router.createSession({ user: 'ann' });
    await router.enable(id, { names: ['file_read'] });
    const given = { path: 'a' };
    expect(await router.call(id, { tool: 'file_read', arguments: given })).toMatchObject({ ok: true });
    expect(runs).toMatchObject([{ arguments: { path: 'a' }, user: 'ann', session: id }]);
    expect(runs[0]?.arguments).not.toBe(given);
  });

  it.each([
    ['what is not enabled', READ, 'not_enabled'],
    ['what does not exist', { tool: 'nothing' }, 'unknown_tool'],
    ["another user's tool", { tool: 'diary' }, 'unknown_tool'],
    ['what is out of service', { tool: 'broken' }, 'unavailable'],
    ['a name that every object has', { tool: 'constructor' }, 'unknown_tool'],
  ])('is refused for %s', async (_, call, code) => {
    const { router, runs } = await setUp();
    const { id } = await router.createSession({ user: 'ann' });
    const result = await router.call(id, call);
    expect(result).toEqual({ ok: false, code, reason: expect.any(String), next: expect.any(String) });
    expect(runs).toEqual([]);
  });

  it('with wrong arguments is refused, but only once the tool may be called at all', async () => {
    const { router } = await setUp();
    const { id } = await router.createSession();
    expect(codeOf(await router.call(id, { tool: 'file_read' }))).toBe('not_enabled');
    await router.enable(id, { names: ['file_read'] });
    expect(await router.call(id, { tool: 'file_read' })).toMatchObject({
      code: 'invalid_arguments',
      issues: [expect.stringContaining('path')],
    });
  });

  it('needs its precondition, for the very same value, in this session', async () => {
    const { router } = await setUp();
    const { id } = await router.createSession();
    await router.enable(id, { names: ['lsp_open', 'lsp_hover'] });
    const hover = (uri: string) => router.call(id, { tool: 'lsp_hover', arguments: { uri } });
    expect(await hover('file:///a')).toMatchObject({
      code: 'precondition_unmet',
      next: expect.stringContaining('lsp_open'),
    });
    await router.call(id, { tool: 'lsp_open', arguments: { path: 'a' } });
    expect(codeOf(await hover('file:///a'))).toBe('ran');
    expect(codeOf(await hover('file:///b'))).toBe('precondition_unmet');
    const other = await router.createSession();
    await router.enable(other.id, { names: ['lsp_hover'] });
    expect(codeOf(await router.call(other.id, { tool: 'lsp_hover', arguments: { uri: 'file:///a' } }))).toBe(
      'precondition_unmet',
    );
  });

  it('is kept for later ones by keyed digests of what a precondition compares, and one that none asks for is not', async () => {
    const { router, store } = await setUp();
    const { id } = await router.createSession({ user: 'ann' });
    await router.enable(id, { names: ['lsp_open', 'file_read', 'lsp_hover'] });
    for (const tool of ['lsp_open', 'file_read']) await router.call(id, { tool, arguments: { path: 'file:///a' } });
    const kept = TOOLS.map((tool) => callKey(tool));
    const calls = await store.journal.calls(id, kept);
    expect(calls.map(({ tool, values }) => [tool.split(' ')[0], Object.keys(values)])).toEqual([['lsp_open', ['uri']]]);
    expect(JSON.stringify(calls)).not.toContain(canonicalHash('file:///a'));
  });

  it('that was made long ago in a long session meets a precondition', async () => {
    let uri = 'file:///0';
    const execute = async () => ({ ok: true as const, output: { uri }, notes: [], milliseconds: 1 });
    const { router } = await setUp({ execute });
    const { id } = await router.createSession({ user: 'ann' });
    await router.enable(id, { names: ['lsp_open', 'lsp_hover'] });
    for (let turn = 0; turn < 250; turn++) {
      uri = `file:///${turn}`;
      await router.call(id, { tool: 'lsp_open', arguments: {} });
    }
    expect(await router.call(id, { tool: 'lsp_hover', arguments: { uri: 'file:///0' } })).toMatchObject({ ok: true });
  });

  it('that failed does not meet a precondition', async () => {
    const { router } = await setUp({
      execute: async ({ tool }) =>
        tool.name === 'lsp_open'
          ? { ok: false, code: 'tool_failed', reason: 'no', next: 'Try again.' }
          : { ok: true, output: null, notes: [], milliseconds: 1 },
    });
    const { id } = await router.createSession();
    await router.enable(id, { names: ['lsp_open', 'lsp_hover'] });
    await router.call(id, { tool: 'lsp_open', arguments: { path: 'file:///a', uri: 'file:///a' } });
    expect(codeOf(await router.call(id, { tool: 'lsp_hover', arguments: { uri: 'file:///a' } }))).toBe(
      'precondition_unmet',
    );
  });

  it('is judged by the arguments that run, with defaults filled in', async () => {
    const policy = {
      argumentRisks: [
        { match: { tool: 'code_run', arguments: { mode: 'project_cmd' } }, risk: 'high' as const },
        { match: { tool: 'code_run', arguments: { mode: 'read' } }, risk: 'low' as const },
      ],
    };
    const { router, runs } = await setUp({
      policy,
      prepare: (_, given) => ({ ok: true, arguments: { mode: 'project_cmd', ...Object(given) }, notes: [] }),
    });
    const { id } = await router.createSession({ user: 'ann' });
    await router.enable(id, { names: ['code_run'] });
    expect(codeOf(await router.call(id, { tool: 'code_run' }))).toBe('needs_approval');
    expect(codeOf(await router.call(id, { tool: 'code_run', arguments: { mode: 'read' } }))).toBe('ran');
    expect(runs).toHaveLength(1);
  });

  it('of a tool that is not enabled or denied is refused without a look at its arguments', async () => {
    const looked: string[] = [];
    const rules = [{ name: 'no reading', match: { tool: 'file_read' }, decision: 'deny' as const }];
    const { router } = await setUp({
      policy: { rules },
      prepare: (tool, given) => {
        looked.push(tool.name);
        return { ok: true, arguments: { ...Object(given) }, notes: [] };
      },
    });
    const { id } = await router.createSession({ user: 'ann' });
    const codes = ['deploy', 'file_read', 'ask_user'].map(async (tool) => codeOf(await router.call(id, { tool })));
    expect(await Promise.all(codes)).toEqual(['not_enabled', 'unknown_tool', 'ran']);
    expect(looked).toEqual(['ask_user']);
  });

  it('whose runner throws is a result and is in the audit', async () => {
    const { router } = await setUp({
      execute: async () => {
        throw new Error('a secret path');
      },
    });
    const { id } = await router.createSession();
    const result = await router.call(id, { tool: 'ask_user' });
    expect(result).toMatchObject({ ok: false, code: 'tool_failed' });
    expect(JSON.stringify(result)).not.toContain('secret');
    expect((await router.audit({ session: id, event: 'call' })).map(({ outcome }) => outcome)).toEqual([
      'failed',
      'allowed',
    ]);
  });

  it('is in the audit before it runs', async () => {
    const seen: string[] = [];
    const setup = await setUp({
      execute: async ({ session }) => {
        const entries = await setup.router.audit({ session, event: 'call' });
        seen.push(...entries.map(({ outcome }) => outcome));
        return { ok: true, output: null, notes: [], milliseconds: 1 };
      },
    });
    const { id } = await setup.router.createSession();
    await setup.router.call(id, { tool: 'ask_user' });
    expect(seen).toEqual(['allowed']);
  });
});

describe('what is denied', () => {
  const policy = { rules: [{ name: 'no files', match: { tool: 'file_*' }, decision: 'deny' as const }] };

  it('looks to the caller like what does not exist, in every answer, and differs in the audit', async () => {
    const { router } = await setUp({ policy });
    const { id } = await router.createSession();
    const same = (answer: object, name: string) => JSON.stringify(answer).replaceAll(name, 'NAME');
    const denied = await router.call(id, READ);
    const unknown = await router.call(id, { ...READ, tool: 'nothing' });
    expect(same(denied, 'file_read')).toBe(same(unknown, 'nothing'));
    const enabled = await router.enable(id, { names: ['file_read'] });
    expect(same(enabled, 'file_read')).toBe(same(await router.enable(id, { names: ['nothing'] }), 'nothing'));
    const disabled = await router.disable(id, { names: ['file_read'] });
    expect(same(disabled, 'file_read')).toBe(same(await router.disable(id, { names: ['nothing'] }), 'nothing'));
    const outcomes = async (tool: string) =>
      (await router.audit({ session: id, tool, event: 'call' })).map(({ outcome, code }) => `${outcome} ${code}`);
    expect(await outcomes('file_read')).toEqual(['denied denied']);
    expect(await outcomes('nothing')).toEqual(['unknown unknown_tool']);
  });

  it('is not found, listed, or brought along', async () => {
    const { router } = await setUp({
      policy: { rules: [{ ...policy.rules[0], name: 'x', match: { tool: 'file_list' }, decision: 'deny' }] },
    });
    const { id } = await router.createSession();
    const text = JSON.stringify([
      await router.search(id, { query: 'files' }),
      await router.list(id, { mode: 'classic' }),
      await router.enable(id, { names: ['file_read'] }),
      await router.session(id),
    ]);
    expect(text).toContain('file_read');
    expect(text).not.toContain('file_list');
  });
});

describe('a search', () => {
  it('is told of whom it answers: audiences differ where other tools may be allowed', async () => {
    const { router, searched, setPolicy } = await setUp();
    const search = async (input: object) => {
      const { id } = await router.createSession(input);
      await router.search(id, { query: 'x' });
      return searched.at(-1)?.audience;
    };
    const ann = await search({ user: 'ann' });
    expect(await search({ user: 'ann', project: 'p' })).toBe(ann);
    const others = [await search({ user: 'bob' }), await search({}), await search({ user: 'ann', roles: ['dev'] })];
    others.push(await search({ user: 'ann', riskCeiling: 'low' }));
    setPolicy({ strict: false });
    others.push(await search({ user: 'ann' }));
    expect(new Set([ann, ...others]).size).toBe(6);
  });
});

describe('lists', () => {
  const namesOf = (output: Awaited<ReturnType<Router['list']>>) =>
    output.ok ? output.tools.map(({ name }) => name) : output.code;

  it('hold what may be called now, or all that is allowed', async () => {
    const { router } = await setUp();
    const { id } = await router.createSession({ user: 'ann', riskCeiling: 'medium' });
    await router.enable(id, { names: ['lsp_open'] });
    expect(namesOf(await router.list(id))).toEqual(['ask_user', 'lsp_open']);
    expect(namesOf(await router.list(id, { mode: 'classic' }))).toEqual(
      expect.arrayContaining(['file_read', 'code_run', 'mail']),
    );
    expect(namesOf(await router.list(id, { mode: 'classic' }))).not.toContain('deploy');
    expect(namesOf(await router.list(id, { mode: 'narrow', query: 'x' }))).toBe('index_not_ready');
  });

  it('are asked of the index where there is one', async () => {
    const { router } = await setUp({
      handOut: async (request, context) => ({
        ok: false,
        code: 'no_candidates',
        reason: `${request.mode} ${context.user}`,
        next: 'Ask otherwise.',
      }),
    });
    const { id } = await router.createSession({ user: 'ann' });
    expect(await router.list(id, { mode: 'narrow', query: 'x' })).toMatchObject({ reason: 'narrow ann' });
  });
});

describe('modes', () => {
  it('legacy gives everything as before, and high risk is still approved', async () => {
    const { router } = await setUp({ policy: { mode: 'legacy' } });
    const { id } = await router.createSession({ user: 'ann' });
    expect(codeOf(await router.call(id, READ))).toBe('ran');
    expect(codeOf(await router.call(id, { tool: 'deploy' }))).toBe('needs_approval');
  });

  it('not strict runs what would be refused and warns in the audit; what does not exist stays unknown', async () => {
    const { router, runs } = await setUp({
      policy: { strict: false, rules: [{ name: 'no', match: { tool: 'file_read' }, decision: 'deny' }] },
    });
    const { id } = await router.createSession();
    expect(codeOf(await router.call(id, READ))).toBe('ran');
    expect(codeOf(await router.call(id, { tool: 'deploy' }))).toBe('ran');
    expect(codeOf(await router.call(id, { tool: 'diary' }))).toBe('unknown_tool');
    expect(runs).toHaveLength(2);
    const warned = await router.audit({ session: id, outcome: 'warned' });
    expect(warned.map(({ tool, code }) => `${tool} ${code}`)).toEqual(['deploy not_enabled', 'file_read denied']);
  });
});

describe('telemetry', () => {
  it('tells what happened in order, with whose it was, and never arguments or results', async () => {
    const { router, events, store } = await setUp();
    const { id } = await router.createSession({ user: 'ann', project: 'p' });
    await router.search(id, { query: 'read' });
    await router.enable(id, { names: ['lsp_open'], ttl_turns: 1 });
    await router.call(id, { tool: 'lsp_open', arguments: { path: 'very-secret' } });
    await router.call(id, READ);
    await router.beginTurn(id);
    expect(events.map(({ type }) => type)).toEqual(['search', 'enable', 'call', 'call', 'expire']);
    expect(events[4]).toMatchObject({ tool: 'lsp_open', calls: 1, user: 'ann', project: 'p', session: id, turn: 2 });
    const stored = await store.journal.telemetry({ session: id, limit: 9 });
    expect(stored.map(({ content }) => content)).toEqual(events);
    expect(JSON.stringify([stored, await router.audit({ session: id })])).not.toContain('very-secret');
  });
});

/** What is written down of a session: the audit for operators whole, figures for users without what they must not learn. */
describe('what is written down', () => {
  const READ = { tool: 'file_read', arguments: { path: 'a' } };
  const NO_LISTS = { rules: [{ name: 'no lists', match: { tool: 'file_list' }, decision: 'deny' as const }] };

  describe('the audit of a session', () => {
    it('has all that was asked and decided in it, in its order', async () => {
      const { router } = await setUp();
      const { id } = await router.createSession({ user: 'ann' });
      await router.search(id, { query: 'read' });
      await router.list(id, { mode: 'classic' });
      await router.enable(id, { names: ['lsp_open', 'nothing'] });
      await router.call(id, { tool: 'lsp_open' });
      await router.beginTurn(id);
      await router.disable(id, { names: ['lsp_open'] });
      await router.endSession(id);
      const entries = (await router.audit({ session: id })).reverse();
      expect(entries.map(({ event, outcome, tool = '-', turn }) => `${turn} ${event} ${outcome} ${tool}`)).toEqual([
        '1 session_created allowed -',
        '1 search allowed -',
        '1 list allowed -',
        '1 enable allowed lsp_open',
        '1 enable unknown nothing',
        '1 call allowed lsp_open',
        '2 turn allowed -',
        '2 disable allowed lsp_open',
        '2 session_ended allowed -',
      ]);
      expect(new Set(entries.map(({ user }) => user))).toEqual(new Set(['ann']));
    });

    it('has no marked secret in a reason: of a tool that fails, of refused arguments, of what an asker says', async () => {
      const PIN = 'hunter-22';
      const properties = { pin: { type: 'string', format: 'password' }, isWrong: { type: 'boolean' } };
      const always = { alwaysLoad: true };
      const { router } = await setUp({
        tools: [
          createTool('login', { properties }, undefined, { ...always, risk: 'low' }),
          createTool('pay', { properties }, undefined, { ...always, risk: 'high' }),
        ],
        prepare: (_tool, asked) => {
          const { isWrong, ...given } = Object(asked);
          return isWrong
            ? { ok: false, code: 'invalid_arguments', reason: `not ${given.pin}`, next: 'x' }
            : { ok: true, arguments: given, notes: [] };
        },
        execute: async ({ arguments: { pin } }) => ({
          ok: false,
          code: 'tool_failed',
          reason: `401: ${pin}`,
          next: 'x',
        }),
      });
      const { id } = await router.createSession({ user: 'ann' });
      const ask = (tool: string, more = {}) => ({ tool, arguments: { pin: PIN, ...more } });
      expect(await router.call(id, ask('login'))).toMatchObject({ reason: '401: hunter-22' });
      expect(await router.call(id, ask('login', { isWrong: true }))).toMatchObject({ reason: 'not hunter-22' });
      await router.requestApproval(id, ask('login', { isWrong: true }));
      await router.requestApproval(id, { ...ask('pay'), reason: `pay with ${PIN}` });
      const entries = await router.audit({ session: id });
      expect(JSON.stringify([entries, await router.approvals.list()])).not.toContain(PIN);
      const reasons = entries.flatMap(({ reason }) => reason ?? []);
      expect(reasons).toEqual([
        expect.stringContaining('pay with [masked]'),
        'not [masked]',
        'not [masked]',
        '401: [masked]',
      ]);
    });
  });

  describe('the figures of telemetry', () => {
    it('tell no more of a tool that is denied than of one that does not exist', async () => {
      const { router, store } = await setUp({ policy: NO_LISTS });
      const { id } = await router.createSession({ user: 'ann' });
      await router.call(id, { tool: 'file_list' });
      await router.call(id, { tool: 'nothing' });
      await router.call(id, READ);
      const { rows, total } = await reportTelemetry(store.journal, { user: 'ann', by: 'tool' });
      expect(rows.map(({ key }) => key)).toEqual(['file_read']);
      expect(total).toMatchObject({ calls: 0, refused: 1 });
    });

    it('do not blame a tool for arguments with which it never ran', async () => {
      const { router, store } = await setUp();
      const { id } = await router.createSession();
      await router.enable(id, { names: ['file_read'] });
      await router.call(id, { tool: 'file_read' });
      await router.call(id, READ);
      const { total } = await reportTelemetry(store.journal);
      expect(total).toMatchObject({ calls: 1, errors: 0, refused: 1 });
    });

    it('count what was enabled in a session that was left, once it is removed', async () => {
      const { router, store, pass, events } = await setUp({ options: { sessionIdleMs: 1_000 } });
      const { id } = await router.createSession({ user: 'ann', project: 'p' });
      await router.enable(id, { names: ['lsp_open', 'code_run'] });
      await router.call(id, { tool: 'lsp_open' });
      pass(1_001);
      await router.sweep();
      expect((await reportTelemetry(store.journal)).total).toMatchObject({ enablements: 2, unused: 0.5 });
      expect(events.at(-1)).toMatchObject({ type: 'expire', session: id, user: 'ann', project: 'p', turn: 1 });
    });
  });
});

/** What an operator sees of a call in a trace: what was decided and what ran, each with its tool, and no argument. */
describe('the spans of a call', () => {
  afterEach(() => trace.disable());

  it('are of the decision and of the run, which is not there where the call is refused', async () => {
    const spans = recordSpans();
    const { run: execute } = createSandbox({ executors: [createFunctionExecutor({ file_read: () => 'text' })] });
    const { router } = await setUp({ execute });
    const { id } = await router.createSession({ user: 'ann' });
    const read = { tool: 'file_read', arguments: { path: 'very-secret' } };
    await router.call(id, read);
    await router.enable(id, { names: ['file_read'] });
    await router.call(id, read);
    const attributes = { 'gen_ai.tool.name': 'file_read' };
    expect(spans).toMatchObject([
      { name: 'winnow.decide', attributes, ended: 1 },
      { name: 'winnow.decide', attributes, ended: 1 },
      { name: 'execute_tool file_read', attributes, ended: 1 },
    ]);
    expect(JSON.stringify(spans)).not.toContain('very-secret');
  });
});

const NONE: ReadonlySet<string> = new Set();

describe('the name that a client sees', () => {
  it('is the own one where it fits', () => {
    expect(clientName('file_read', NONE)).toBe('file_read');
  });

  it('of one tool is never that of another, also where the other has the form of a shown name', () => {
    const shown = clientName('查询水库', NONE);
    expect(shown).toMatch(/^tool_[0-9a-f]{8}$/);
    expect(clientName(shown, NONE)).not.toBe(shown);
  });
});
