/** The tools on offer of which words stand in the request, and what they need besides. */
import type { View } from '../catalog/scope.js';
import type { Tool } from '../catalog/tool.js';
import type { Request } from '../request.js';
import type { Selection } from '../result.js';
import { keywordIndexOf } from '../search/keyword-index.js';
import type { RankedTool } from '../search/rank.js';
import { missingProducers } from './producers/add-producers.js';
import { createProducerContext } from './producers/producer-context.js';
import { searchText } from './user-part.js';

/** Of the best score. On NESTFUL: 0.90 of the needed tools are above it, and 0.91 of those above it are needed. */
const MIN_SHARE = 0.3;

export interface Offer {
  readonly view: View;
  readonly selection: Selection;
  readonly request: Request;
}

export interface Mention extends RankedTool {
  /** Not far behind the best of all tools. */
  readonly isClear: boolean;
}

/** Best first; others on offer than those of the selection do not count. */
export function mentionedTools({ view, selection, request }: Offer): Mention[] {
  const offered = new Set(selection.tools.map((tool) => tool.name));
  const matches = keywordIndexOf(view).search(searchText(request), view.tools.length);
  const least = MIN_SHARE * (matches[0]?.score ?? 0);
  return matches
    .filter(({ tool }) => offered.has(tool.name))
    .map((match) => ({ ...match, isClear: match.score >= least }));
}

/** Names of the tools, each behind the producers on offer that it needs. */
export function namesWithProducers(tools: Iterable<Tool>, { view, selection, request }: Offer): string[] {
  const offered = new Set(selection.tools.map((tool) => tool.name));
  const context = createProducerContext(view, request);
  const names = new Set<string>();
  for (const tool of tools) {
    for (const { tool: producer } of missingProducers(tool, names, context))
      if (offered.has(producer.name)) names.add(producer.name);
    names.add(tool.name);
  }
  return [...names];
}
