/** What searches answer by: the index, its weights and snapshots, what was learnt, and the model that is asked again. */
import { describe, expect, it } from 'vitest';
import type { CatalogReload } from '../../../../src/agents/live-catalog.js';
import { createRerank, parseRerankSettings } from '../../../../src/agents/search/rerank.js';
import { openStore } from '../../../../src/agents/store/open-store.js';
import { createCatalog } from '../../../../src/core/catalog/catalog.js';
import { createTool } from '../../../support/create-tool.js';
import { createScriptedModel } from '../../../support/scripted-model.js';
import { type Ask, startAgentServer, TOOLS } from './setup.js';

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
  it('are given with a rebuild, told by the status, and taken back; wrong ones change nothing', async () => {
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
    const { status, body } = await ask('POST /v1/index/rebuild', { weights: { name: -1 } }, OPERATOR);
    expect([status, body.issues?.join()]).toEqual([400, expect.stringContaining('weights.name')]);
    expect((await ask('GET /v1/index', undefined, OPERATOR)).body.fingerprint).toBe(rebuilt.fingerprint);
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

  it('and its snapshots are for operators', async () => {
    const { ask, agents } = await startAgentServer();
    const weights = { name: 0, description: 1 };
    for (const [line, body] of [
      ['POST /v1/index/rebuild', { weights }],
      ['GET /v1/index/snapshot', undefined],
      ['POST /v1/index/snapshot', undefined],
    ] as const)
      expect([line, (await ask(line, body, { user: 'ann' })).status]).toEqual([line, 404]);
    expect(agents.index.status().weights.description).toBe(0.4);
  });
});

it('a snapshot of the index goes from one server to another, as much of it as is asked for', async () => {
  const first = await startAgentServer();
  const { body: snapshot } = await first.ask('GET /v1/index/snapshot?level=full', undefined, OPERATOR);
  expect(snapshot).toMatchObject({ level: 'full', tools: 4 });
  expect((await first.ask('GET /v1/index/snapshot')).body).toMatchObject({ level: 'meta', tools: 4 });
  const capped = await first.ask('GET /v1/index/snapshot?level=full&max_bytes=10');
  expect(capped.body).toMatchObject({ level: 'meta', note: expect.any(String) });
  expect((await first.ask('GET /v1/index/snapshot?level=most')).body.issues).toEqual([
    expect.stringContaining('level'),
  ]);

  // It is larger than other bodies may be.
  const limited = { options: { bodyLimitBytes: 500 }, more: { index: { rebuildsItself: false } } };
  const { ask, agents } = await startAgentServer(limited);
  expect(agents.index.status().state).toBe('stale');
  const imported = await ask('POST /v1/index/snapshot', snapshot, OPERATOR);
  expect([imported.status, imported.body]).toMatchObject([
    200,
    { snapshot: 'taken', state: 'ready', fingerprint: snapshot.fingerprint },
  ]);
  const { body: session } = await ask('POST /v1/sessions');
  const found = await ask(`POST /v1/sessions/${session.id}/search`, { query: 'delete a file' });
  expect(found.body.matches[0]).toMatchObject({ name: 'file_delete' });
  const { status, body } = await ask('POST /v1/index/snapshot', { ...snapshot, checksum: 'x' });
  expect([status, body.detail]).toEqual([400, expect.stringContaining('checksum')]);
  expect((await ask('POST /v1/sessions', { user: 'x'.repeat(600) })).status).toBe(413);
});

