import { describe, expect, it } from 'vitest';
import { createPrivateTools, MAX_PRIVATE_TOOLS } from '../../src/agents/private-tools.js';
import { openStore } from '../../src/agents/store/open-store.js';
import { type Catalog, createCatalog } from '../../src/core/catalog/catalog.js';
import { createScope } from '../../src/core/catalog/scope.js';
import type { EntryIssue } from '../../src/core/catalog/tool.js';
import { createTool } from '../support/create-tool.js';
import { watchWork } from '../support/watch-work.js';

const namesFor = (catalog: Catalog, user: string) => createScope(catalog)({ user }).tools.map(({ name }) => name);
const skill = (name: string, description = 'Writes.') => ({ name, toolType: 'skill', description });

/** Each of its 26 definitions refers to the next one twice. */
const DOUBLING = {
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    Array.from({ length: 26 }, (_, level) => {
      const next = { $ref: `#/$defs/d${level + 1}` };
      return [`d${level}`, { anyOf: [next, next] }];
    }),
  ),
};

describe('private tools', () => {
  const together = async (base = createCatalog([createTool('read')])) => {
    const { privateTools: store } = await openStore();
    const issues: EntryIssue[] = [];
    const make = () => createPrivateTools({ base: () => base, store, onIssue: (issue) => issues.push(issue) });
    return { store, issues, tools: make(), other: make() };
  };

  it("are their user's alone, whatever the entry says", async () => {
    const { tools, issues } = await together();
    await tools.add('ann', { name: 'mail', toolType: 'skill', scope: 'system', origin: 'official', alwaysLoad: true });
    const catalog = tools.catalog();
    expect(issues).toEqual([]);
    expect(namesFor(catalog, 'ann')).toEqual(['read', 'my__mail']);
    expect(namesFor(catalog, 'bob')).toEqual(['read']);
    expect(catalog.tools[1]).toMatchObject({ origin: 'user:ann', alwaysLoad: false, scope: { user: 'ann' } });
  });

  const stolen = {
    name: 'wipe',
    toolType: 'builtin',
    scope: 'system',
    origin: 'tools.json',
    server: 'files',
    risk: 'low',
    alwaysLoad: true,
  };
  const asFunction = (inner: object, more: object = {}) => ({ ...more, type: 'function', function: inner });
  it.each([
    ['of a function', asFunction(stolen)],
    ['of a function with a name beside it', asFunction(stolen, { name: 'x', scope: { user: 'ann' } })],
    ['of a function for another user', asFunction({ ...stolen, scope: { user: 'bob' } }, { name: 'x' })],
    ['of a function in a function', asFunction({ ...stolen, ...asFunction(stolen) }, { name: 'x' })],
    ['of a function with parameters', asFunction({ ...stolen, parameters: {} })],
    ['without its wrapping', { ...stolen, input_schema: { type: 'object' } }],
  ])("are their user's alone in the form %s, also where they are kept already", async (_, entry) => {
    const { tools, store, issues } = await together();
    await tools.add('ann', entry);
    await store.put({ owner: 'cid', name: 'before', content: entry, updatedAt: '' });
    await tools.refresh();
    const own = (user: string) => ({ scope: { user }, origin: `user:${user}`, alwaysLoad: false });
    expect(tools.catalog().tools).toMatchObject([{ name: 'read' }, own('ann'), own('cid')]);
    expect(namesFor(tools.catalog(), 'ann')).toEqual(['read', expect.stringMatching(/^my__/u)]);
    for (const user of ['bob', '']) expect(namesFor(tools.catalog(), user)).toEqual(['read']);
    expect(issues).toEqual([]);
  });

  it.each([
    ['without a name', { toolType: 'skill' }, 'name'],
    ['of an unknown type', { name: 'a', toolType: 'magic' }, 'magic'],
    ['that are no object', null, 'name'],
    ['with a schema that is none', { name: 'a', toolType: 'skill', inputSchema: { type: 7 } }, 'inputSchema'],
    [
      'with a schema that unfolds without measure',
      { name: 'a', toolType: 'skill', inputSchema: DOUBLING },
      '2000 nodes',
    ],
  ])('%s are refused', async (_, entry, word) => {
    const { tools, store } = await together();
    await expect(tools.add('ann', entry)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(word),
    });
    expect(await store.list()).toEqual([]);
  });

  it('have a limit of bytes for each user, in which one of the same name takes the place of the old', async () => {
    const { store } = await together();
    const tools = createPrivateTools({ base: () => createCatalog([]), store, maxBytes: 300 });
    await tools.add('ann', skill('mail', 'x'.repeat(150)));
    await expect(tools.add('ann', skill('more', 'x'.repeat(150)))).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('300 are kept at most'),
    });
    await tools.add('ann', skill('mail', 'y'.repeat(150)));
    await tools.add('bob', skill('more', 'x'.repeat(150)));
    expect((await store.list()).map(({ name }) => name)).toEqual(['mail', 'more']);
  });

  it('with a slip in a key are kept, and the slip is told', async () => {
    const { tools } = await together();
    const entry = { name: 'mail', toolType: 'skill', descripton: 'Writes.', colour: 'red' };
    const { tool, notes } = await tools.add('ann', entry);
    expect(tool).toMatchObject({ name: 'my__mail', metadata: { descripton: 'Writes.', colour: 'red' } });
    expect(notes).toEqual(['descripton: an unknown key, without effect; "description" may be meant']);
    expect((await tools.add('ann', skill('mail'))).notes).toEqual([]);
  });

  it('that are no longer readable are reported and left out', async () => {
    const { tools, store, issues } = await together(createCatalog([]));
    await store.put({ owner: 'ann', name: 'old', content: { nothing: true }, updatedAt: '' });
    await tools.refresh();
    expect(tools.catalog().tools).toEqual([]);
    expect(issues).toMatchObject([{ entry: 'user:ann[0]' }]);
  });

  it('are there as soon as they are added, and gone when they are removed', async () => {
    const { tools } = await together();
    const { tool } = await tools.add('ann', skill('letter'));
    expect(tool).toMatchObject({ name: 'my__letter', scope: { user: 'ann' } });
    expect(namesFor(tools.catalog(), 'ann')).toEqual(['read', 'my__letter']);
    await tools.add('ann', skill('letter', 'Writes letters.'));
    expect(tools.list('ann')).toMatchObject([{ name: 'my__letter', description: 'Writes letters.' }]);
    expect(tools.list('bob')).toEqual([]);
    await tools.remove('ann', 'letter');
    expect(namesFor(tools.catalog(), 'ann')).toEqual(['read']);
  });

  it('reach another process when it reads the store anew', async () => {
    const { tools, other } = await together();
    await tools.add('ann', skill('letter'));
    expect(other.list('ann')).toEqual([]);
    await other.refresh();
    expect(other.list('ann')).toMatchObject([{ name: 'my__letter' }]);
    const before = other.catalog();
    await other.refresh();
    expect(other.catalog()).toBe(before);
  });

  it('leave unchanged ones the same objects, so that nothing of them is indexed anew', async () => {
    const { tools, store } = await together();
    const { tool: letter } = await tools.add('ann', skill('letter'));
    const before = tools.list('ann')[0];
    await tools.add('bob', skill('poem'));
    expect(tools.list('ann')[0]).toBe(before);
    expect(before).toEqual(letter);
    const catalog = tools.catalog();
    await store.put({ owner: 'bob', name: 'poem', content: skill('poem'), updatedAt: '2026-01-01T00:00:00.000Z' });
    await tools.refresh();
    expect(tools.catalog()).toBe(catalog);
  });

  it('are parsed once: neither a look at the store nor a further tool reads what has not changed', async () => {
    const { tools, other } = await together();
    for (const name of ['a', 'b', 'c'])
      await tools.add('ann', { ...skill(name), metadata: { text: 'x'.repeat(100_000) } });
    await other.refresh();
    const { parsed } = await watchWork(async () => {
      await other.refresh();
      await tools.add('bob', skill('poem'));
      await tools.add('ann', skill('letter'));
      await other.refresh();
    });
    expect(namesFor(other.catalog(), 'ann')).toEqual(['read', 'my__a', 'my__b', 'my__c', 'my__letter']);
    expect(parsed).toBeLessThan(10_000);
  });

  it("can't be removed by another, who learns nothing of them", async () => {
    const { tools } = await together();
    await tools.add('ann', skill('letter'));
    const none = await tools.remove('bob', 'nothing').catch(String);
    const other = await tools.remove('bob', 'letter').catch(String);
    expect(other).toBe(String(none).replace('nothing', 'letter'));
    expect(tools.list('ann')).toHaveLength(1);
  });

  it('have a name that is their own, whatever the system and the catalogue hold, and what is added twice is one', async () => {
    const own = createTool('diary', {}, undefined, { scope: { user: 'ann' } });
    const { tools, store, issues } = await together(createCatalog([createTool('read'), createTool('my__odd'), own]));
    await tools.add('ann', skill('read'));
    await tools.add('ann', skill('diary'));
    await tools.add('bob', skill('diary'));
    expect(namesFor(tools.catalog(), 'ann')).toEqual(['read', 'my__odd', 'diary', 'my__diary', 'my__read']);
    await tools.add('ann', skill('my__read', 'Anew.'));
    expect(tools.list('ann')).toMatchObject([{ name: 'diary' }, {}, { name: 'my__read', description: 'Anew.' }]);
    await tools.remove('ann', 'my__read');
    await tools.remove('ann', 'diary');
    expect(namesFor(tools.catalog(), 'ann')).toEqual(['read', 'my__odd', 'diary']);
    await expect(tools.remove('ann', 'diary')).rejects.toMatchObject({ code: 'not_found' });
    expect(issues).toEqual([]);
    // Only a program that makes its own catalogue has a system tool of such a name.
    await store.put({ owner: 'ann', name: 'odd', content: skill('odd'), updatedAt: '' });
    await tools.refresh();
    expect(namesFor(tools.catalog(), 'ann')).toEqual(['read', 'my__odd', 'diary']);
    expect(issues).toMatchObject([{ name: 'my__odd', message: expect.stringContaining('left out') }]);
  });

  it('keep what was added before their names had a prefix', async () => {
    const { tools, store } = await together();
    for (const name of ['read', 'my__read', 'mail'])
      await store.put({ owner: 'ann', name, content: skill(name), updatedAt: '' });
    await tools.refresh();
    expect(namesFor(tools.catalog(), 'ann')).toEqual(['read', 'my__mail', 'my__read']);
  });

  const http = { method: 'GET', path: '/', server: 'https://b.test', parameters: {} };
  it.each([
    ['metadata.http', { metadata: { http } }],
    ['metadata.mcp', { metadata: { mcp: { server: 'notes', tool: 'x' } } }],
    ['metadata.http', { http }],
    ['metadata.http', { type: 'function', function: { http } }],
    ['metadata.mcp', { type: 'function', function: { metadata: { mcp: { server: 'notes', tool: 'x' } } } }],
  ])('with what would call a server are refused, and left out where they are kept: %s', async (field, more) => {
    const { tools, store, issues } = await together();
    const entry = { ...skill('proxy'), ...more };
    await expect(tools.add('ann', entry)).rejects.toMatchObject({ issues: [expect.stringContaining(field)] });
    expect(await store.list()).toEqual([]);
    await store.put({ owner: 'ann', name: 'proxy', content: entry, updatedAt: '' });
    await tools.refresh();
    expect(namesFor(tools.catalog(), 'ann')).toEqual(['read']);
    expect(issues).toMatchObject([{ name: 'my__proxy', message: expect.stringContaining(field) }]);
  });

  it('are bounded in number for each user, also where many are added at once', async () => {
    const { tools, store } = await together();
    for (let place = 3; place < MAX_PRIVATE_TOOLS; place++)
      await store.put({ owner: 'ann', name: `t${place}`, content: skill(`t${place}`), updatedAt: '' });
    const added = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((name) => tools.add('ann', skill(name))));
    expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    await expect(tools.add('ann', skill('more'))).rejects.toThrow('remove one first');
    await tools.add('ann', skill('t3', 'Changed.'));
    await tools.add('bob', skill('more'));
    expect(tools.list('ann')).toHaveLength(MAX_PRIVATE_TOOLS);
  });

  it('have their limit of bytes also where many are added at once', async () => {
    const { store } = await together();
    const tools = createPrivateTools({ base: () => createCatalog([]), store, maxBytes: 500 });
    const add = (name: string) => tools.add('ann', skill(name, 'x'.repeat(150)));
    const added = await Promise.allSettled(['a', 'b', 'c', 'd'].map(add));
    expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(await store.list()).toHaveLength(2);
  });
});
