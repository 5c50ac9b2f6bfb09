/** Names of tools that may be meant by one that does not exist. Only of those that are given, so nothing hidden is hinted at. */

import { splitIdentifier } from '../../core/search/words.js';
import { slipsBetween } from '../../core/slips.js';

const MAX_NAMES = 3;
/** In letters; more would be another name. */
const MAX_SLIPS = 2;

/** The nearest first: by slips of the pen, then those that have all words of it, then those of which it has all. */
export function similarNames(name: string, known: readonly string[]): string[] {
  const wanted = name.toLowerCase();
  const words = new Set(splitIdentifier(name));
  const near = known.flatMap((one) => {
    const distance = distanceOf(one, wanted, words);
    return distance === undefined ? [] : [{ one, distance }];
  });
  return near
    .sort((first, second) => first.distance - second.distance)
    .slice(0, MAX_NAMES)
    .map(({ one }) => one);
}

function distanceOf(known: string, wanted: string, words: ReadonlySet<string>): number | undefined {
  if (Math.abs(known.length - wanted.length) <= MAX_SLIPS) {
    const slips = slipsBetween(known.toLowerCase(), wanted);
    if (slips <= MAX_SLIPS && slips * 2 < wanted.length) return slips;
  }
  const others = new Set(splitIdentifier(known));
  const shared = [...words].filter((word) => others.has(word)).length;
  if (words.size > 0 && shared === words.size) return MAX_SLIPS + 1 + others.size - shared;
  if (shared > 1 && shared === others.size) return MAX_SLIPS + 10 + words.size - shared;
  return undefined;
}

/** For the end of a message; empty where none is near. */
export function nearHint(name: string, known: readonly string[]): string {
  const near = similarNames(name, known);
  return near.length === 0 ? '' : `; near: ${near.join(', ')}`;
}
