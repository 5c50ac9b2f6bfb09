/** What makes ranking fast must change no answer: lists that are kept, and tools that are not looked at. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { createFoundLists, keyOf } from '../../../src/core/search/found-list.js';
import type { Layer } from '../../../src/core/search/layer.js';
import { type Learnt, rank } from '../../../src/core/search/rank.js';
import type { Reading } from '../../../src/core/search/reading.js';
import type { Segment } from '../../../src/core/search/segment.js';
import { loadFixtureTools, loadSearchCases } from '../../support/fixtures.js';
import { generalTable, layerOf, NO_SYNONYMS, segmentOf } from './setup.js';

const SYNONYMS = generalTable();
const queries = loadSearchCases()
  .map(({ query }) => query)
  .filter((_, place) => place % 9 === 0);

let tools: Tool[];
/** Of all of them; what it keeps of the queries of one test must change nothing in another. */
let segment: Segment;
beforeAll(async () => {
  const once = await loadFixtureTools();
  tools = [0, 1, 2, 3].flatMap((round) =>
    once.map((tool) => ({ ...tool, name: `${tool.name}_${round}`, scope: 'system' as const })),
  );
  segment = segmentOf(tools);
});

const mask = (isVisible: (tool: Tool, place: number) => boolean) =>
  Uint8Array.from(tools, (tool, place) => Number(isVisible(tool, place)));

const answerOf = (found: ReturnType<typeof rank>) => found.map(({ tool, score, why }) => [tool.name, score, why]);

describe('the best few', () => {
  it.each<[string, () => Layer[]]>([
    ['of all tools', () => [{ segment }]],
    ['of those that may be seen', () => [{ segment, visible: mask(({ risk }) => risk !== 'low') }]],
    [
      'of two layers',
      () => [
        layerOf(tools.slice(0, 60), ({ name }) => name.length % 2 === 0),
        layerOf(tools.slice(60), ({ name }) => name.length % 3 > 0),
      ],
    ],
  ])('%s are the first of all that match', (_, make) => {
    const layers = make();
    for (const query of queries) {
      // So many that no tool is passed over.
      const all = rank(query, layers, { limit: 10_000, synonyms: SYNONYMS });
      for (const limit of [1, 3, 10]) {
        const best = rank(query, layers, { limit, synonyms: SYNONYMS });
        expect([query, answerOf(best)]).toEqual([query, answerOf(all.slice(0, limit))]);
      }
    }
  });

  it('are found whatever use has taught', () => {
    const layers = [{ segment }];
    const learnt: Learnt = {
      boost: (name) => (name.endsWith('_2') ? 1.3 : 1),
      toolsOf: (term) => new Map(term === 'file' ? [['git_log_1', 0.9]] : []),
    };
    for (const query of queries.slice(0, 40)) {
      const all = rank(query, layers, { limit: 10_000, synonyms: SYNONYMS, learnt });
      const best = rank(query, layers, { limit: 3, synonyms: SYNONYMS, learnt });
      expect([query, answerOf(best)]).toEqual([query, answerOf(all.slice(0, 3))]);
    }
  });
});

describe('what is kept of earlier queries', () => {
  it('gives the answer that an index gives which was asked nothing before, to each audience its own', () => {
    const audiences: Layer[] = [
      { segment },
      { segment, visible: mask((_, place) => place % 2 === 0) },
      { segment, visible: mask((_, place) => place % 5 > 0) },
    ];
    for (const [place, query] of queries.entries()) {
      const layer = audiences[place % audiences.length] as Layer;
      const fresh = { ...layer, segment: { ...segment, found: createFoundLists(segment) } };
      const options = { limit: 5, synonyms: SYNONYMS };
      expect([query, answerOf(rank(query, [layer], options))]).toEqual([
        query,
        answerOf(rank(query, [fresh], options)),
      ]);
    }
  });

  it('is another where the synonyms are others', async () => {
    const layers = [layerOf(await loadFixtureTools())];
    const names = (synonyms: ReturnType<typeof generalTable>) =>
      rank('purge', layers, { limit: 3, synonyms }).map(({ tool }) => tool.name);
    expect(names(SYNONYMS).length).toBeGreaterThan(0);
    expect(names(NO_SYNONYMS)).toEqual([]);
  });

  it('is bounded: the oldest lists go, and come again when they are asked for', async () => {
    const tools = await loadFixtureTools();
    const segment = segmentOf(tools);
    const lists = createFoundLists(segment, { maxEntries: 100 });
    const terms = segment.postings.terms.filter((_, place) => place % 3 === 0);
    const find = (term: string) => {
      const readings: Reading[] = [{ terms: [term], weight: 1 }];
      return lists.find(keyOf(readings), readings);
    };
    const [first = ''] = terms;
    const before = find(first);
    expect(find(first)).toBe(before);
    for (const term of terms) find(term);
    expect(lists.entries()).toBeLessThanOrEqual(100);
    expect(find(first)).not.toBe(before);
    expect(find(first)).toEqual(before);
  });
});
