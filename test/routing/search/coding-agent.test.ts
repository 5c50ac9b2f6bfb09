/**
 * The bar of the rules alone: of queries as agents write them, how many have a right tool among the first three. Each part
 * was written when the ranking was finished, measured once, and became material for the next round where it fell short:
 * fresh, `development-2` had 0.919, `development-3` 0.883, `development-4` 0.907 and `held-out` 0.982. The last one is
 * the shortest and plainest in its words, so for longer and vaguer queries about 0.9 is the honest expectation.
 */
import { describe, expect, it } from '@jest/globals';
import { createScope } from '../../../src/catalog/scope.js';
import { createDiscovery } from '../../../src/routing/search/discovery.js';
import { loadSynonyms } from '../../../src/search/synonyms.js';
import { loadFixture, loadSearchCases } from '../../support/fixtures.js';

const cases = loadSearchCases();
const answerable = cases.filter(({ expected }) => expected.length > 0);

async function createSearch() {
  const { catalog } = await loadFixture('coding-agent');
  const synonyms = await loadSynonyms('fixtures/catalogs/coding-agent.json');
  const discovery = createDiscovery({ catalog: () => catalog, synonyms });
  const caller = { view: createScope(catalog)({}), isAllowed: () => true, isEnabled: () => false, audience: 'all' };
  await discovery.index.settled();
  return (query: string) => discovery.search({ query, top_k: 3, per_scope: false }, caller);
}

const search = createSearch();

describe('the queries for the coding agent', () => {
  it('are at least 200 that have an answer, half of them held out, with ids and queries of their own', () => {
    expect(answerable.length).toBeGreaterThanOrEqual(200);
    expect(answerable.filter(({ part }) => part === 'held-out').length).toBeGreaterThanOrEqual(100);
    expect(answerable.filter(({ part }) => part !== 'held-out').length).toBeGreaterThanOrEqual(100);
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
    expect(new Set(cases.map(({ query }) => query)).size).toBe(cases.length);
    expect(answerable.filter(({ lang }) => lang === 'zh').length).toBeGreaterThan(60);
  });

  it('expect tools that there are, and together every tool', async () => {
    const { catalog } = await loadFixture('coding-agent');
    const names = new Set(catalog.tools.map(({ name }) => name));
    const expected = new Set(answerable.flatMap((one) => one.expected));
    expect([...expected].filter((name) => !names.has(name))).toEqual([]);
    expect([...names].filter((name) => !expected.has(name))).toEqual([]);
  });

  it.each(['development', 'development-2', 'development-3', 'development-4', 'held-out'])(
    'of the part %s have a right tool among the first three in 95 of 100',
    async (part) => {
      const find = await search;
      const asked = answerable.filter((one) => one.part === part);
      let hits = 0;
      for (const { query, expected } of asked) {
        const { matches } = await find(query);
        if (matches.some(({ name }) => expected.includes(name))) hits += 1;
      }
      expect(hits / asked.length).toBeGreaterThanOrEqual(0.95);
    },
  );

  it('that no tool answers are mostly met with a question', async () => {
    const find = await search;
    const unanswerable = cases.filter(({ expected }) => expected.length === 0);
    const answers = await Promise.all(unanswerable.map(({ query }) => find(query)));
    const asking = answers.filter(({ need_clarification }) => need_clarification);
    expect(asking.length / answers.length).toBeGreaterThanOrEqual(0.7);
  });

  it('that a tool answers are rarely met with a question', async () => {
    const find = await search;
    const answers = await Promise.all(answerable.map(({ query }) => find(query)));
    const asking = answers.filter(({ need_clarification }) => need_clarification);
    expect(asking.length / answers.length).toBeLessThanOrEqual(0.05);
  });
});
