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
  const mentioned = onlyLikely(mentionedTools(offer));
  const places = new Map(mentioned.map(({ match }) => [match.tool, placeOf(match, words)]));
  const byMention = [...places].sort(([, one], [, other]) => one - other).map(([tool]) => tool);
  return namesWithProducers(byMention, offer);
}

/** Of the best score. */
const NEARLY_AS_GOOD = 0.5;
/** In a request that speaks of less, the second tool of the same words is a step more often than an alternative. */
const CLEAR_REQUEST = 2;

/**
 * By nouns: "get" and "find" stand in any request. Behind some better matches, a tool of which they explain all nouns is an
 * alternative to them, unless it is nearly as good. On NESTFUL 0.95 of the tools are needed then (0.90 without), and 0.91 of
 * the needed ones are among them (0.92).
 */
function onlyLikely(mentions: readonly Mention[]): Mention[] {
  const explained = new Set<string>();
  const likely: Mention[] = [];
  for (const mention of mentions) {
    const nouns = nounsAsked(mention.match.why);
    const isAlternative = likely.length >= CLEAR_REQUEST && nouns.every((noun) => explained.has(noun));
    if (nouns.length === 0 || mention.share < (isAlternative ? NEARLY_AS_GOOD : CLEARLY_MENTIONED)) continue;
    likely.push(mention);
    for (const noun of nouns) explained.add(noun);
  }
  return likely;
}

/** Middle of the places in the request at which words of the tool stand, those of its name before all others. */
function placeOf({ why }: RankedTool, words: readonly string[]): number {
  const inName = why.filter(({ fields }) => fields.includes('name'));
  const known = new Set((inName.length > 0 ? inName : why).flatMap(({ asked }) => wordsOf(asked)));
  const places = words.flatMap((word, place) => (known.has(word) ? [place] : []));
  return places.length === 0 ? words.length : places.reduce((sum, place) => sum + place, 0) / places.length;
}
