import { describe, expect, it } from '@jest/globals';
import { type LoadedCatalog, loadCatalog } from '../../src/core/catalog/load.js';
import { WinnowError } from '../../src/core/errors.js';
import { createLiveCatalog } from '../../src/routing/live-catalog.js';
import { createTool } from '../support/create-tool.js';

const loadTools = (names: readonly string[], previous?: LoadedCatalog) =>
  loadCatalog({
    sources: [{ kind: 'tools', name: 'tools', tools: names.map((name) => createTool(name)) }],
    previous,
  });

async function together(load: (previous: LoadedCatalog) => Promise<LoadedCatalog>) {
  const audit: object[] = [];
  const live = createLiveCatalog({
    first: await loadTools(['a', 'b']),
    load,
    audit: async (entry) => void audit.push(entry),
  });
  const names = () => live.current().catalog.tools.map(({ name }) => name);
  return { live, names, audit };
}

describe('a catalogue that is read anew', () => {
  it('tells what has changed, and keeps unchanged tools the same objects', async () => {
    const { live, names, audit } = await together((previous) => loadTools(['b', 'c'], previous));
    const [, before] = live.current().catalog.tools;
    expect(await live.reload()).toEqual({
      tools: 2,
      added: 1,
      changed: 0,
      removed: 1,
      kept: [],
      failed: [],
      warnings: [],
    });
    expect(names()).toEqual(['b', 'c']);
    expect(live.current().catalog.tools[0]).toBe(before);
    expect(audit).toEqual([
      { event: 'catalog_reloaded', outcome: 'allowed', reason: '1 tools added, 0 changed, 1 removed.' },
    ]);
  });

  it('stays as it was where it can not be read', async () => {
    const { live, names, audit } = await together(async () => {
      throw new WinnowError('source_failed', 'The source is away.', { issues: ['it is away'] });
    });
    const reload = await live.reload();
    expect(reload).toMatchObject({ tools: 2, added: 0, kept: [{ reason: 'The source is away.' }] });
    expect(names()).toEqual(['a', 'b']);
    expect(audit).toMatchObject([{ event: 'catalog_kept', outcome: 'failed', reason: 'The source is away.' }]);
  });

  it('tells sources that stay as they were from those that never gave anything, and the changes of the others', async () => {
    const error = new WinnowError('source_failed', 'It is away.');
    const [flaky, dead] = [
      { source: 'flaky', error },
      { source: 'dead', error },
    ];
    const away = (source: string) => [{ source, reason: 'It is away.' }];
    const { live, audit } = await together(async (previous) => ({
      ...(await loadTools(['a', 'b', 'c'], previous)),
      failures: [flaky, dead],
      kept: [flaky],
    }));
    expect(await live.reload()).toMatchObject({ added: 1, kept: away('flaky'), failed: away('dead') });
    expect(audit).toMatchObject([
      { event: 'catalog_kept', reason: 'It is away. 1 tools added, 0 changed, 0 removed.' },
    ]);
  });

  it('is read once at a time, and those who ask meanwhile get what is read after they asked', async () => {
    let reads = 0;
    let running = 0;
    const { live, names } = await together(async (previous) => {
      expect(++running).toBe(1);
      const tools = [`read_${++reads}`];
      await new Promise(setImmediate);
      running -= 1;
      return loadTools(tools, previous);
    });
    const first = live.reload();
    await new Promise(setImmediate);
    await Promise.all([first, live.reload(), live.reload()]);
    expect([reads, names()]).toEqual([2, ['read_2']]);
  });
});
