/** What holds for the clients of both eras, over pipes and over HTTP. */
import { describe, expect, it } from 'vitest';
import { HOW, MODERN, openBy } from './setup.js';

const ALWAYS = ['tool_search', 'tool_enable', 'tool_disable', 'tool_call', 'ask_user'];
const inTurn = (turn: string | number) => ({ 'winnow/turn': turn });

describe.each(HOW)('a client with %s', (how) => {
  const isModern = how.startsWith(MODERN);

  it('finds, enables, calls and gives up a tool, in the name of its user', async () => {
    const { own, use, names, runs, agents } = await openBy(how);
    expect(await names()).toEqual(ALWAYS);
    expect((await own('tool_search', { query: 'mail' })).matches[0]).toMatchObject({ name: 'mail', enabled: false });
    const enabled = await own('tool_enable', { names: ['file_read', 'nothing'] });
    expect(enabled).toMatchObject({
      enabled: [{ name: 'file_read', expires_after_turns: 3 }],
      rejected: [{ name: 'nothing', code: 'unknown_tool' }],
      tools: [
        {
          name: 'file_read',
          description: 'Reads the content of a file.',
          inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
        },
      ],
    });
    // The list of one that has a handle stays the same.
    expect(await names()).toEqual(isModern ? ALWAYS : [...ALWAYS, 'file_read']);
    expect(await use('file_read', { path: 'a' })).toEqual({ text: 'hello' });
    expect(await own('tool_disable', { names: ['file_read'] })).toMatchObject({ disabled: ['file_read'] });
    expect(await use('file_read', { path: 'a' })).toMatchObject({ code: 'not_enabled' });
    expect(await names()).toEqual(ALWAYS);
    expect(runs).toEqual(['file_read a']);
    const sessions = await agents.router.sessions();
    expect(sessions).toMatchObject([{ user: 'ann', ...(isModern ? { id: enabled.session } : {}) }]);
    expect(sessions[0]).not.toHaveProperty('endedAt');
  });

  it('waits for the approval of somebody else, and then the same call runs once', async () => {
    const { own, use, agents, runs } = await openBy(how);
    await own('tool_enable', { names: ['file_delete'] });
    const { approval } = await use('file_delete', { path: 'a' });
    const { approvals } = agents.router;
    expect(await approvals.grant(approval, { by: { user: 'ann' } })).toMatchObject({ code: 'approval_own' });
    await approvals.grant(approval, { by: { user: 'bob', roles: ['operator'] } });
    expect(await use('file_delete', { path: 'b' })).toMatchObject({ code: 'needs_approval' });
    expect(await use('file_delete', { path: 'a' })).toEqual({ gone: true });
    expect(await use('file_delete', { path: 'a' })).toMatchObject({ code: 'needs_approval' });
    expect(runs).toEqual(['file_delete a']);
  });

  it('that names its turns begins one with each new name, however many calls it makes at once', async () => {
    const { own, use, agents } = await openBy(how);
    const read = (turn: string | number) => use('file_read', { path: 'a' }, inTurn(turn));
    const turn = async () => (await agents.router.sessions())[0]?.turn;
    await own('tool_enable', { names: ['file_read'], ttl_turns: 2 }, inTurn('first'));
    await read('first');
    expect(await turn()).toBe(1);
    expect(await Promise.all(['second', 'second', 'second'].map(read))).toEqual(Array(3).fill({ text: 'hello' }));
    expect(await turn()).toBe(2);
    expect(await Promise.all(['third', 'third'].map(read))).toMatchObject(Array(2).fill({ code: 'not_enabled' }));
    expect(await turn()).toBe(3);
  });

  it('may cancel a call, which is stopped where it runs', async () => {
    const { own, use, waiting } = await openBy(how);
    await own('tool_enable', { names: ['wait'] });
    const cancel = new AbortController();
    const asked = use('wait', {}, undefined, { signal: cancel.signal });
    await waiting.began;
    cancel.abort('enough');
    await expect(asked).rejects.toThrow('enough');
    await waiting.cancelled;
  });
});

it.each(HOW.filter((how) => how.endsWith('HTTP')))('%s end at once where the server has no time left', async (how) => {
  const world = await openBy(how);
  await world.own('tool_enable', { names: ['wait'] });
  world.use('wait').catch(() => {});
  await world.waiting.began;
  if ('mcp' in world) await world.mcp.close(AbortSignal.abort());
  await world.waiting.cancelled;
  await expect(world.names()).rejects.toThrow();
});
