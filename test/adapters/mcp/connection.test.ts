/** What a client sees and gets, over the protocol itself. */
import { describe, expect, it } from 'vitest';
import { resolveMcpOptions } from '../../../src/adapters/mcp/mcp-options.js';
import { renderTool } from '../../../src/adapters/mcp/render-tool.js';
import { sessionTools } from '../../../src/adapters/mcp/session-tools.js';
import { toListed } from '../../../src/agents/hand-out.js';
import type { Router } from '../../../src/agents/router.js';
import { readVersion } from '../../../src/core/environment.js';
import { createTool } from '../../support/create-tool.js';
import { connect, createWorld, type TestClient } from './setup.js';

const OWN = ['tool_search', 'tool_enable', 'tool_disable', 'tool_call'];

const wordsOf = (result: Awaited<ReturnType<TestClient['call']>>) =>
  result.content.map((part) => (part.type === 'text' ? part.text : part.type)).join('\n');

describe('a client', () => {
  it('is told who answers, and how to find tools', async () => {
    const { client } = await connect(await createWorld());
    expect(client.getServerVersion()).toEqual({ name: 'winnow', title: 'Winnow', version: readVersion() });
    expect(client.getServerCapabilities()).toEqual({ logging: {}, tools: { listChanged: true } });
    expect(client.getInstructions()).toMatch(/tool_search .* tool_enable .* tool_call\./u);
  });

  it('gets texts as they are, and all else as JSON, an object also as structured content', async () => {
    const { ask, call } = await connect(await createWorld());
    await ask('tool_enable', { names: ['file_list', 'file_read'] });
    expect(await call('file_read', { path: 'a' })).toEqual({
      content: [{ type: 'text', text: '{"text":"hello"}' }],
      structuredContent: { text: 'hello' },
    });
    expect(await call('ask_user')).toEqual({ content: [{ type: 'text', text: 'yes' }] });
    expect(await call('file_list')).toEqual({ content: [{ type: 'text', text: '["a.txt","b.txt"]' }] });
  });

  it('reads the risk of a tool from its hints', async () => {
    const { client, ask } = await connect(await createWorld());
    await ask('tool_enable', { names: ['file_delete', 'file_note', 'file_read'] });
    const { tools } = await client.listTools();
    expect(Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]))).toMatchObject({
      file_read: { readOnlyHint: true },
      file_note: { readOnlyHint: false, destructiveHint: false },
      file_delete: { readOnlyHint: false, destructiveHint: true },
      tool_search: { readOnlyHint: true },
      tool_call: { destructiveHint: true },
    });
  });

  it('may call once what was enabled for one call', async () => {
    const { ask, call, changed } = await connect(await createWorld());
    await ask('tool_enable', { names: ['file_read'], ephemeral: true });
    expect(await call('file_read', { path: 'a' })).not.toHaveProperty('isError');
    await changed(2);
    expect(await ask('file_read', { path: 'a' })).toMatchObject({ ok: false, code: 'not_enabled' });
  });

  it('gets a result although what came after it can not be told', async () => {
    const world = await createWorld();
    const { router } = world.parts;
    const broken = { ...router, fingerprint: () => Promise.reject(new Error('the store is gone')) };
    const { call } = await connect({ parts: { ...world.parts, router: broken } });
    expect(wordsOf(await call('ask_user'))).toBe('yes');
    expect(world.log.text()).toContain('the store is gone');
  });
});

describe('a client that reads the list once only', () => {
  it('gets the schemas with tool_enable and calls by tool_call', async () => {
    const world = await createWorld();
    const { ask, call } = await connect(world);
    const { tools } = await ask('tool_enable', { names: ['file_read'] });
    expect(tools).toEqual([
      {
        name: 'file_read',
        description: 'Reads the content of a file.',
        inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      },
    ]);
    const asked = { tool: 'file_read', arguments: { path: 'a' } };
    expect(await call('tool_call', asked)).toEqual(await call('file_read', { path: 'a' }));
    expect(await ask('tool_call', { tool: 'file_list' })).toMatchObject({ ok: false, code: 'not_enabled' });
    expect(world.runs).toEqual(['file_read a', 'file_read a']);
  });

  it('is not paid for where the operator says that clients follow the list', async () => {
    const { client, ask, names } = await connect(await createWorld({ options: { followsList: true } }));
    expect(await names()).toEqual(['tool_search', 'tool_enable', 'tool_disable', 'ask_user']);
    expect(client.getInstructions()).not.toContain('tool_call');
    expect(await ask('tool_enable', { names: ['file_read'] })).not.toHaveProperty('tools');
    expect(await ask('tool_call', { tool: 'file_read' })).toMatchObject({ code: 'unknown_tool' });
  });
});

