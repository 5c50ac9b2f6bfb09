/** The index over HTTP: reading the catalogue anew while answers go on, and snapshots on their way to another process. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { CatalogReload } from '../../../../src/agents/live-catalog.js';
import { openStore } from '../../../../src/agents/store/open-store.js';
import { createCatalog } from '../../../../src/core/catalog/catalog.js';
import { SEARCH_FIELDS } from '../../../../src/core/search/keyword-index.js';
import { createTool } from '../../../support/create-tool.js';
import { startAgentServer, TOOLS } from './setup.js';

const OPERATOR = { user: 'olga', roles: 'operator' };
const UNCHANGED: CatalogReload = { tools: 4, added: 0, changed: 0, removed: 0, kept: [], failed: [], warnings: [] };

describe('POST /v1/index/rebuild', () => {
  it('reads the sources, and answers with what became of them when the index of them has settled', async () => {
    let catalog = createCatalog(TOOLS);
    const zebra = createTool('zebra_feed', {}, undefined, { risk: 'low', description: 'Feeds zebras.' });
    const { ask } = await startAgentServer({
      more: {
        catalog: () => catalog,
        async reload() {
          catalog = createCatalog([...TOOLS, zebra]);
          return { ...UNCHANGED, tools: 5, added: 1, kept: [{ source: 'b.json', reason: 'It is broken.' }] };
        },
      },
    });
    const { body: session } = await ask('POST /v1/sessions');
    const search = async () => (await ask(`POST /v1/sessions/${session.id}/search`, { query: 'zebras' })).body.matches;
    expect(await search()).toEqual([]);
    expect((await ask('POST /v1/index/rebuild', undefined, OPERATOR)).body).toMatchObject({
      state: 'ready',
      tools: 5,
      catalog: { added: 1, kept: [{ source: 'b.json', reason: 'It is broken.' }] },
    });
    expect(await search()).toMatchObject([{ name: 'zebra_feed' }]);
  });

  it('says nothing of sources where they are fixed', async () => {
    const { ask } = await startAgentServer();
    const { body } = await ask('POST /v1/index/rebuild');
    expect(body).toMatchObject({ state: 'ready', tools: 4 });
    expect(body.catalog).toBeUndefined();
  });
});

it('follows the tools of now also where the store can not be read, and says so', async () => {
  let catalog = createCatalog(TOOLS);
  const store = await openStore();
  const list = () => Promise.reject(new Error('the disk is gone'));
  const { agents } = await startAgentServer({
    more: { store: { ...store, rules: { ...store.rules, list } }, catalog: () => catalog },
  });
  catalog = createCatalog(TOOLS.slice(1));
  await expect(agents.refresh()).rejects.toThrow('the disk is gone');
  expect(await agents.index.settled()).toMatchObject({ tools: 3 });
});

describe('the weights of a running index', () => {
  const place = (folder: string) => ({ file: join(folder, 'agents.db') });
  const BY_DESCRIPTION = { weights: { name: 0, description: 1 } };

  it('are given with a rebuild: another fingerprint, another ranking, and told by the status', async () => {
    const { ask } = await startAgentServer();
    const { body: before } = await ask('GET /v1/index', undefined, OPERATOR);
    const { body: rebuilt } = await ask('POST /v1/index/rebuild', { weights: { parameters: 0.5 } }, OPERATOR);
    expect(rebuilt).toMatchObject({ state: 'ready', weights: { ...before.weights, parameters: 0.5 } });
    expect(rebuilt.fingerprint).not.toBe(before.fingerprint);
    const { body: session } = await ask('POST /v1/sessions');
    const search = async () => {
      const { body } = await ask(`POST /v1/sessions/${session.id}/search`, { query: 'path' });
      return body.matches.map(({ name }: { name: string }) => name);
    };
    expect(await search()).toEqual(['file_read', 'file_delete']);
    expect((await ask('POST /v1/index/rebuild', {}, OPERATOR)).body.fingerprint).toBe(rebuilt.fingerprint);
    expect((await ask('POST /v1/index/rebuild', { weights: null }, OPERATOR)).body).toMatchObject({
      fingerprint: before.fingerprint,
      weights: before.weights,
    });
    expect(await search()).toEqual([]);
    const { body: trail } = await ask('GET /v1/audit?event=index_weighed', undefined, OPERATOR);
    expect(trail.entries).toMatchObject([
      { user: 'olga', reason: 'Those of the configuration again.' },
      { user: 'olga' },
    ]);
  });

  it('change while searches are answered', async () => {
    const many = Array.from({ length: 2_000 }, (_, number) =>
      createTool(`tool_${number}`, {}, undefined, { description: 'Counts sheep.' }),
    );
    const catalog = createCatalog([...TOOLS, ...many]);
    const { ask } = await startAgentServer({ more: { catalog: () => catalog } });
    const { body: session } = await ask('POST /v1/sessions');
    let isOver = false;
    const rebuild = ask('POST /v1/index/rebuild', BY_DESCRIPTION, OPERATOR).finally(() => {
      isOver = true;
    });
    const seen = new Set<string>();
    while (!isOver) {
      const { body } = await ask(`POST /v1/sessions/${session.id}/search`, { query: 'delete a file' });
      expect(body.matches[0]).toMatchObject({ name: 'file_delete' });
      seen.add(body.index);
    }
    expect((await rebuild).body.state).toBe('ready');
    expect(seen).toContain('building');
  });

  it('that are not usable in the store are told once, and the tools of now are followed', async () => {
    let catalog = createCatalog(TOOLS);
    const store = await openStore();
    const told: string[] = [];
    const { agents } = await startAgentServer({
      more: { store, catalog: () => catalog, onUnusableWeights: ({ message }) => void told.push(message) },
    });
    const off = Object.fromEntries(SEARCH_FIELDS.map((field) => [field, 0]));
    await store.snapshots.put({ owner: 'index', name: 'weights', content: { ...off, author: 3 }, updatedAt: '' });
    catalog = createCatalog(TOOLS.slice(1));
    await agents.refresh();
    await agents.refresh();
    expect(await agents.index.settled()).toMatchObject({ tools: 3, weights: { description: 0.4 } });
    expect(told).toEqual([expect.stringContaining('weights in the store')]);
  });

  it('outlast the server, and reach the other one on the same store', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'winnow-weights-'));
    const [first, second] = [
      await startAgentServer({ place: place(folder) }),
      await startAgentServer({ place: place(folder) }),
    ];
    const { body } = await first.ask('POST /v1/index/rebuild', BY_DESCRIPTION, OPERATOR);
    await second.agents.refresh();
    expect(await second.agents.index.settled()).toMatchObject({ fingerprint: body.fingerprint, weights: body.weights });
    const third = await startAgentServer({ place: place(folder), more: { index: { weights: { title: 3 } } } });
    await third.agents.refresh();
    expect(third.agents.index.status().weights).toEqual(body.weights);
    for (const { app } of [first, second, third]) await app.close();
    await rm(folder, { recursive: true });
  });

  it.each([
    [{ weights: { nme: 1 } }, 'nme'],
    [{ weights: { name: -1 } }, 'weights.name'],
    [{ weights: { name: 'much' } }, 'weights.name'],
    [{ weights: 3 }, 'weights'],
    [{ weihgts: {} }, 'weihgts'],
    [{ weights: { name: 0, aliases: 0, keywords: 0, title: 0, category: 0, description: 0, examples: 0 } }, 'above 0'],
  ])('are refused where they are none, and change nothing: %j', async (input, word) => {
    const { ask } = await startAgentServer();
    const { body: before } = await ask('GET /v1/index', undefined, OPERATOR);
    const { status, body } = await ask('POST /v1/index/rebuild', input, OPERATOR);
    expect([status, body.issues?.join()]).toEqual([400, expect.stringContaining(word)]);
    expect((await ask('GET /v1/index', undefined, OPERATOR)).body).toEqual({ ...before, requestId: undefined });
  });

  it('are for operators', async () => {
    const { ask, agents } = await startAgentServer();
    expect((await ask('POST /v1/index/rebuild', BY_DESCRIPTION, { user: 'ann' })).status).toBe(404);
    expect(agents.index.status().weights.description).toBe(0.4);
  });
});

describe('snapshots of the index', () => {
  it('go whole from one server to another, which answers by it', async () => {
    const first = await startAgentServer();
    const { body: snapshot } = await first.ask('GET /v1/index/snapshot?level=full', undefined, OPERATOR);
    expect(snapshot).toMatchObject({ level: 'full', tools: 4 });
    const { ask, agents } = await startAgentServer({ more: { index: { rebuildsItself: false } } });
    expect(agents.index.status().state).toBe('stale');
    const imported = await ask('POST /v1/index/snapshot', snapshot, OPERATOR);
    expect([imported.status, imported.body]).toMatchObject([
      200,
      { snapshot: 'taken', state: 'ready', fingerprint: snapshot.fingerprint },
    ]);
    const { body: session } = await ask('POST /v1/sessions');
    const found = await ask(`POST /v1/sessions/${session.id}/search`, { query: 'delete a file' });
    expect(found.body.matches[0]).toMatchObject({ name: 'file_delete' });
  });

  it('of other tools are stale, and leave the index as it is', async () => {
    const other = createCatalog(TOOLS.slice(1));
    const first = await startAgentServer({ more: { catalog: () => other } });
    const { body: snapshot } = await first.ask('GET /v1/index/snapshot?level=full');
    const { ask } = await startAgentServer({ more: { index: { rebuildsItself: false } } });
    expect((await ask('POST /v1/index/snapshot', snapshot)).body).toMatchObject({ snapshot: 'stale', state: 'stale' });
  });

  it('say as much as is asked for, and become meta over the cap', async () => {
    const { ask } = await startAgentServer();
    const levelOf = async (query: string) => (await ask(`GET /v1/index/snapshot${query}`)).body;
    expect(await levelOf('')).toMatchObject({ level: 'meta', tools: 4 });
    expect(await levelOf('?level=none')).toEqual({ level: 'none' });
    expect(await levelOf('?level=full&max_bytes=10')).toMatchObject({ level: 'meta', note: expect.any(String) });
    expect((await ask('GET /v1/index/snapshot?level=most')).body.issues).toEqual([expect.stringContaining('level')]);
    expect((await ask('POST /v1/index/snapshot', await levelOf(''))).body).toMatchObject({ snapshot: 'empty' });
  });

  it('that are broken are refused, and those that are larger than other bodies are not', async () => {
    const { ask } = await startAgentServer({ options: { bodyLimitBytes: 500 } });
    const { body: snapshot } = await ask('GET /v1/index/snapshot?level=full');
    expect(JSON.stringify(snapshot).length).toBeGreaterThan(500);
    expect((await ask('POST /v1/index/snapshot', snapshot)).status).toBe(200);
    const { status, body } = await ask('POST /v1/index/snapshot', { ...snapshot, checksum: 'x' });
    expect([status, body.detail]).toEqual([400, expect.stringContaining('checksum')]);
    expect((await ask('POST /v1/sessions', { user: 'x'.repeat(600) })).status).toBe(413);
  });

  it('are for operators', async () => {
    const { ask } = await startAgentServer();
    for (const line of ['GET /v1/index/snapshot', 'POST /v1/index/snapshot'])
      expect([line, (await ask(line, undefined, { user: 'ann' })).status]).toEqual([line, 404]);
  });
});
