/** What an approval and a recorded call hold for: the tool of a source and a definition, not whatever has its name. */
import { describe, expect, it } from 'vitest';
import { type Catalog, createCatalog } from '../../src/core/catalog/catalog.js';
import type { ToolEntry } from '../../src/core/catalog/tool.js';
import { createTool } from '../support/create-tool.js';
import { setUp } from './setup.js';

const http = { method: 'DELETE', path: '/notes/{id}', server: 'https://a.test', parameters: {} };
const mcp = { server: 'notes', tool: 'remove', target: 'one' };
const NOTE: Partial<ToolEntry> = { risk: 'high', origin: 'notes', metadata: { http } };
const noteOf = (more: Partial<ToolEntry>) => createTool('remove_note', {}, undefined, { ...NOTE, ...more });

const MOVED: [string, Partial<ToolEntry>, Partial<ToolEntry>][] = [
  ['another server of an API', {}, { metadata: { http: { ...http, server: 'https://b.test' } } }],
  ['another path', {}, { metadata: { http: { ...http, path: '/accounts/{id}' } } }],
  ['another method', {}, { metadata: { http: { ...http, method: 'POST' } } }],
  ['another tool of an MCP server', { metadata: { mcp } }, { metadata: { mcp: { ...mcp, tool: 'drop' } } }],
  ['an MCP server of another name', { metadata: { mcp } }, { metadata: { mcp: { ...mcp, server: 'other' } } }],
  ['an MCP server at another place', { metadata: { mcp } }, { metadata: { mcp: { ...mcp, target: 'two' } } }],
  ['another origin', {}, { origin: 'other' }],
  ['another type', { metadata: {} }, { metadata: {}, toolType: 'skill' }],
  ['another definition', {}, { description: 'Removes all.' }],
];

async function world(before: Partial<ToolEntry>, after: Partial<ToolEntry>, policy = {}) {
  const edit = createTool('edit', {}, undefined, { risk: 'low' });
  const catalogOf = (more: Partial<ToolEntry>) => createCatalog([noteOf(more), edit]);
  let catalog: Catalog = catalogOf(before);
  const setup = await setUp({ policy, catalog: () => catalog });
  return { ...setup, move: () => (catalog = catalogOf(after)), back: () => (catalog = catalogOf(before)) };
}

describe('an approval for the session', () => {
  it.each(MOVED)('does not hold for a tool of the same name with %s', async (_, before, after) => {
    const { router, move, back, runs } = await world(before, after);
    const { id } = await router.createSession({ user: 'ann' });
    await router.enable(id, { names: ['remove_note'], ttl_turns: 9 });
    const call = () => router.call(id, { tool: 'remove_note', arguments: { id: 7 } });
    await call();
    const [asked] = await router.approvals.list({ state: 'pending' });
    await router.approvals.grant(asked?.id ?? '', { by: { user: 'bob', roles: ['operator'] }, grant: 'session' });
    expect(await call()).toMatchObject({ ok: true });
    move();
    expect(await call()).toMatchObject({ code: 'needs_approval' });
    expect(await router.call(id, { tool: 'remove_note', arguments: { id: 7 }, approval: asked?.id })).toMatchObject({
      code: 'approval_mismatch',
    });
    expect(runs).toHaveLength(1);
    back();
    expect(await call()).toMatchObject({ ok: true });
  });
});

describe('a recorded call', () => {
  const policy = { preconditions: [{ match: { tool: 'edit' }, requires: ['remove_note called in this session'] }] };

  it.each(MOVED)('meets no precondition about a tool of the same name with %s', async (_, before, after) => {
    const low = { risk: 'low' } as const;
    const { router, move, back } = await world({ ...before, ...low }, { ...after, ...low }, policy);
    const { id } = await router.createSession({ user: 'ann' });
    await router.enable(id, { names: ['remove_note', 'edit'], ttl_turns: 9 });
    const edit = () => router.call(id, { tool: 'edit', arguments: {} });
    expect(await router.call(id, { tool: 'remove_note', arguments: {} })).toMatchObject({ ok: true });
    expect(await edit()).toMatchObject({ ok: true });
    move();
    expect(await edit()).toMatchObject({ code: 'precondition_unmet' });
    back();
    expect(await edit()).toMatchObject({ ok: true });
  });
});
