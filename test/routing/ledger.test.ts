/** What is written down of a session: the audit for operators whole, figures for users without what they must not learn. */
import { describe, expect, it } from '@jest/globals';
import { reportTelemetry } from '../../src/routing/telemetry/report.js';
import { setUp } from './setup.js';

const READ = { tool: 'file_read', arguments: { path: 'a' } };
const NO_LISTS = { rules: [{ name: 'no lists', match: { tool: 'file_list' }, decision: 'deny' as const }] };

describe('the audit of a session', () => {
  it('has all that was asked and decided in it, in its order', async () => {
    const { router } = setUp();
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
});

describe('the figures of telemetry', () => {
  it('tell no more of a tool that is denied than of one that does not exist', async () => {
    const { router, store } = setUp({ policy: NO_LISTS });
    const { id } = await router.createSession({ user: 'ann' });
    await router.call(id, { tool: 'file_list' });
    await router.call(id, { tool: 'nothing' });
    await router.call(id, READ);
    const { rows, total } = await reportTelemetry(store.journal, { user: 'ann', by: 'tool' });
    expect(rows.map(({ key }) => key)).toEqual(['file_read']);
    expect(total).toMatchObject({ calls: 0, refused: 1 });
  });

  it('do not blame a tool for arguments with which it never ran', async () => {
    const { router, store } = setUp();
    const { id } = await router.createSession();
    await router.enable(id, { names: ['file_read'] });
    await router.call(id, { tool: 'file_read' });
    await router.call(id, READ);
    const { total } = await reportTelemetry(store.journal);
    expect(total).toMatchObject({ calls: 1, errors: 0, refused: 1 });
  });

  it('count what was enabled in a session that was left, once it is removed', async () => {
    const { router, store, pass, events } = setUp({ options: { sessionIdleMs: 1_000 } });
    const { id } = await router.createSession({ user: 'ann', project: 'p' });
    await router.enable(id, { names: ['lsp_open', 'code_run'] });
    await router.call(id, { tool: 'lsp_open' });
    pass(1_001);
    await router.sweep();
    expect((await reportTelemetry(store.journal)).total).toMatchObject({ enablements: 2, unused: 0.5 });
    expect(events.at(-1)).toMatchObject({ type: 'expire', session: id, user: 'ann', project: 'p', turn: 1 });
  });
});