describe('a refusal', () => {
  it.each([
    ['a tool that does not exist', 'nothing', {}, 'unknown_tool'],
    ['a name that no tool can have', 'x'.repeat(300), {}, 'invalid_request'],
    ['wrong arguments of a tool', 'file_delete', { path: 1 }, 'invalid_arguments'],
    ['what needs an approval', 'file_delete', { path: 'a' }, 'needs_approval'],
    ["wrong arguments of one of Winnow's own", 'tool_search', { query: '' }, 'invalid_request'],
  ])('of %s is a result with code, reason and what to do next', async (_, name, given, code) => {
    const world = await createWorld();
    const { call, names, ask } = await connect(world);
    await ask('tool_enable', { names: ['file_delete'] });
    // Then the client checks what it gets.
    await names();
    const result = await call(name, given);
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { ok: false, code, reason: expect.any(String), next: expect.any(String) },
    });
    const { reason, next, issues = [], approval } = Object(result.structuredContent);
    const waits = approval === undefined ? [] : [`Approval: ${approval}`];
    const lines = [`${code}: ${reason}`, ...issues.map((issue: string) => `- ${issue}`), ...waits, next];
    expect(wordsOf(result)).toBe(lines.join('\n'));
    expect(world.runs).toEqual([]);
  });

  it('of a call whose approver changed its arguments shows these, and the call with them runs', async () => {
    const world = await createWorld();
    const { call, ask } = await connect(world);
    await ask('tool_enable', { names: ['file_delete'] });
    const { approval } = await ask('file_delete', { path: 'a' });
    const { approvals } = world.agents.router;
    await approvals.grant(approval, { by: { user: 'bob', roles: ['operator'] }, arguments: { path: 'b' } });
    const refused = await call('file_delete', { path: 'a' });
    expect(refused).toMatchObject({ isError: true, structuredContent: { granted: { arguments: { path: 'b' } } } });
    expect(wordsOf(refused)).toContain('changed path.\n');
    expect(wordsOf(refused)).toContain('\nGranted: {"path":"b"}\n');
    await call('file_delete', { path: 'b' });
    expect(world.runs).toEqual(['file_delete b']);
  });

  it('of what is denied reads as one of what does not exist', async () => {
    const { call } = await connect(await createWorld());
    const words = async (name: string) => JSON.stringify(await call(name)).replaceAll(name, '');
    expect(await words('secret_door')).toBe(await words('nothing'));
    expect(await words('diary')).toBe(await words('nothing'));
  });
});

describe('two clients', () => {
  it('do not see what the other has enabled', async () => {
    const world = await createWorld();
    const [one, other] = [await connect(world), await connect(world)];
    await one.ask('tool_enable', { names: ['file_read'] });
    expect(await one.names()).toContain('file_read');
    expect(await other.names()).not.toContain('file_read');
    expect(await other.ask('file_read', { path: 'a' })).toMatchObject({ code: 'not_enabled' });
    expect([one.changes(), other.changes()]).toEqual([1, 0]);
  });

  it('see the private tools of their own user alone, in no list, search or answer', async () => {
    const world = await createWorld();
    for (const [user, own, others] of [
      ['ann', 'mail', 'diary'],
      ['bob', 'diary', 'mail'],
    ] as const) {
      const { ask, names } = await connect(world, { user });
      const found = await ask('tool_search', { query: `${own} ${others}`, top_k: 50 });
      expect(found.matches.map(({ name }: { name: string }) => name)).toContain(own);
      const enabled = await ask('tool_enable', { names: [own, others] });
      expect(enabled.rejected).toMatchObject([{ name: others, code: 'unknown_tool' }]);
      expect(await names()).toEqual([...OWN, 'ask_user', own]);
      expect(JSON.stringify([found.matches, enabled.tools])).not.toContain(others);
    }
  });
});

