/** The tools on offer of which words stand in the request, and what they need besides. */
import { missingProducers } from '../catalog/producers.js';
import type { View } from '../catalog/scope.js';
import type { Tool } from '../catalog/tool.js';
import type { Request } from '../request.js';
import type { Selection } from '../result.js';
import { keywordIndexOf } from '../search/keyword-index.js';
import type { RankedTool } from '../search/rank.js';
import { wordsOf } from '../search/words.js';
import { searchText } from './user-part.js';

export interface Offer {
  readonly view: View;
  readonly selection: Selection;
  readonly request: Request;
}

export interface Mention {
  readonly match: RankedTool;
  /** Of the best score of all tools. */
  readonly share: number;
}

/** A share. On NESTFUL 0.90 of the needed tools are above it, and 0.91 of those above it are needed. */
export const CLEARLY_MENTIONED = 0.3;

/** Best first; others on offer than those of the selection do not count. */
export function mentionedTools({ view, selection, request }: Offer): Mention[] {
  const offered = new Set(selection.tools.map((tool) => tool.name));
  const matches = keywordIndexOf(view).search(searchText(request), view.tools.length);
  const best = matches[0]?.score ?? 0;
  return matches
    .filter(({ tool }) => offered.has(tool.name))
    .map((match) => ({ match, share: best > 0 ? match.score / best : 0 }));
}

/** Nouns of the request, of those words that a tool was found by. */
export function nounsAsked(why: RankedTool['why']): string[] {
  return why.flatMap(({ asked }) => wordsOf(asked));
}

/** Names of the tools, each behind the producers on offer that it needs. */
export function namesWithProducers(tools: Iterable<Tool>, { view, selection, request }: Offer): string[] {
  const offered = new Set(selection.tools.map((tool) => tool.name));
  const names = new Set<string>();
  for (const tool of tools) {
    for (const { tool: producer } of missingProducers(tool, names, { view, request }))
      if (offered.has(producer.name)) names.add(producer.name);
    names.add(tool.name);
  }
  return [...names];
}
