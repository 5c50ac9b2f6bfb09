/** The index over its life: built, given weights, exported and taken over. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { INDEX_VERSION } from '../../../src/agents/index/generation.js';
import { createWeightsKeeper } from '../../../src/agents/index/kept-index.js';
import { snapshotSchema } from '../../../src/agents/index/snapshot.js';
import {
  createToolIndex,
  type IndexStatus,
  indexStatusSchema,
  type ToolIndex,
} from '../../../src/agents/index/tool-index.js';
import type { BareEntry } from '../../../src/agents/records.js';
import { openStore } from '../../../src/agents/store/open-store.js';
import type { Documents } from '../../../src/agents/store/sql/keyed-records.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { WinnowError } from '../../../src/core/errors.js';
import { fieldWeightsSchema, SEARCH_FIELDS } from '../../../src/core/search/keyword-index.js';
import { NO_SYNONYMS, ranked, SYNONYMS } from '../../core/search/setup.js';
import { makeTool, TOOLS } from '../../core/selection/setup.js';

describe('the index of the tools', () => {
  const MORE = [...TOOLS, makeTool('zebra_ride', { description: 'Rides a zebra.' })];
  const BY_HAND = { rebuildsItself: false };

  function find(index: ToolIndex, query: string, isAllowed?: (tool: Tool) => boolean): string[] | string {
    const opened = index.open({ allows: isAllowed });
    if (!opened.ok) return opened.code;
    return ranked(query, [opened.layers.system], { limit: 5, synonyms: NO_SYNONYMS }).map(({ tool }) => tool.name);
  }

  /** Tools whose reading fails, as a broken source would. */
  function unreadable(): Tool[] {
    const broken = makeTool('broken');
    Object.defineProperty(broken, 'keywords', {
      get() {
        throw new Error('unreadable keywords');
      },
    });
    return [...TOOLS, broken];
  }

  describe('the life of an index', () => {
    it('goes from building to ready, and tells of each step', async () => {
      const seen: IndexStatus[] = [];
      const index = createToolIndex(TOOLS, { onChange: (status) => seen.push(status) });
      expect(index.status()).toMatchObject({ state: 'building', tools: 0 });
      expect(find(index, 'coffee')).toBe('index_building');
      expect(await index.settled()).toMatchObject({ state: 'ready', tools: TOOLS.length });
      expect(find(index, 'coffee')).toEqual(['brew_coffee']);
      expect(seen.map(({ state }) => state)).toEqual(['building', 'ready']);
      expect(indexStatusSchema.parse(index.status())).toEqual(index.status());
    });

    it('is stale until it is built, where it does not build itself', async () => {
      const index = createToolIndex(TOOLS, BY_HAND);
      expect(index.status().state).toBe('stale');
      expect(find(index, 'coffee')).toBe('index_not_ready');
      expect(await index.rebuild()).toMatchObject({ state: 'ready' });
      expect(find(index, 'coffee')).toEqual(['brew_coffee']);
    });

    it.each<[string, (index: ToolIndex) => void]>([
      ['the tools change', (index) => index.setTools(MORE)],
      ['the weights change', (index) => index.setWeights({ name: 1, description: 0 })],
    ])('is stale when %s, and answers nothing of what it was', async (_, change) => {
      const index = createToolIndex(TOOLS, BY_HAND);
      await index.rebuild();
      change(index);
      expect(index.status().state).toBe('stale');
      expect(find(index, 'coffee')).toBe('index_not_ready');
      await index.rebuild();
      expect(find(index, 'coffee')).toEqual(['brew_coffee']);
    });

    it('lets the last complete index answer while the next is built, and says so', async () => {
      const index = createToolIndex(TOOLS);
      await index.settled();
      index.setTools(MORE);
      expect(index.open({})).toMatchObject({ ok: true, state: 'building' });
      expect(find(index, 'coffee')).toEqual(['brew_coffee']);
      expect(find(index, 'zebra')).toEqual([]);
      await index.settled();
      expect(index.open({})).toMatchObject({ ok: true, state: 'ready' });
      expect(find(index, 'zebra')).toEqual(['zebra_ride']);
    });

    it('refuses meanwhile where that is wished', async () => {
      const index = createToolIndex(TOOLS, { whileBuilding: 'refuse' });
      await index.settled();
      index.setTools(MORE);
      expect(find(index, 'coffee')).toBe('index_building');
      await index.settled();
      expect(find(index, 'coffee')).toEqual(['brew_coffee']);
    });

    it('takes only the last of many changes', async () => {
      const index = createToolIndex(TOOLS);
      for (const name of ['one', 'two', 'three']) index.setTools([...TOOLS, makeTool(name, { description: 'zebra' })]);
      await index.settled();
      expect(find(index, 'zebra')).toEqual(['three']);
    });

    it('is in error when a build fails, says why, and comes back with a better one', async () => {
      const index = createToolIndex(unreadable());
      expect(await index.settled()).toMatchObject({ state: 'error', error: 'unreadable keywords' });
      expect(index.open({})).toMatchObject({
        code: 'index_not_ready',
        reason: expect.stringContaining('unreadable keywords'),
      });
      index.setTools(TOOLS);
      expect(await index.settled()).toMatchObject({ state: 'ready' });
      expect(index.status().error).toBeUndefined();
    });

    it('has a fingerprint of what is searched: tools, their words, and weights', async () => {
      const fingerprintOf = async (tools: readonly Tool[], weights = {}) => {
        const index = createToolIndex(tools, { weights });
        return (await index.settled()).fingerprint;
      };
      const base = await fingerprintOf(TOOLS);
      expect(await fingerprintOf([...TOOLS])).toBe(base);
      const [first = makeTool('x'), ...rest] = TOOLS;
      const variants = [
        [{ ...first, keywords: ['zebra'] }, ...rest],
        [{ ...first, aliases: ['zebra'] }, ...rest],
        [{ ...first, title: 'Zebra' }, ...rest],
        [{ ...first, description: 'Zebra' }, ...rest],
        [{ ...first, available: false }, ...rest],
        rest,
      ];
      const prints = [
        base,
        await fingerprintOf(TOOLS, { parameters: 0.1 }),
        ...(await Promise.all(variants.map((tools) => fingerprintOf(tools)))),
      ];
      expect(new Set(prints).size).toBe(prints.length);
    });

    it('does no work when nothing has changed', async () => {
      const seen: string[] = [];
      const index = createToolIndex(TOOLS, { onChange: ({ state }) => seen.push(state) });
      await index.settled();
      index.setTools(TOOLS);
      index.setWeights({});
      expect(seen).toEqual(['building', 'ready']);
    });

    it.each([
      ['above the most', { name: 11 }, /weights\.name/u],
      ['below nothing', { description: -1 }, /weights\.description/u],
      ['of no field', { nonsense: 1 }, /nonsense/u],
    ])('refuses a weight %s', (_, weights, issue) => {
      expect(() => createToolIndex(TOOLS, { weights: Object(weights) })).toThrow(issue);
    });

    it('can be closed in the middle of a build', async () => {
      const index = createToolIndex(TOOLS);
      index.close();
      index.close();
      expect(await index.settled()).toMatchObject({ state: 'stale' });
    });

    it('leaves the event loop to others while it builds', async () => {
      const many = Array.from({ length: 1500 }, (_, place) =>
        makeTool(`tool_${place}`, { description: `${'word '.repeat(40)}${place}` }),
      );
      const index = createToolIndex(many);
      let turns = 0;
      const count = setInterval(() => {
        turns += 1;
      }, 0);
      await index.settled();
      clearInterval(count);
      expect(turns).toBeGreaterThan(3);
    });
  });
});