/** What was learnt from use, over HTTP: seen by whom it is about and by operators, decided on by somebody else. */
describe('adaptation over HTTP', () => {
  const ANN = { user: 'ann' };
  const OPERATOR = { user: 'olga', roles: 'operator' };
  const ADAPTATION = { enabled: true, alwaysOnSessions: 2, minUses: 2 };
  const BASE = '/v1/adaptation';

  /** Uses a tool in each of three sessions of a user, after a search in words of their own. */
  async function live(ask: Ask, who: { user: string }, tool = 'file_list') {
    for (let time = 0; time < 3; time++) {
      const { body: session } = await ask('POST /v1/sessions', {}, who);
      const at = `/v1/sessions/${session.id}`;
      await ask(`POST ${at}/search`, { query: 'frob files' }, who);
      await ask(`POST ${at}/enable`, { names: [tool] }, who);
      await ask(`POST ${at}/call`, { tool, arguments: tool === 'file_list' ? {} : { path: 'a' } }, who);
    }
  }

  it('is proposed, approved by another, holds for its user alone, and is reverted by them or removed', async () => {
    const { ask } = await startAgentServer({ more: { adaptation: ADAPTATION } });
    await live(ask, ANN);
    expect((await ask(`POST ${BASE}/learn`, undefined, OPERATOR)).body.entries).toBeGreaterThan(0);
    const { body } = await ask(`GET ${BASE}?kind=always_on`, undefined, OPERATOR);
    expect(body.entries).toMatchObject([
      {
        ...{ level: 'person', subject: 'ann', key: 'file_list', state: 'proposed' },
        explanation: expect.stringContaining('used in 100 % of the sessions'),
      },
    ]);
    const one = `${BASE}/${body.entries[0].id}`;
    const enabledOf = async (who: object) => (await ask('POST /v1/sessions', {}, who)).body.enabled;
    expect(await enabledOf(ANN)).toEqual([]);
    expect((await ask(`POST ${one}/approve`, {}, ANN)).status).toBe(404);
    const own = await ask(`POST ${one}/approve`, {}, { user: 'ann', roles: 'operator' });
    expect([own.status, own.body.issues]).toEqual([400, [expect.stringContaining('somebody else has to approve')]]);
    const approved = await ask(`POST ${one}/approve`, { by: { user: 'bob' } }, OPERATOR);
    expect(approved.body).toMatchObject({ state: 'active', details: { decidedBy: 'olga' } });
    expect(await enabledOf(ANN)).toEqual([{ name: 'file_list', via: 'learnt' }]);
    expect(await enabledOf({ user: 'bob' })).toEqual([]);
    const found = async (who: object) => {
      const { body: session } = await ask('POST /v1/sessions', {}, who);
      const { matches } = (await ask(`POST /v1/sessions/${session.id}/search`, { query: 'frob' }, who)).body;
      return matches.map(({ name }: { name: string }) => name);
    };
    expect([await found(ANN), await found({ user: 'bob' })]).toEqual([['file_list'], []]);
    const { body: trail } = await ask('GET /v1/audit?event=learnt_approved', undefined, OPERATOR);
    expect(trail.entries).toMatchObject([{ user: 'olga', tool: 'file_list', reason: expect.any(String) }]);

    const reverted = await ask(`POST ${one}/revert`, {}, ANN);
    expect(reverted.body).toMatchObject({ state: 'reverted', details: { decidedBy: 'ann' } });
    expect(await enabledOf(ANN)).toEqual([]);
    expect((await ask(`DELETE ${one}`, undefined, OPERATOR)).body.id).toBe(body.entries[0].id);
    expect((await ask(`GET ${one}`, undefined, OPERATOR)).status).toBe(404);
  });

  it('is listed whole for operators, and for a user their own alone', async () => {
    const { ask } = await startAgentServer({ more: { adaptation: ADAPTATION } });
    await live(ask, ANN);
    await live(ask, { user: 'bob' }, 'file_read');
    await ask(`POST ${BASE}/learn`, undefined, OPERATOR);
    const subjects = async (who: object) => {
      const { body } = await ask(`GET ${BASE}`, undefined, who);
      return [...new Set(body.entries.map(({ subject }: { subject: string }) => subject))].sort();
    };
    expect(await subjects(OPERATOR)).toEqual(['ann', 'bob']);
    expect(await subjects(ANN)).toEqual(['ann']);
    const { body } = await ask(`GET ${BASE}?subject=bob`, undefined, OPERATOR);
    const [entry] = body.entries;
    for (const [line, sent] of [
      [`GET ${BASE}/${entry.id}`, undefined],
      [`POST ${BASE}/${entry.id}/revert`, {}],
      [`DELETE ${BASE}/${entry.id}`, undefined],
    ] as const) {
      const other = await ask(line, sent, ANN);
      const none = await ask(line.replace(entry.id, '0000'), sent, ANN);
      expect([line, other.status]).toEqual([line, 404]);
      expect(other.body.detail).toBe(none.body.detail.replace('0000', entry.id));
    }
    expect((await ask(`POST ${BASE}/learn`, undefined, ANN)).status).toBe(404);
  });
});

it('a search is ordered by the model that is sure, and says so, to the agent and in the metrics', async () => {
  const opinion = { intent: 'delete', top_k_tools: ['file_delete'], confidence: 0.9, need_clarification: false };
  const model = createScriptedModel({ answers: [JSON.stringify(opinion)] });
  const rerank = createRerank(model, { settings: parseRerankSettings({ enabled: true }) });
  const { ask, url } = await startAgentServer({ more: { rerank } });
  const { body: session } = await ask('POST /v1/sessions', {}, { user: 'ann' });
  const { status, body } = await ask(`POST /v1/sessions/${session.id}/search`, { query: 'file' }, { user: 'ann' });
  expect([status, body.ranked_by, body.confidence, body.matches[0].name]).toEqual([200, 'model', 0.9, 'file_delete']);
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('winnow_searches_total{ranked_by="model"} 1');
});
