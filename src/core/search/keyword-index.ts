/** Ranked, explained keyword matches over the tools of a view: the engine of `rank.ts` with what selection asks of it. */
import type { View } from '../catalog/scope.js';
import type { Tool } from '../catalog/tool.js';
import { fieldWeightsSchema } from './fields.js';
import { type RankedTool, rank } from './rank.js';
import { buildSegment, runWhole } from './segment.js';
import { generalTable } from './synonym-tables.js';

export interface KeywordIndex {
  /** Best first; ties keep the order of the catalogue. An empty list when no word matches. */
  search(query: string, limit: number): RankedTool[];
}

/**
 * A request speaks of what a tool takes more often than a search for a tool does: with the names of parameters, recall at
 * 8 is 0.87 against 0.86 on BFCL and 0.94 against 0.93 on ACEBench.
 */
const FIELD_WEIGHTS = fieldWeightsSchema.parse({ parameters: 0.15 });

export function createKeywordIndex(tools: readonly Tool[]): KeywordIndex {
  const layers = [{ segment: runWhole(buildSegment(tools, FIELD_WEIGHTS)) }];
  return { search: (query, limit) => rank(query, layers, { limit, synonyms: generalTable() }) };
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
