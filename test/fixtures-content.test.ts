/** What the example catalogues promise by name: the tools and requests of their sources, whole schemas, private tools that clash. */
import { describe, expect, it } from '@jest/globals';
import { FIXTURES, type FixtureName, loadFixture, loadFixtureCases } from './support/fixtures.js';

async function toolsOf(name: FixtureName) {
  return (await loadFixture(name)).catalog.tools;
}

describe.each(FIXTURES)('the tools of %s', (name) => {
  it('have whole schemas, in and out, and some have companions', async () => {
    const tools = await toolsOf(name);
    expect(tools.filter(({ outputSchema }) => outputSchema === undefined).map((tool) => tool.name)).toEqual([]);
    expect(tools.filter(({ inputSchema }) => inputSchema.type !== 'object').map((tool) => tool.name)).toEqual([]);
    expect(tools.some(({ relatedTools }) => relatedTools.length > 0)).toBe(true);
  });
});

describe('hydrology', () => {
  it('has the tools that its source names', async () => {
    const names = (await toolsOf('hydrology')).map((tool) => tool.name);
    expect(names).toEqual(
      expect.arrayContaining([
        'lookup_station_code',
        'query_reservoir_last',
        'query_reservoir_process',
        'query_river_last',
        'query_river_process',
        'query_rain_process',
        'query_rain_statistics',
        'query_rain_sum',
        'query_ai_water_last',
        'query_ai_rain_last',
        'search_knowledge',
      ]),
    );
  });

  it.each([
    ['盘石头水库当前水位', ['lookup_station_code', 'query_reservoir_last']],
    ['启动自动预报', ['start_auto_forecast']],
    ['修武站水位和雨量', ['lookup_station_code', 'query_river_last', 'query_rain_sum']],
  ])('has the request "%s" of its source among its cases', (query, tools) => {
    const found = loadFixtureCases('hydrology').filter((one) => one.query === query);
    expect(found.map(({ expectedTools }) => [...expectedTools].sort())).toEqual([[...tools].sort()]);
  });
});

describe('assistant', () => {
  it('has at least 40 system tools, and two users whose private tools clash in name', async () => {
    const tools = await toolsOf('assistant');
    expect(tools.filter(({ scope }) => scope === 'system').length).toBeGreaterThanOrEqual(40);
    const namesOf = (user: string) =>
      tools.flatMap(({ name, scope }) => (scope !== 'system' && scope.user === user ? [name] : []));
    const users = [...new Set(tools.flatMap(({ scope }) => (scope === 'system' ? [] : [scope.user])))];
    expect(users).toHaveLength(2);
    const [one = [], other = []] = users.map(namesOf);
    expect(one.filter((name) => other.includes(name))).not.toEqual([]);
  });
});
