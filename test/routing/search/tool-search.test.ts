import { describe, expect, it } from '@jest/globals';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { searchOutputSchema } from '../../../src/routing/contracts.js';
import { createDiscovery } from '../../../src/routing/search/discovery.js';
import { makeTool } from '../../core/selection/setup.js';
import { callerOf, matchNames, OWN_TOOLS, SYSTEM_TOOLS, setUp, TOOLS } from './setup.js';

describe('tool_search', () => {
  it('answers in the documented form, with what is enabled in the session of the caller', async () => {
    const { search } = await setUp();
    const output = await search(
      { query: 'create a branch', top_k: 2 },
      { isEnabled: ({ name }: Tool) => name === 'git_branch_create' },
    );
    expect(searchOutputSchema.parse(output)).toEqual(output);
    expect(output).toMatchObject({ query: 'create a branch', ranked_by: 'rules', index: 'ready' });
    expect(output.need_clarification).toBeUndefined();
    expect(output.matches[0]).toEqual({
      name: 'git_branch_create',
      category: 'git',
      toolType: 'builtin',
      risk: 'high',
      description: 'Create a branch.',
      enabled: true,
      score: expect.any(Number),
      why_matched: [
        { word: 'create', fields: ['name', 'description'] },
        { word: 'branch', fields: ['name', 'description'] },
      ],
    });
    expect(output.matches[1]?.enabled).toBe(false);
    expect(output.matches).toHaveLength(2);
  });

  it("finds a user's own tools for that user alone", async () => {
    const { search } = await setUp();
    expect(matchNames(await search({ query: 'secret zebras' }, { user: 'ann' }))).toEqual(['branch_secret']);
    expect(matchNames(await search({ query: 'secret zebras' }, { user: 'bob' }))).toEqual([]);
    expect(matchNames(await search({ query: 'secret zebras' }))).toEqual([]);
  });

  it("answers another user as if a user's own tools did not exist", async () => {
    const withOthers = await setUp();
    const without = await setUp({ tools: SYSTEM_TOOLS });
    for (const query of ['branch', 'secrte branch', 'zebras', 'zebra notes of a branch']) {
      expect(await withOthers.search({ query }, { user: 'bob' })).toEqual(
        await without.search({ query }, { user: 'bob' }),
      );
    }
  });

  it('answers as if what policy denies did not exist, also in the question back', async () => {
    const isAllowed = ({ category }: Tool) => category !== 'git';
    const denying = await setUp();
    const without = await setUp({ tools: TOOLS.filter(isAllowed) });
    for (const query of ['branch', 'brnach', 'delete a branch', 'xylophone']) {
      const denied = await denying.search({ query }, { isAllowed });
      expect(denied).toEqual(await without.search({ query }));
      expect(JSON.stringify(denied)).not.toMatch(/git/u);
    }
  });

  it('remembers an audience, and tells two apart', async () => {
    const { search } = await setUp();
    const asked: string[] = [];
    const low = (tool: Tool) => {
      asked.push(tool.name);
      return tool.risk === 'low';
    };
    const first = await search({ query: 'branch' }, { isAllowed: low, audience: 'low' });
    const count = asked.length;
    expect(await search({ query: 'branch' }, { isAllowed: low, audience: 'low' })).toEqual(first);
    expect(asked).toHaveLength(count);
    expect(matchNames(await search({ query: 'branch' }, { audience: 'all' }))).toContain('git_branch_create');
    expect(matchNames(first)).not.toContain('git_branch_create');
  });

  it('asks anew for every search of a caller without an audience', async () => {
    const { search } = await setUp();
    expect(matchNames(await search({ query: 'branch' }, { isAllowed: () => false }))).toEqual([]);
    expect(matchNames(await search({ query: 'branch' }, { isAllowed: () => true }))).not.toEqual([]);
  });

  it("lets a user's own tool take the place of the system's of the same name", async () => {
    const own = makeTool('file_read', { description: 'My way to return a file.', scope: { user: 'ann' } });
    const { search } = await setUp({ tools: [...SYSTEM_TOOLS, own] });
    const found = await search({ query: 'file_read' }, { user: 'ann' });
    expect(found.matches.filter(({ name }) => name === 'file_read')).toMatchObject([{ description: own.description }]);
    const others = await search({ query: 'file_read' }, { user: 'bob' });
    expect(others.matches[0]?.description).toBe('Return the text of a file.');
  });

  it('never finds what is out of service', async () => {
    const { search } = await setUp();
    expect(matchNames(await search({ query: 'old_branch', top_k: 50 }))).not.toContain('old_branch');
  });

  it.each([
    ['three and five', true as const, 3, 2],
    ['as many as asked', { system: 1, user: 1 }, 1, 1],
    ['none of one', { system: 0, user: 1 }, 0, 1],
  ])('counts the scopes apart on demand: %s', async (_, per_scope, system, user) => {
    const { search } = await setUp();
    const found = matchNames(await search({ query: 'branch', top_k: 1, per_scope }, { user: 'ann' }));
    const own = OWN_TOOLS.map(({ name }) => name);
    expect(found.filter((name) => own.includes(name))).toHaveLength(user);
    expect(found.filter((name) => !own.includes(name))).toHaveLength(system);
  });

  it.each([
    ['nothing', 'xylophone', 'xylophone', []],
    ['next to nothing', 'xylophone saxophone trombone text orchestra', 'No tool fits', ['file_read']],
  ])('asks back when it found %s, between the nearest groups', async (_, query, __, found) => {
    const { search } = await setUp();
    const output = await search({ query });
    expect(matchNames(output)).toEqual(found);
    expect(output.need_clarification?.question).toMatch(
      found.length > 0 ? /about files, or/u : /about git or files, or/u,
    );
    expect(output.fallback?.suggestion).toMatch(/[Ss]earch again/u);
  });

  it('asks back in the language of the query', async () => {
    const { search } = await setUp();
    expect((await search({ query: '明天天气' })).need_clarification?.question).toMatch(/^没有找到.*“git”/u);
  });

  it('gives as many as are asked for, five where nothing is said, also where better ones may not be seen', async () => {
    const { search } = await setUp();
    const all = await search({ query: 'branch', top_k: 50 });
    const [best] = matchNames(all);
    const isAllowed = ({ name }: Tool) => name !== best;
    expect(all.matches.length).toBe(4);
    expect(matchNames(await search({ query: 'branch', top_k: 2 }, { isAllowed }))).toHaveLength(2);
    const many = await setUp({ tools: Array.from({ length: 9 }, (_, place) => makeTool(`branch_${place}`, {})) });
    expect((await many.search({ query: 'branch' })).matches).toHaveLength(5);
  });

  it('scores each match above nothing, best first, whatever the case of the letters', async () => {
    const { search } = await setUp();
    const { matches } = await search({ query: 'create a BRANCH', top_k: 9 });
    const scores = matches.map(({ score }) => score);
    expect(Math.min(...scores)).toBeGreaterThan(0);
    expect(scores).toEqual([...scores].sort((one, other) => other - one));
    expect(matches).toEqual((await search({ query: 'Create A branch', top_k: 9 })).matches);
  });

  it('shortens a long description, and marks it', async () => {
    const long = makeTool('long_story', { description: `Tells a story. ${'And more. '.repeat(60)}` });
    const { search } = await setUp({ tools: [long] });
    expect((await search({ query: 'story' })).matches[0]?.description).toBe('Tells a story. …');
  });

  it('hears of a changed catalogue at the next search, and says that the last index answers meanwhile', async () => {
    let catalog = createCatalog(TOOLS);
    const { index, search } = createDiscovery({ catalog: () => catalog });
    await index.settled();
    const changed = makeTool('file_delete', { description: 'Delete a zebra.' });
    catalog = createCatalog([...TOOLS.filter(({ name }) => name !== 'file_delete' && name !== 'git_push'), changed]);
    const ask = (query: string) => search({ query, top_k: 10, per_scope: false }, callerOf(catalog.tools));
    const meanwhile = await ask('delete a file, push a branch');
    expect(meanwhile.index).toBe('building');
    expect(matchNames(meanwhile)).toContain('git_branch_show');
    expect(matchNames(meanwhile)).not.toContain('git_push');
    expect(matchNames(meanwhile)).not.toContain('file_delete');
    await index.settled();
    const after = await ask('delete a zebra');
    expect(after.index).toBe('ready');
    expect(after.matches[0]).toMatchObject({ name: 'file_delete', description: 'Delete a zebra.' });
  });

  it('says what is in the way when there is no index, and finds nothing instead', async () => {
    const { search } = await setUp({ index: { rebuildsItself: false } });
    const output = await search({ query: 'branch' });
    expect(searchOutputSchema.parse(output)).toEqual(output);
    expect(output).toMatchObject({ matches: [], error: { code: 'index_not_ready' } });
  });
});