describe('a snapshot of the index', () => {
  const OWN = makeTool('my_zebra', { description: 'Rides a zebra.', scope: { user: 'ann' } });
  const ALL = [...TOOLS, OWN];

  async function readyIndex(tools: readonly Tool[] = ALL): Promise<ToolIndex> {
    const index = createToolIndex(tools);
    await index.settled();
    return index;
  }

  function find(index: ToolIndex, query: string, user?: string) {
    const opened = index.open({ user });
    if (!opened.ok) return opened.code;
    const { own, system } = opened.layers;
    return ranked(query, own ? [own, system] : [system], { limit: 5, synonyms: SYNONYMS });
  }

  /** As it comes out of a store or a file. */
  const throughJson = (snapshot: unknown): unknown => JSON.parse(JSON.stringify(snapshot));

  describe('a snapshot of an index', () => {
    it('brings it whole to another process, without a build', async () => {
      const index = await readyIndex();
      const snapshot = throughJson(index.exportSnapshot({ level: 'full' }));
      const other = createToolIndex(ALL, { rebuildsItself: false });
      expect(await other.importSnapshot(snapshot)).toMatchObject({
        state: 'ready',
        snapshot: 'taken',
        fingerprint: index.status().fingerprint,
      });
      for (const query of ['coffee song', 'sprinklre', 'loudspeakers', '文件'])
        expect(find(other, query)).toEqual(find(index, query));
      expect(find(other, 'zebra', 'ann')).toEqual(find(index, 'zebra', 'ann'));
      expect(find(other, 'zebra', 'ann')).toHaveLength(1);
    });

    it('says what an index was made of, or nothing, as is wished', async () => {
      const index = await readyIndex();
      expect(index.exportSnapshot({ level: 'none' })).toEqual({ level: 'none' });
      const meta = index.exportSnapshot({ level: 'meta' });
      expect(meta).toEqual({
        level: 'meta',
        version: INDEX_VERSION,
        fingerprint: index.status().fingerprint,
        weights: index.status().weights,
        tools: ALL.length,
        createdAt: expect.any(String),
      });
      expect(snapshotSchema.parse(meta)).toEqual(meta);
    });

    it('becomes meta when it is over the cap, and says by how much', async () => {
      const index = await readyIndex();
      expect(index.exportSnapshot({ level: 'full', maxBytes: 100 })).toMatchObject({
        level: 'meta',
        note: expect.stringMatching(/^full has \d+ bytes, and the cap is 100$/u),
      });
    });

    it.each<[string, (index: ToolIndex) => unknown, readonly Tool[], string]>([
      ['other tools', (index) => index.exportSnapshot({ level: 'full' }), TOOLS, 'stale'],
      ['a note only', (index) => index.exportSnapshot({ level: 'meta' }), ALL, 'empty'],
      ['nothing', (index) => index.exportSnapshot({ level: 'none' }), ALL, 'empty'],
    ])('of %s leaves a stale index stale, and says why', async (_, make, tools, outcome) => {
      const snapshot = throughJson(make(await readyIndex()));
      const other = createToolIndex(tools, { rebuildsItself: false });
      expect(await other.importSnapshot(snapshot)).toMatchObject({ state: 'stale', snapshot: outcome });
      expect(find(other, 'coffee')).toBe('index_not_ready');
    });

    it('with other weights leaves a stale index stale', async () => {
      const snapshot = throughJson((await readyIndex()).exportSnapshot({ level: 'full' }));
      const other = createToolIndex(ALL, { rebuildsItself: false, weights: { name: 1 } });
      expect(await other.importSnapshot(snapshot)).toMatchObject({ state: 'stale' });
    });

    it('that does not fit takes nothing away from an index that is ready', async () => {
      const snapshot = throughJson((await readyIndex(TOOLS)).exportSnapshot({ level: 'full' }));
      const other = await readyIndex(ALL);
      expect(await other.importSnapshot(snapshot)).toMatchObject({ state: 'ready', snapshot: 'stale' });
      expect(find(other, 'zebra', 'ann')).toHaveLength(1);
    });

    /** The entries of the first segment changed, and the checksum with them. */
    const ofEntries =
      (change: (entries: { documentIds: object; storedFields: object }) => void) =>
      (snapshot: Record<string, unknown>) => {
        const segments = JSON.parse(JSON.stringify(snapshot.segments));
        const entries = JSON.parse(segments[0].index);
        change(entries);
        segments[0].index = JSON.stringify(entries);
        const checksum = createHash('sha256').update(JSON.stringify(segments)).digest('hex');
        return { ...snapshot, segments, checksum };
      };
    const broken: [string, (snapshot: Record<string, unknown>) => unknown][] = [
      ['is no snapshot', () => 'full'],
      ['is of an unknown level', (snapshot) => ({ ...snapshot, level: 'half' })],
      [
        'was changed on its way',
        (snapshot) => ({
          ...snapshot,
          segments: JSON.parse(JSON.stringify(snapshot.segments).replace('coffe', 'coffi')),
        }),
      ],
      ['lost a segment', (snapshot) => ({ ...snapshot, segments: [] })],
      ['has an entry of no tool', ofEntries((entries) => Object.assign(entries.documentIds, { 0: 9_999 }))],
      ['has an entry too many', ofEntries((entries) => Object.assign(entries.documentIds, { 99: 9_999 }))],
      ['has an entry twice', ofEntries((entries) => Object.assign(entries.documentIds, { 0: 1 }))],
      ['has an entry without weights', ofEntries((entries) => Object.assign(entries.storedFields, { 0: {} }))],
      ['has a field too many', (snapshot) => ({ ...snapshot, extra: 1 })],
    ];
    it.each(broken)('that %s is refused', async (_, damage) => {
      const snapshot = Object(throughJson((await readyIndex()).exportSnapshot({ level: 'full' })));
      const other = createToolIndex(ALL, { rebuildsItself: false });
      await expect(other.importSnapshot(damage(snapshot))).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('snapshot'),
      });
      expect(other.status().state).toBe('stale');
    });

    it('can be made only of an index that is ready', () => {
      const index = createToolIndex(ALL, { rebuildsItself: false });
      expect(() => index.exportSnapshot({ level: 'full' })).toThrow(/stale: rebuild it/u);
    });
  });
});

