/** What searches answer by: the index, its weights and snapshots, what was learnt, and the model that is asked again. */
import { describe, expect, it } from 'vitest';
import type { CatalogReload } from '../../../../src/agents/live-catalog.js';
import { createRerank, parseRerankSettings } from '../../../../src/agents/search/rerank.js';
import { openStore } from '../../../../src/agents/store/open-store.js';
import { createCatalog } from '../../../../src/core/catalog/catalog.js';
import { WinnowError } from '../../../../src/core/errors.js';
import type { Model } from '../../../../src/core/model/model.js';
import { SEARCH_FIELDS } from '../../../../src/core/search/keyword-index.js';
import { createTool } from '../../../support/create-tool.js';
import { createScriptedModel, type ScriptedAnswer } from '../../../support/scripted-model.js';
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
    const many = Array.from({ length: 400 }, (_, number) =>
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

  it('that are not usable in the store are told once: the configured ones hold, and the tools of now are followed', async () => {
    let catalog = createCatalog(TOOLS);
    const store = await openStore();
    const told: string[] = [];
    const { agents } = await startAgentServer({
      more: {
        store,
        catalog: () => catalog,
        index: { weights: { title: 3 } },
        onUnusableWeights: ({ message }) => void told.push(message),
      },
    });
    const off = Object.fromEntries(SEARCH_FIELDS.map((field) => [field, 0]));
    await store.snapshots.put({ owner: 'index', name: 'weights', content: { ...off, author: 3 }, updatedAt: '' });
    catalog = createCatalog(TOOLS.slice(1));
    await agents.refresh();
    await agents.refresh();
    expect(await agents.index.settled()).toMatchObject({ tools: 3, weights: { title: 3, description: 0.4 } });
    expect(told).toEqual([expect.stringContaining('weights in the store')]);
  });

  it('are refused where they are none, and change nothing', async () => {
    const { ask } = await startAgentServer();
    const { body: before } = await ask('GET /v1/index', undefined, OPERATOR);
    const { status, body } = await ask('POST /v1/index/rebuild', { weights: { name: -1 } }, OPERATOR);
    expect([status, body.issues?.join()]).toEqual([400, expect.stringContaining('weights.name')]);
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

  async function startLearnt() {
    const server = await startAgentServer({ more: { adaptation: ADAPTATION } });
    await live(server.ask, ANN);
    await server.ask(`POST ${BASE}/learn`, undefined, OPERATOR);
    const { body } = await server.ask(`GET ${BASE}?kind=always_on`, undefined, OPERATOR);
    const [proposal] = body.entries;
    return { ...server, proposal };
  }

  const enabledOf = async (ask: Ask, who: object) => (await ask('POST /v1/sessions', {}, who)).body.enabled;

  describe('a proposal of a tool that is always on', () => {
    it('waits for approval by another, then holds for its user alone, under policy and approvals as before', async () => {
      const { ask, proposal } = await startLearnt();
      expect(proposal).toMatchObject({
        level: 'person',
        subject: 'ann',
        key: 'file_list',
        state: 'proposed',
        explanation: expect.stringContaining('used in 100 % of the sessions'),
      });
      expect(await enabledOf(ask, ANN)).toEqual([]);
      const approve = `POST ${BASE}/${proposal.id}/approve`;
      expect((await ask(approve, {}, ANN)).status).toBe(404);
      const own = await ask(approve, {}, { user: 'ann', roles: 'operator' });
      expect([own.status, own.body.issues]).toEqual([400, [expect.stringContaining('somebody else has to approve')]]);
      expect((await ask(approve, { by: { user: 'bob' } }, OPERATOR)).body).toMatchObject({
        state: 'active',
        details: { decidedBy: 'olga' },
      });
      expect(await enabledOf(ask, ANN)).toEqual([{ name: 'file_list', via: 'learnt' }]);
      expect(await enabledOf(ask, { user: 'bob' })).toEqual([]);
      expect((await ask(approve, {}, OPERATOR)).status).toBe(400);

      const { body: session } = await ask('POST /v1/sessions', {}, ANN);
      const at = `/v1/sessions/${session.id}`;
      expect((await ask(`POST ${at}/call`, { tool: 'file_list' }, ANN)).body).toMatchObject({ ok: true });
      expect((await ask(`POST ${at}/disable`, { names: ['file_list'] }, ANN)).body.rejected).toMatchObject([
        { code: 'always_on' },
      ]);
      const { body: trail } = await ask('GET /v1/audit?event=learnt_approved', undefined, OPERATOR);
      expect(trail.entries).toMatchObject([{ user: 'olga', tool: 'file_list', reason: expect.any(String) }]);
    });

    it('that is reverted, by its own user too, takes its tool away and is not made again', async () => {
      const { ask, proposal } = await startLearnt();
      await ask(`POST ${BASE}/${proposal.id}/approve`, {}, OPERATOR);
      const reverted = await ask(`POST ${BASE}/${proposal.id}/revert`, {}, ANN);
      expect(reverted.body).toMatchObject({ state: 'reverted', details: { decidedBy: 'ann' } });
      expect(await enabledOf(ask, ANN)).toEqual([]);
      await ask(`POST ${BASE}/learn`, undefined, OPERATOR);
      expect((await ask(`GET ${BASE}/${proposal.id}`, undefined, ANN)).body.state).toBe('reverted');
    });

    it('that is removed may be made again', async () => {
      const { ask, proposal } = await startLearnt();
      await ask(`POST ${BASE}/${proposal.id}/revert`, {}, OPERATOR);
      expect((await ask(`DELETE ${BASE}/${proposal.id}`, undefined, OPERATOR)).body.id).toBe(proposal.id);
      expect((await ask(`GET ${BASE}/${proposal.id}`, undefined, OPERATOR)).status).toBe(404);
      await ask(`POST ${BASE}/learn`, undefined, OPERATOR);
      expect((await ask(`GET ${BASE}/${proposal.id}`, undefined, OPERATOR)).body.state).toBe('proposed');
    });

    it('for a tool of high risk saves the enabling, never the approval of the call', async () => {
      const { ask } = await startAgentServer({ more: { adaptation: ADAPTATION } });
      for (let time = 0; time < 3; time++) {
        const { body: session } = await ask('POST /v1/sessions', {}, ANN);
        const at = `/v1/sessions/${session.id}`;
        await ask(`POST ${at}/enable`, { names: ['file_delete'] }, ANN);
        const call = { tool: 'file_delete', arguments: { path: 'a' } };
        const { body: refused } = await ask(`POST ${at}/call`, call, ANN);
        await ask(`POST /v1/approvals/${refused.approval}/grant`, {}, { user: 'bob', roles: 'operator' });
        expect((await ask(`POST ${at}/call`, call, ANN)).body.ok).toBe(true);
      }
      await ask(`POST ${BASE}/learn`);
      const { body } = await ask(`GET ${BASE}?kind=always_on`);
      await ask(`POST ${BASE}/${body.entries[0].id}/approve`, {}, OPERATOR);
      const { body: session } = await ask('POST /v1/sessions', {}, ANN);
      expect(session.enabled).toMatchObject([{ name: 'file_delete', via: 'learnt' }]);
      const call = { tool: 'file_delete', arguments: { path: 'b' } };
      expect((await ask(`POST /v1/sessions/${session.id}/call`, call, ANN)).body).toMatchObject({
        code: 'needs_approval',
      });
    });
  });

  describe('what was learnt', () => {
    it('is listed whole for operators, and for a user their own alone', async () => {
      const { ask } = await startLearnt();
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

    it('changes what a search finds, for its person', async () => {
      const { ask } = await startLearnt();
      const first = async (who: { user: string }) => {
        const { body: session } = await ask('POST /v1/sessions', {}, who);
        const found = await ask(`POST /v1/sessions/${session.id}/search`, { query: 'frob' }, who);
        return found.body.matches.map(({ name }: { name: string }) => name);
      };
      expect(await first(ANN)).toEqual(['file_list']);
      expect(await first({ user: 'bob' })).toEqual([]);
    });

    it('is nothing where learning is switched off', async () => {
      const { ask } = await startAgentServer();
      await live(ask, ANN);
      expect((await ask(`POST ${BASE}/learn`)).body).toEqual({ entries: 0 });
      expect((await ask(`GET ${BASE}`)).body).toEqual({ entries: [] });
    });
  });
});

/** A second opinion on a search over HTTP: who ranked is in the answer, and a model that fails takes nothing away. */
const QUERY = { query: 'file' };
const opinion = (confidence: number) =>
  JSON.stringify({ intent: 'delete', top_k_tools: ['file_delete'], confidence, need_clarification: false });

async function searchWith(model: Model | undefined, settings: object = {}) {
  const failures: WinnowError[] = [];
  const rerank =
    model &&
    createRerank(model, {
      settings: parseRerankSettings({ enabled: true, ...settings }),
      onFailure: (error) => failures.push(error),
    });
  const { ask, url } = await startAgentServer({ more: { rerank } });
  const { body: session } = await ask('POST /v1/sessions', {}, { user: 'ann' });
  const { status, body } = await ask(`POST /v1/sessions/${session.id}/search`, QUERY, { user: 'ann' });
  const names: string[] = body.matches.map(({ name }: { name: string }) => name);
  return { status, body, names, failures, url };
}

describe('a search over HTTP', () => {
  it('is ordered by the model that is sure, and says so, to the agent and in the metrics', async () => {
    const { status, body, names, url } = await searchWith(createScriptedModel({ answers: [opinion(0.9)] }));
    expect([status, body.ranked_by, body.confidence, names[0]]).toEqual([200, 'model', 0.9, 'file_delete']);
    expect(body.degraded).toBeUndefined();
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('winnow_searches_total{ranked_by="model"} 1');
  });

  const deaf = { ...createScriptedModel(), complete: () => new Promise<never>(() => {}) };
  const refusing = new WinnowError('model_refused', 'The server at http://10.1.2.3:8080 says: bad key sk-1.');
  const scripted = (answer: ScriptedAnswer) => createScriptedModel({ answers: () => answer });
  it.each<[string, Model, object, RegExp]>([
    ['does not answer in time', deaf, { timeoutMs: 20 }, /^the model did not answer within 20 ms$/u],
    ['is not sure enough', scripted(opinion(0.9)), { minConfidence: 0.95 }, /^the model's confidence of 0.9 is below/u],
  ])('has the order of the rules where the model %s, and why', async (_, model, settings, reason) => {
    const plain = await searchWith(undefined);
    const { status, body, names } = await searchWith(model, settings);
    expect([status, body.ranked_by, names]).toEqual([200, 'rules', plain.names]);
    expect(body.degraded).toMatch(reason);
    expect(body.matches).toEqual(plain.body.matches);
  });

  it('tells the operator what the agent must not learn of the model server', async () => {
    const { body, failures } = await searchWith(scripted(refusing));
    expect(JSON.stringify(body)).not.toMatch(/10\.1\.2\.3|sk-1/u);
    expect(failures).toEqual([refusing]);
  });

  it('asks no model where none is switched on', async () => {
    expect(createRerank(deaf, { settings: parseRerankSettings({}) })).toBeUndefined();
    expect((await searchWith(undefined)).body).toMatchObject({ ranked_by: 'rules' });
  });
});
