/**
 * The tools that planning should look at first. Where selection chose, its choice; else those whose words stand in the
 * request, in the order in which it speaks of them. A small model that reads many schemas forgets the first ones.
 */
import type { RankedTool } from '../search/rank.js';
import { wordsOf } from '../search/words.js';
import {
  CLEARLY_MENTIONED,
  type Mention,
  mentionedTools,
  namesWithProducers,
  nounsAsked,
  type Offer,
} from './mentioned.js';
import { searchText } from './user-part.js';

/** Names out of the selection, in a likely order of their use. */
export function likelyTools(offer: Offer): string[] {
  const { selection, request } = offer;
  if (selection.mode === 'selected') return selection.tools.filter((tool) => !tool.fill).map((tool) => tool.name);
  const words = wordsOf(searchText(request));
  const mentioned = mentionedTools(offer).filter(isLikely);
  const places = new Map(mentioned.map(({ match }) => [match.tool, placeOf(match, words)]));
  const byMention = [...places].sort(([, one], [, other]) => one - other).map(([tool]) => tool);
  return namesWithProducers(byMention, offer);
}

/** "get" and "find" stand in any request. */
function isLikely({ match, share }: Mention): boolean {
  return share >= CLEARLY_MENTIONED && nounsAsked(match.why).length > 0;
}

/** Middle of the places in the request at which words of the tool stand, those of its name before all others. */
function placeOf({ why }: RankedTool, words: readonly string[]): number {
  const inName = why.filter(({ fields }) => fields.includes('name'));
  const known = new Set((inName.length > 0 ? inName : why).flatMap(({ asked }) => wordsOf(asked)));
  const places = words.flatMap((word, place) => (known.has(word) ? [place] : []));
  return places.length === 0 ? words.length : places.reduce((sum, place) => sum + place, 0) / places.length;
}
