import { describe, expect, it } from '@jest/globals';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { rank } from '../../../src/core/search/rank.js';
import {
  createToolIndex,
  type IndexStatus,
  indexStatusSchema,
  type ToolIndex,
} from '../../../src/routing/index/tool-index.js';
import { NO_SYNONYMS } from '../../core/search/setup.js';
import { makeTool, TOOLS } from '../../core/selection/setup.js';

const MORE = [...TOOLS, makeTool('zebra_ride', { description: 'Rides a zebra.' })];
const BY_HAND = { rebuildsItself: false };

function find(index: ToolIndex, query: string, isAllowed?: (tool: Tool) => boolean): string[] | string {
  const opened = index.open({ allows: isAllowed });
  if (!opened.ok) return opened.code;
  return rank(query, [opened.layers.system], { limit: 5, synonyms: NO_SYNONYMS }).map(({ tool }) => tool.name);
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
