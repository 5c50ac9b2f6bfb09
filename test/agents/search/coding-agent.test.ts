/**
 * The bar of the rules alone: of queries as agents write them, how many have a right tool among the first three. Each part
 * was written when the ranking was finished, and measured once before it became material for the next round. Fresh,
 * `held-out-1` (short and plain) had 0.982, `held-out-2` (long and vague) 0.870 and `held-out-3` 0.911. Then the tools of
 * the catalogue got examples of how people ask, from 600 queries of earlier rounds that are no longer here; after that
 * `held-out-4` was written and had 0.936, and when nothing of the ranking had changed for it, `held-out-5`, which had
 * 0.976. With MiniSearch and a Chinese dictionary in place of an own engine and English synonyms all have 0.933, and the 265
 * queries of these two parts 0.921: that is the honest expectation for queries that nobody has seen.
 */
import { describe, expect, it } from 'vitest';
import { createDiscovery } from '../../../src/agents/search/discovery.js';
import { loadSynonyms } from '../../../src/agents/search/source-synonyms.js';
import { createScope } from '../../../src/core/catalog/scope.js';
import { loadFixture, loadSearchCases } from '../../support/fixtures.js';

const cases = loadSearchCases();
const answerable = cases.filter(({ expected }) => expected.length > 0);

const PARTS: readonly [string, number][] = [
  ['held-out-1', 0.95],
  ['held-out-2', 0.93],
  ['held-out-3', 0.93],
  ['held-out-4', 0.9],
  ['held-out-5', 0.93],
];

async function createSearch() {
  const { catalog } = await loadFixture('coding-agent');
  const synonyms = await loadSynonyms('fixtures/catalogs/coding-agent.json');
  const discovery = createDiscovery({ catalog: () => catalog, synonyms });
  const caller = { view: createScope(catalog)({}), isAllowed: () => true, isEnabled: () => false, audience: 'all' };
  await discovery.index.settled();
  return (query: string) => discovery.search({ query, top_k: 3, per_scope: false, detail: 'signature' }, caller);
}

const search = createSearch();
const answers = new Map<string, ReturnType<Awaited<typeof search>>>();

/** Each query is searched once, however many tests ask for it. */
async function find(query: string) {
  const answer = answers.get(query) ?? (await search)(query);
  answers.set(query, answer);
  return answer;
}

describe('the queries for the coding agent', () => {
  it('are at least 200 that have an answer, none of them an example of the catalogue, with ids of their own', async () => {
    expect(answerable.length).toBeGreaterThanOrEqual(200);
    for (const [part] of PARTS) expect(answerable.filter((one) => one.part === part).length).toBeGreaterThan(100);
    const { catalog } = await loadFixture('coding-agent');
    const examples = new Set(catalog.tools.flatMap((tool) => tool.examples));
    expect(examples.size).toBeGreaterThan(500);
    expect(cases.filter(({ query }) => examples.has(query))).toEqual([]);
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

  async function shareOfHits(asked: typeof answerable): Promise<number> {
    let hits = 0;
    for (const { query, expected } of asked) {
      const { matches } = await find(query);
      if (matches.some(({ name }) => expected.includes(name))) hits += 1;
    }
    return hits / asked.length;
  }

  it('have a right tool among the first three in 93 of 100', async () => {
    expect(await shareOfHits(answerable)).toBeGreaterThanOrEqual(0.93);
  });

  it.each(PARTS)('of the part %s have one in a share of %d', async (part, bar) => {
    expect(await shareOfHits(answerable.filter((one) => one.part === part))).toBeGreaterThanOrEqual(bar);
  });

  it('that no tool answers are mostly met with a question', async () => {
    const unanswerable = cases.filter(({ expected }) => expected.length === 0);
    const found = await Promise.all(unanswerable.map(({ query }) => find(query)));
    const asking = found.filter(({ need_clarification }) => need_clarification);
    expect(asking.length / found.length).toBeGreaterThanOrEqual(0.7);
  });

  it('that a tool answers are rarely met with a question', async () => {
    const found = await Promise.all(answerable.map(({ query }) => find(query)));
    const asking = found.filter(({ need_clarification }) => need_clarification);
    expect(asking.length / found.length).toBeLessThanOrEqual(0.05);
  });
});
