/** Known names that may be meant by one that does not exist. They are suggested to people and never used. */
import { distance } from 'fastest-levenshtein';

export interface NearestOptions {
  /** Letters that may be wrong, as a share of the letters. Default: 0.4. */
  maxSlips?: number;
}

const MAX_SLIPS = 0.4;
const LONGEST_CHARACTERS = 100;
const MOST_NAMES = 3;

/** The known name with the fewest wrong letters, whatever its case. */
export function nearestName(
  wrong: string,
  known: readonly string[],
  { maxSlips = MAX_SLIPS }: NearestOptions = {},
): string | undefined {
  return nearest(known, (name) => slipsOf(wrong, name, maxSlips))[0];
}

/** Up to three: those with the fewest wrong letters, then those that share all words of the shorter name. */
export function nearestNames(wrong: string, known: readonly string[]): string[] {
  const words = wordsOf(wrong);
  const byWords = (name: string) => {
    const others = wordsOf(name);
    const shared = [...words].filter((word) => others.has(word)).length;
    const isPart = shared > 0 && (shared === words.size || (shared > 1 && shared === others.size));
    return isPart ? LONGEST_CHARACTERS + words.size + others.size - 2 * shared : undefined;
  };
  return nearest(known, (name) => slipsOf(wrong, name, MAX_SLIPS) ?? byWords(name)).slice(0, MOST_NAMES);
}

/** For the end of a message; empty where no name is near. */
export function nearHint(wrong: string, known: readonly string[]): string {
  const near = nearestNames(wrong, known);
  return near.length === 0 ? '' : `; near: ${near.join(', ')}`;
}

function nearest(known: readonly string[], rank: (name: string) => number | undefined): string[] {
  return known
    .map((name) => ({ name, rank: rank(name) ?? Number.POSITIVE_INFINITY }))
    .filter((one) => Number.isFinite(one.rank))
    .sort((one, other) => one.rank - other.rank)
    .map(({ name }) => name);
}

function slipsOf(wrong: string, name: string, maxSlips: number): number | undefined {
  const most = maxSlips * wrong.length;
  if (wrong.length > LONGEST_CHARACTERS || Math.abs(name.length - wrong.length) > most) return undefined;
  const slips = distance(wrong.toLowerCase(), name.toLowerCase());
  return slips <= most ? slips : undefined;
}

function wordsOf(name: string): ReadonlySet<string> {
  const words = name.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u);
  return new Set(words.filter(Boolean).map((word) => word.toLowerCase()));
}
