/** What the example catalogues promise by name: the tools and requests of their sources, whole schemas, private tools that clash, and cases of every kind. */
import { describe, expect, it } from 'vitest';
import { isObject } from '../src/core/catalog/schema/json.js';
import type { JsonSchema, Tool } from '../src/core/catalog/tool.js';
import { FIXTURES, type FixtureCase, type FixtureName, loadFixture, loadFixtureCases } from './support/fixtures.js';

async function toolsOf(name: FixtureName) {
  return (await loadFixture(name)).catalog.tools;
}

/** Fields without a type or a description, and a result without fields; a tool may well take no argument. */
function gapsOf({ name, inputSchema, outputSchema = {} }: Tool): string[] {
  const fields = (schema: JsonSchema) => Object.entries(Object(schema.properties));
  const gaps = (place: string, schema: JsonSchema) =>
    fields(schema).flatMap(([field, value]) => {
      const { description, ...form } = Object(value);
      const isWhole = description && ['type', 'enum', 'const', 'anyOf', 'oneOf', '$ref'].some((key) => key in form);
      return isWhole ? [] : [`${name} ${place} ${field}`];
    });
  return [
    ...(inputSchema.type === 'object' && isObject(inputSchema.properties) ? [] : [`${name} input`]),
    ...(outputSchema.type === 'object' && fields(outputSchema).length > 0 ? [] : [`${name} output`]),
    ...gaps('input', inputSchema),
    ...gaps('output', outputSchema),
  ];
}

describe.each(FIXTURES)('the tools of %s', (name) => {
  it('have whole schemas, in and out, with every field described', async () => {
    expect((await toolsOf(name)).flatMap(gapsOf)).toEqual([]);
  });

  it('all have keywords, and some have companions', async () => {
    const tools = await toolsOf(name);
    expect(tools.filter(({ keywords }) => keywords.length === 0).map((tool) => tool.name)).toEqual([]);
    expect(tools.filter(({ relatedTools }) => relatedTools.length > 0).length).toBeGreaterThanOrEqual(3);
  });
});

type Kind = 'single' | 'compound' | 'followup' | 'irrelevant' | 'clarification';
const isPlan = (one: FixtureCase) => one.expectedKind === 'plan' && one.expectedSteps.length > 0;
/** What a case of a kind looks like, besides its tag. */
const KINDS: [Kind, (one: FixtureCase) => boolean][] = [
  ['single', isPlan],
  ['compound', (one) => isPlan(one) && one.expectedSteps.length > 1],
  ['followup', (one) => isPlan(one) && (one.history ?? []).length > 0],
  ['irrelevant', (one) => one.expectedKind === 'unplannable' && one.expectedTools.length === 0],
  ['clarification', (one) => one.expectedKind === 'clarification'],
];

describe.each(FIXTURES)('the cases of %s', (name) => {
  const cases = loadFixtureCases(name);

  it.each(KINDS)('hold at least 5 of the kind %s, each of that form', (kind, isOfForm) => {
    const some = cases.filter(({ tags }) => tags.includes(kind));
    expect(some.length).toBeGreaterThanOrEqual(5);
    expect(some.filter((one) => !isOfForm(one)).map(({ id }) => id)).toEqual([]);
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
