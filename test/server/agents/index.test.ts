/** The index over HTTP: reading the catalogue anew while answers go on, and snapshots on their way to another process. */
import { describe, expect, it } from '@jest/globals';
import { createCatalog } from '../../../src/catalog/catalog.js';
import type { CatalogReload } from '../../../src/routing/live-catalog.js';
import { createTool } from '../../support/create-tool.js';
import { startAgentServer, TOOLS } from './setup.js';

const OPERATOR = { user: 'olga', roles: 'operator' };
const UNCHANGED: CatalogReload = { tools: 4, added: 0, changed: 0, removed: 0, kept: [], warnings: [] };

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
