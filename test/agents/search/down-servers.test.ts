/** MCP servers that can't be read or called: who is told of them, where, and what. */
import { resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Agents, createAgents } from '../../../src/agents/agents.js';
import { createPolicy } from '../../../src/agents/policy/policy.js';
import { fixedPolicy } from '../../../src/agents/policy/policy-file.js';
import { createMcpExecutor } from '../../../src/agents/sandbox/executors/mcp.js';
import { openStore } from '../../../src/agents/store/open-store.js';
import { type LoadedCatalog, loadCatalog } from '../../../src/core/catalog/load.js';
import type { McpServer } from '../../../src/core/catalog/sources/mcp-server.js';

const SCRIPT = resolve('fixtures/sources/mcp-server.mjs');
const NOTES: McpServer = { command: process.execPath, args: [SCRIPT, 'notes'] };
/** It says a secret to operators before it ends. */
const BROKEN: McpServer = { command: process.execPath, args: ['-e', 'console.error("hunter2"); process.exit(3)'] };

const OLGA = { user: 'olga', roles: ['operator'] };

const opened: Agents[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

async function load(servers: Record<string, McpServer>, previous?: LoadedCatalog): Promise<LoadedCatalog> {
  return loadCatalog({ sources: [{ kind: 'mcp', servers }], timeoutMs: 20_000, previous, keepFailed: true });
}

async function open(loaded: LoadedCatalog, servers: Record<string, McpServer>) {
  const rules = [
    { name: 'no hub', match: { user: 'bob', tool: 'hub__*' }, decision: 'deny' as const },
    { name: 'no notes', match: { user: 'bob', origin: 'notes' }, decision: 'deny' as const },
  ];
  const agents = createAgents({
    store: await openStore(),
    catalog: () => loaded.catalog,
    failures: () => loaded.failures,
    policy: fixedPolicy(createPolicy({ rules })),
    executors: [createMcpExecutor(servers, { now: () => 0 })],
  });
  opened.push(agents);
  await agents.index.settled();
  const { router } = agents;
  const sessions = {
    ann: await router.createSession({ user: 'ann' }),
    bob: await router.createSession({ user: 'bob' }),
  };
  const search = (user: 'ann' | 'bob') => router.search(sessions[user].id, { query: 'search notes' });
  return { router, ann: sessions.ann.id, search };
}

describe('a search', () => {
  it('tells of a server that could not be read, only those who could find its tools', async () => {
    const servers = { hub: BROKEN, notes: NOTES };
    const { search } = await open(await load(servers), servers);
    const { down, matches } = await search('ann');
    expect(matches.map(({ name }) => name)).toContain('notes__search');
    expect(down).toEqual([{ server: 'hub', reason: 'ended before it answered' }]);
    expect(JSON.stringify(down)).not.toContain('hunter2');
    expect(await search('bob')).not.toHaveProperty('down');
  });

  it('finds what a server offered that now fails, says so, and no longer once it was called with success', async () => {
    const loaded = await load({ notes: BROKEN }, await load({ notes: NOTES }));
    // It has recovered since.
    const { search, router, ann } = await open(loaded, { notes: NOTES });
    expect(await search('ann')).toMatchObject({
      matches: expect.arrayContaining([expect.objectContaining({ name: 'notes__search' })]),
      down: [{ server: 'notes' }],
    });
    expect(await search('bob')).toMatchObject({ matches: [] });
    expect(await search('bob')).not.toHaveProperty('down');
    await router.enable(ann, { names: ['notes__search'] });
    await approveAndCall(router, ann);
    expect(await search('ann')).not.toHaveProperty('down');
  });

  async function approveAndCall(router: Agents['router'], session: string): Promise<void> {
    const call = { tool: 'notes__search', arguments: { query: 'x' } };
    const asked = await router.call(session, call);
    const id = asked.ok ? '' : (asked.approval ?? '');
    await router.approvals.grant(id, { by: OLGA, reason: 'fine' });
    // The server of the fixture lists tools and knows no calls: that it says so is an answer.
    expect(await router.call(session, call)).toMatchObject({ code: 'tool_failed' });
  }
});

describe('a call', () => {
  it('of a server that fails again and again is refused before somebody is asked to approve it', async () => {
    const loaded = await load({ notes: NOTES });
    const [tool] = loaded.catalog.tools;
    // Another program behind the same configuration; what is called is where the tool was read.
    const { target, ...mcp } = Object(tool?.metadata.mcp);
    expect(target).toBeDefined();
    const tools = loaded.catalog.tools.map((one) => ({ ...one, risk: 'high' as const, metadata: { mcp } }));
    const catalog = { ...loaded.catalog, tools };
    const { router, ann, search } = await open({ ...loaded, catalog }, { notes: BROKEN });
    await router.enable(ann, { names: ['notes__search'] });
    for (const query of ['a', 'b', 'c', 'd']) {
      const call = { tool: 'notes__search', arguments: { query } };
      const asked = await router.call(ann, call);
      expect(asked).toMatchObject({ code: 'needs_approval' });
      await router.approvals.grant(asked.ok ? '' : (asked.approval ?? ''), { by: OLGA, reason: 'fine' });
      expect(await router.call(ann, call)).toMatchObject({ code: 'tool_unavailable' });
    }
    expect(await search('ann')).toMatchObject({
      down: [{ server: 'notes', reason: 'ended before it answered' }],
    });
    const refused = await router.call(ann, { tool: 'notes__search', arguments: { query: 'e' } });
    expect(refused).toMatchObject({
      code: 'unavailable',
      reason: expect.stringMatching(/^The MCP server "notes" is down: it ended before it answered.*again in 1 s\.$/su),
      next: 'Use another tool, or try again later.',
    });
    expect(JSON.stringify(refused)).not.toContain('hunter2');
  });
});
