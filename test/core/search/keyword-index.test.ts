import { describe, expect, it } from '@jest/globals';
import { createScope } from '../../../src/core/catalog/scope.js';
import { createKeywordSearch, keywordSearchOf } from '../../../src/core/search/rank.js';
import { loadFixture } from '../../support/fixtures.js';
import { makeTool, returning, TOOLS, viewOf } from '../selection/setup.js';

const index = createKeywordSearch(TOOLS);
const found = (query: string, limit = 10) => index(query, limit).map(({ tool }) => tool.name);

describe('keyword search', () => {
  it.each<[string, Parameters<typeof makeTool>[1]]>([
    ['its name', {}],
    ['an alias', { aliases: ['zebra'] }],
    ['a keyword', { keywords: ['zebra'] }],
    ['its title', { title: 'The zebra' }],
    ['its category', { category: 'zebra' }],
    ['its description', { description: 'Rides a zebra.' }],
    ['a parameter', { inputSchema: returning('zebra') }],
  ])('finds a tool by %s', (field, entry) => {
    const tool = makeTool(field === 'its name' ? 'zebra_ride' : 'other', entry);
    const [match] = createKeywordSearch([...TOOLS, tool])('zebra', 5);
    expect(match?.tool).toBe(tool);
    expect(match?.why.map(({ asked }) => asked)).toEqual(['zebra']);
  });

  it('explains a match by the fields', () => {
    const [match] = index('coffee', 1);
    expect(match?.why).toEqual([{ asked: 'coffee', word: 'coffee', fields: ['name'] }]);
  });

  it('takes a slip of a word for the word, but of none so long that nobody types it', () => {
    const slipOf = (word: string) => {
      const search = createKeywordSearch([...TOOLS, makeTool('other', { description: `Rides a ${word}.` })]);
      return search(word.replace('1', '2'), 5).map(({ tool }) => tool.name);
    };
    expect(slipOf('zebra1abcdefghij')).toEqual(['other']);
    expect(slipOf(`zebra1${'abcdefghij'.repeat(10)}`)).toEqual([]);
  });

  it('weighs the name above the description', () => {
    const tools = [makeTool('one', { description: 'A zebra.' }), makeTool('zebra', { description: 'One.' })];
    expect(createKeywordSearch(tools)('zebra', 2).map(({ tool }) => tool.name)).toEqual(['zebra', 'one']);
  });

  it('is best first, bounded, and keeps the order of the catalogue between equals', () => {
    const scores = index('coffee song mail', 10).map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(found('coffee song mail', 2)).toHaveLength(2);
    const equal = ['c', 'a', 'b'].map((name) => makeTool(`${name}1`, { description: 'zebra' }));
    expect(createKeywordSearch(equal)('zebra', 3).map(({ tool }) => tool.name)).toEqual(['c1', 'a1', 'b1']);
  });

  it.each([
    ['plurals', 'songs', 'play_song'],
    ['a slip of the pen', 'sprinklre', 'water_garden'],
    ['the beginning of a word', 'loudspeakers', 'play_song'],
  ])('forgives %s', (_, query, name) => {
    expect(found(query)).toEqual([name]);
  });

  it.each(['', '   ', '?!', 'the of and', 'xylophone'])('finds nothing for "%s"', (query) => {
    expect(found(query)).toEqual([]);
  });

  it('finds Chinese tools with a Chinese request', async () => {
    const hydrology = createScope((await loadFixture('hydrology')).catalog)({});
    const search = await keywordSearchOf(hydrology);
    const names = search('查一下水库的调度方案', 5).map(({ tool }) => tool.name);
    expect(names).toEqual(expect.arrayContaining(['list_dispatch_plans', 'get_dispatch_plan']));
  });

  it('is made once a view', () => {
    const view = viewOf(TOOLS);
    expect(keywordSearchOf(view)).toBe(keywordSearchOf(view));
  });

  it('never finds what the view does not hold', async () => {
    const secret = makeTool('zebra_ride', { scope: { user: 'ann' } });
    const search = await keywordSearchOf(viewOf([...TOOLS, secret]));
    expect(search('zebra ride', 10)).toEqual([]);
  });
});