describe('names', () => {
  it('have the prefix of the operator, in every text that names one', async () => {
    const { client, ask, names } = await connect(await createWorld({ options: { toolPrefix: 'w_' } }));
    expect(await names()).toEqual([...OWN.map((name) => `w_${name}`), 'ask_user']);
    const { tools } = await client.listTools();
    const texts = [client.getInstructions(), ...tools.map(({ description }) => description)].join(' ');
    expect(texts.match(/(?<!w_)tool_\w+/gu)).toBeNull();
    expect((await ask('file_read')).next).toContain('Call w_tool_enable with');
    expect((await ask('w_tool_enable', { names: ['nothing'] })).rejected[0].next).toContain('with w_tool_search');
    expect((await ask('tool_search', { query: 'x' })).next).toContain('with w_tool_search');
    expect((await ask('w_tool_search', { query: 'tool_search' })).query).toBe('tool_search');
  });

  it('are not changed in what a tool takes', async () => {
    const { ask } = await connect(await createWorld({ options: { toolPrefix: 'w_' }, hasRuns: true }));
    const step = { id: 's1', tool: 'file_list', arguments: { next: 'run' }, dependsOn: [] };
    const { steps } = await ask('w_run', { plan: { steps: [step] }, dryRun: true });
    expect(steps).toMatchObject([{ arguments: { next: 'run' } }]);
  });

  it('that clients can not take are shown in another form, and both are called', async () => {
    const world = await createWorld();
    const { client, ask, call } = await connect(world);
    await ask('tool_enable', { names: ['查询水库'] });
    const { tools } = await client.listTools();
    const shown = tools.at(-1);
    expect(shown).toMatchObject({ name: expect.stringMatching(/^tool_[0-9a-f]{8}$/u), title: '查询水库' });
    for (const name of [shown?.name ?? '', '查询水库']) expect(wordsOf(await call(name))).toBe('12.5');
    await ask('tool_disable', { names: ['查询水库'] });
    expect(await ask(shown?.name ?? '')).toMatchObject({ code: 'not_enabled' });
  });

  it("of Winnow's own tools win, and the other tool is still there", async () => {
    const planner = { plan: () => Promise.reject(new Error()), select: () => Promise.reject(new Error()) };
    const { ask, call, client } = await connect(await createWorld({ planner }));
    await ask('tool_enable', { names: ['plan'] });
    const { tools } = await client.listTools();
    const shown = tools.find(({ title }) => title === 'plan')?.name ?? '';
    expect(shown).toMatch(/^plan_[0-9a-f]{8}$/u);
    expect(wordsOf(await call(shown))).toBe('two rooms');
    expect(wordsOf(await call('tool_call', { tool: 'plan' }))).toBe('two rooms');
  });
});

it('shows a schema that clients would refuse in a form that they take', async () => {
  const { ask, client } = await connect(await createWorld());
  await ask('tool_enable', { names: ['odd'] });
  const { tools } = await client.listTools();
  expect(tools.at(-1)).toMatchObject({ name: 'odd', inputSchema: { type: 'object' } });
});

