/**
 * The tools that planning should look at first. Where selection chose, its choice; else those whose words stand in the
 * request, in the order in which it speaks of them. A small model that reads many schemas forgets the first ones.
 */
import type { View } from '../catalog/scope.js';
import type { Request } from '../request.js';
import type { Selection } from '../result.js';
import { keywordIndexOf } from '../search/keyword-index.js';
import type { RankedTool } from '../search/rank.js';
import { wordsOf } from '../search/words.js';
import { missingProducers } from './producers/add-producers.js';
import { createProducerContext } from './producers/producer-context.js';
import { isNoun } from './producers/vocabulary.js';
import { searchText } from './user-part.js';

/** Of the best score. On NESTFUL: 0.90 of the needed tools are above it, and 0.91 of those above it are needed. */
const MIN_SHARE = 0.3;

/** Names out of the selection, in a likely order of their use. */
export function likelyTools(view: View, selection: Selection, request: Request): string[] {
  if (selection.mode === 'selected') return selection.tools.filter((tool) => !tool.fill).map((tool) => tool.name);
  const offered = new Set(selection.tools.map((tool) => tool.name));
  const text = searchText(request);
  const matches = keywordIndexOf(view).search(text, view.tools.length);
  const least = MIN_SHARE * (matches[0]?.score ?? 0);
  const likely = matches.filter(({ tool, score }) => offered.has(tool.name) && score >= least);
  const words = wordsOf(text);
  const places = new Map(likely.filter(tellsSomething).map((match) => [match.tool, placeOf(match, words)]));
  const byMention = [...places].sort(([, one], [, other]) => one - other).map(([tool]) => tool);
  const context = createProducerContext(view, request);
  const names = new Set<string>();
  for (const tool of byMention) {
    for (const { tool: producer } of missingProducers(tool, names, context))
      if (offered.has(producer.name)) names.add(producer.name);
    names.add(tool.name);
  }
  return [...names];
}

/** "get" and "find" stand in any request. */
function tellsSomething({ why }: RankedTool): boolean {
  return why.some(({ asked }) => wordsOf(asked).some(isNoun));
}

/** Middle of the places in the request at which words of the tool stand, those of its name before all others. */
function placeOf({ why }: RankedTool, words: readonly string[]): number {
  const inName = why.filter(({ fields }) => fields.includes('name'));
  const known = new Set((inName.length > 0 ? inName : why).flatMap(({ asked }) => wordsOf(asked)));
  const places = words.flatMap((word, place) => (known.has(word) ? [place] : []));
  return places.length === 0 ? words.length : places.reduce((sum, place) => sum + place, 0) / places.length;
}
