import { describe, expect, it } from '@jest/globals';
import { WinnowError } from '../../../src/core/errors.js';
import { fieldWeightsSchema, SEARCH_FIELDS } from '../../../src/core/search/fields.js';
import { createToolIndex } from '../../../src/routing/index/tool-index.js';
import { createWeightsKeeper } from '../../../src/routing/index/weights-keeper.js';
import type { BareEntry } from '../../../src/routing/ledger.js';
import { createMemoryStore } from '../../../src/store/memory/memory-store.js';
import type { Documents } from '../../../src/store/store.js';
import { TOOLS } from '../../core/selection/setup.js';

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
    const { snapshots } = createMemoryStore();
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
    const { snapshots } = createMemoryStore();
    const [first, second] = [server(snapshots), server(snapshots, { title: 2 })];
    await first.set(GIVEN);
    await second.refresh();
    await first.set(null);
    await second.refresh();
    expect([first.weights(), second.weights()]).toEqual([DEFAULTS, { ...DEFAULTS, title: 2 }]);
    expect(await snapshots.list()).toEqual([]);
  });

  it('stay as they were where the store fails', async () => {
    const { snapshots } = createMemoryStore();
    const { set, weights, trail } = server({ ...snapshots, put: () => Promise.reject(new Error('the disk is full')) });
    await expect(set(GIVEN)).rejects.toThrow('the disk is full');
    expect([weights(), trail]).toEqual([DEFAULTS, []]);
  });

  it('are not undone by a look into the store that began before', async () => {
    const { snapshots } = createMemoryStore();
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
    const { snapshots } = createMemoryStore();
    await snapshots.put({ owner: 'index', name: 'weights', content: { name: 1, author: 3 }, updatedAt: '' });
    const { refresh, weights } = server(snapshots);
    await refresh();
    expect(weights()).toEqual({ ...DEFAULTS, name: 1 });
  });

  it.each([
    ['of a wrong type', { name: 'much' }, 'weights in the store.name'],
    ['0 in every field that is known here', { ...ALL_OFF, author: 3 }, 'weights in the store: one of the weights'],
    ['no fields at all', 3, 'weights in the store'],
  ])('that are not usable in the store (%s) are told once, and the configured ones hold', async (_, content, words) => {
    const { snapshots } = createMemoryStore();
    const { refresh, set, weights, told } = server(snapshots, { title: 2 });
    await set(GIVEN);
    await snapshots.put({ owner: 'index', name: 'weights', content, updatedAt: '' });
    await refresh();
    await refresh();
    expect(weights()).toEqual({ ...DEFAULTS, title: 2 });
    expect(told).toEqual([expect.stringContaining(words)]);
  });

  it('are an error where the store can not be read, and stay as they were', async () => {
    const { snapshots } = createMemoryStore();
    const failed = new WinnowError('store_failed', 'the disk is gone');
    const { refresh, set, weights, told } = server({ ...snapshots, get: () => Promise.reject(failed) });
    await set(GIVEN);
    await expect(refresh()).rejects.toThrow('the disk is gone');
    expect([weights(), told]).toEqual([GIVEN, []]);
  });
});