describe('a session', () => {
  it('ends with its connection, with all that is enabled and asked for in it', async () => {
    const world = await createWorld();
    const { ask, client, connection } = await connect(world, { user: 'ann', roles: ['dev'], project: 'site' });
    await ask('tool_enable', { names: ['file_delete'] });
    const { approval } = await ask('file_delete', { path: 'a' });
    const { router } = world.agents;
    expect(await router.sessions()).toMatchObject([{ user: 'ann', roles: ['dev'], project: 'site' }]);
    await client.close();
    await connection.closed;
    expect(await router.sessions()).toMatchObject([{ endedAt: expect.any(String), enabled: [] }]);
    expect(await router.approvals.get(approval)).toMatchObject({ state: 'expired' });
  });

  it('is not opened for a client that only looks who is there', async () => {
    const world = await createWorld();
    const { client, connection } = await connect(world);
    await client.ping();
    await client.close();
    await connection.closed;
    expect(await world.agents.router.sessions()).toEqual([]);
  });

  it('that was idle too long is opened anew, and the client hears that its tools are gone', async () => {
    let now = Date.UTC(2026, 0, 1);
    const world = await createWorld({ clock: () => new Date(now), sessionIdleMs: 1_000 });
    const { ask, names, changed } = await connect(world);
    await ask('tool_enable', { names: ['file_read'] });
    await changed(1);
    now += 2_000;
    await world.agents.router.sweep();
    expect(await ask('file_read', { path: 'a' })).toMatchObject({ code: 'not_enabled' });
    await changed(2);
    expect(await names()).toEqual([...OWN, 'ask_user']);
    expect(await world.agents.router.sessions()).toHaveLength(1);
  });

  it('that the operator has ended stays ended', async () => {
    const world = await createWorld();
    const { ask, names } = await connect(world);
    const { router } = world.agents;
    await ask('tool_search', { query: 'x' });
    const [session] = await router.sessions();
    await router.endSession(session?.id ?? '');
    expect(await ask('ask_user', {}, { 'winnow/turn': 'a' })).toMatchObject({ code: 'session_ended' });
    expect(await ask('ask_user', {}, { 'winnow/turn': 'b' })).toMatchObject({ code: 'session_ended' });
    expect(await names()).toEqual(OWN);
    expect(await router.sessions()).toHaveLength(1);
  });
});

describe('a call that the client cancels', () => {
  it('by leaving is stopped before its session ends', async () => {
    const { parts, waiting, agents } = await createWorld();
    const { client, ask, connection } = await connect({ parts });
    await ask('tool_enable', { names: ['wait'] });
    const asked = client.callTool({ name: 'wait', arguments: {} });
    asked.catch(() => {});
    await waiting.began;
    await client.close();
    await waiting.cancelled;
    await connection.closed;
    const [ended, failed] = await agents.router.audit({ limit: 2 });
    expect([ended?.event, failed?.code]).toEqual(['session_ended', 'cancelled']);
  });
});

it('holds the schemas of its own tools once for all connections', () => {
  const listed = () => sessionTools({} as Router, resolveMcpOptions()).map((one) => one.listed);
  for (const [at, { inputSchema, outputSchema }] of listed().entries()) {
    expect(listed()[at]?.inputSchema).toBe(inputSchema);
    expect(listed()[at]?.outputSchema).toBe(outputSchema);
  }
});

const mcp = { server: 'notes', tool: 'a', target: '' };
const hintsOf = (more: Parameters<typeof createTool>[3]) =>
  renderTool(toListed(createTool('a', {}, undefined, more)), 'a').annotations;

describe('the hints of a tool that a client gets', () => {
  it.each([
    ['none', undefined, {}],
    ['what it reads', { readOnlyHint: true }, { readOnlyHint: true }],
    ['what is not said of the rest', { idempotentHint: true }, { idempotentHint: true }],
  ])('are those of its MCP server as they came, where the operator trusts it: %s', (_, annotations, shown) => {
    const more = annotations ? { annotations } : {};
    expect(hintsOf({ toolType: 'mcp', risk: 'low', metadata: { mcp: { ...mcp, trust: true } }, ...more })).toEqual(
      shown,
    );
  });

  const lowering = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
  const raising = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };
  it.each([
    ['an MCP server that nobody vouches for', { metadata: { mcp } }],
    ['a URL', { origin: 'https://tools.example/tools.json' }],
  ])('are of %s those that warn, and the others are missing', (_, more) => {
    expect(hintsOf({ toolType: 'mcp', risk: 'high', ...more, annotations: lowering })).toEqual({});
    expect(hintsOf({ toolType: 'mcp', risk: 'high', ...more, annotations: raising })).toEqual(raising);
  });

  it('come from the risk where it is of no server', () => {
    expect(hintsOf({ risk: 'medium' })).toEqual({ readOnlyHint: false, destructiveHint: false });
  });
});