describe('the weights that are kept', () => {
  const DEFAULTS = fieldWeightsSchema.parse({});
  const ALL_OFF = Object.fromEntries(SEARCH_FIELDS.map((field) => [field, 0]));
  const GIVEN = fieldWeightsSchema.parse({ name: 1, parameters: 0.5 });

  /** A server with its own index; those with one store share the weights. */
  function server(store: Documents, configured?: Parameters<typeof createWeightsKeeper>[0]['configured']) {
    const index = createToolIndex(TOOLS, { weights: configured, rebuildsItself: false });
    const trail: BareEntry[] = [];
    const told: string[] = [];
    const keeper = createWeightsKeeper({
      index,
      store,
      configured,
      onUnusable: ({ message }) => void told.push(message),
      audit: async (entry) => void trail.push(entry),
    });
    return { ...keeper, trail, told, weights: () => index.status().weights };
  }

  describe('weights that an operator gave', () => {
    it('hold at once, are in the audit, and are taken over by others on the same store', async () => {
      const { snapshots } = await openStore();
      const [first, second] = [server(snapshots), server(snapshots, { title: 2 })];
      await first.set(GIVEN, 'olga');
      expect(first.weights()).toEqual(GIVEN);
      expect(first.trail).toEqual([
        { event: 'index_weighed', outcome: 'allowed', user: 'olga', reason: JSON.stringify(GIVEN) },
      ]);
      expect(second.weights()).toEqual({ ...DEFAULTS, title: 2 });
      await second.refresh();
      expect(second.weights()).toEqual(GIVEN);
    });

    it('give way to those of the configuration when they are taken back, everywhere', async () => {
      const { snapshots } = await openStore();
      const [first, second] = [server(snapshots), server(snapshots, { title: 2 })];
      await first.set(GIVEN);
      await second.refresh();
      await first.set(null);
      await second.refresh();
      expect([first.weights(), second.weights()]).toEqual([DEFAULTS, { ...DEFAULTS, title: 2 }]);
      expect(await snapshots.list()).toEqual([]);
    });

    it('stay as they were where the store fails', async () => {
      const { snapshots } = await openStore();
      const { set, weights, trail } = server({
        ...snapshots,
        put: () => Promise.reject(new Error('the disk is full')),
      });
      await expect(set(GIVEN)).rejects.toThrow('the disk is full');
      expect([weights(), trail]).toEqual([DEFAULTS, []]);
    });

    it('are not undone by a look into the store that began before', async () => {
      const { snapshots } = await openStore();
      let go = () => {};
      const held = new Promise<void>((resolve) => {
        go = resolve;
      });
      const slow = {
        ...snapshots,
        get: (...name: [string, string]) => snapshots.get(...name).then((found) => held.then(() => found)),
      };
      const { refresh, set, weights } = server(slow);
      const work = [refresh(), set(GIVEN)];
      go();
      await Promise.all(work);
      expect(weights()).toEqual(GIVEN);
    });

    it('may come from a version that knows more fields', async () => {
      const { snapshots } = await openStore();
      await snapshots.put({ owner: 'index', name: 'weights', content: { name: 1, author: 3 }, updatedAt: '' });
      const { refresh, weights } = server(snapshots);
      await refresh();
      expect(weights()).toEqual({ ...DEFAULTS, name: 1 });
    });

    it.each([
      ['of a wrong type', { name: 'much' }, 'weights in the store.name'],
      ['0 in every field that is known here', { ...ALL_OFF, author: 3 }, 'weights in the store: one of the weights'],
      ['no fields at all', 3, 'weights in the store'],
    ])(
      'that are not usable in the store (%s) are told once, and the configured ones hold',
      async (_, content, words) => {
        const { snapshots } = await openStore();
        const { refresh, set, weights, told } = server(snapshots, { title: 2 });
        await set(GIVEN);
        await snapshots.put({ owner: 'index', name: 'weights', content, updatedAt: '' });
        await refresh();
        await refresh();
        expect(weights()).toEqual({ ...DEFAULTS, title: 2 });
        expect(told).toEqual([expect.stringContaining(words)]);
      },
    );

    it('are an error where the store can not be read, and stay as they were', async () => {
      const { snapshots } = await openStore();
      const failed = new WinnowError('store_failed', 'the disk is gone');
      const { refresh, set, weights, told } = server({ ...snapshots, get: () => Promise.reject(failed) });
      await set(GIVEN);
      await expect(refresh()).rejects.toThrow('the disk is gone');
      expect([weights(), told]).toEqual([GIVEN, []]);
    });
  });
});
