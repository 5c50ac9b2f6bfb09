import { describe, expect, it } from '@jest/globals';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { rank } from '../../../src/core/search/rank.js';
import { INDEX_VERSION } from '../../../src/routing/index/generation.js';
import { snapshotSchema } from '../../../src/routing/index/snapshot.js';
import { createToolIndex, type ToolIndex } from '../../../src/routing/index/tool-index.js';
import { SYNONYMS } from '../../core/search/setup.js';
import { makeTool, TOOLS } from '../../core/selection/setup.js';

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
  return rank(query, own ? [own, system] : [system], { limit: 5, synonyms: SYNONYMS });
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
