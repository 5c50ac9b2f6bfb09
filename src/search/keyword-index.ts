/**
 * Ranked, explained keyword matches over the tools of a view: BM25 (MiniSearch) with field weights.
 * Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
 */
import MiniSearch, { type SearchOptions } from 'minisearch';
import type { View } from '../catalog/scope.js';
import type { Tool } from '../catalog/tool.js';
import { fieldTexts, type SearchField } from './fields.js';
import { wordsOf } from './words.js';

export interface KeywordMatch {
  readonly tool: Tool;
  /** BM25 score; comparable within one search. */
  readonly score: number;
  /** Word of the tool -> the fields in which it was found. */
  readonly matched: Readonly<Record<string, readonly string[]>>;
}

export interface KeywordIndex {
  /** Best first; ties keep the order of the catalogue. An empty list when no word matches. */
  search(query: string, limit: number): KeywordMatch[];
}

export const FIELD_WEIGHTS = {
  name: 3,
  aliases: 3,
  keywords: 2.5,
  title: 1.5,
  category: 1,
  description: 1.5,
  parameters: 0.5,
} as const satisfies Record<SearchField, number>;

const SEARCH_OPTIONS: SearchOptions = {
  boost: FIELD_WEIGHTS,
  combineWith: 'OR',
  processTerm: (term) => term,
  prefix: (term) => term.length > 3,
  weights: { fuzzy: 0.3, prefix: 0.4 },
};

export function createKeywordIndex(tools: readonly Tool[]): KeywordIndex {
  const known = new Set<string>();
  // A word that some tool has is no slip of the pen. Looking for its neighbours took half the time and found no more.
  const fuzzy = (term: string) => (term.length > 5 && !known.has(term) && /^[a-z]+$/u.test(term) ? 0.2 : false);
  const index = new MiniSearch<Record<SearchField, string> & { id: number }>({
    fields: Object.keys(FIELD_WEIGHTS),
    tokenize: wordsOf,
    processTerm: (term) => {
      known.add(term);
      return term;
    },
    searchOptions: { ...SEARCH_OPTIONS, fuzzy },
  });
  index.addAll(tools.map((tool, id) => ({ id, ...fieldTexts(tool) })));
  return {
    search(query, limit) {
      const hits = index.search(query).sort((a, b) => b.score - a.score || Number(a.id) - Number(b.id));
      return hits.slice(0, limit).flatMap((hit) => {
        const tool = tools[Number(hit.id)];
        return tool ? [{ tool, score: hit.score, matched: hit.match }] : [];
      });
    },
  };
}

const indexes = new WeakMap<View, KeywordIndex>();

/** The index of a view, built at its first use. */
export function keywordIndexOf(view: View): KeywordIndex {
  let index = indexes.get(view);
  if (!index) {
    index = createKeywordIndex(view.tools);
    indexes.set(view, index);
  }
  return index;
}
