/** Suggests known names for one that does not exist. People read the suggestions; Winnow never uses them itself. */
import { distance } from 'fastest-levenshtein';

interface NearestOptions {
  /** Most wrong letters, as a share of the length. Default: 0.4. */
  maxSlips?: number;
}

const LONGEST_CHARACTERS = 100;
const MOST_NAMES = 3;

/** Up to three known names, by edit distance without regard to case, nearest first. */
export function nearestNames(
  wrong: string,
  known: readonly string[],
  { maxSlips = 0.4 }: NearestOptions = {},
): string[] {
  const most = maxSlips * wrong.length;
  const alike = (wrong.length > LONGEST_CHARACTERS ? [] : known)
    .filter((name) => Math.abs(name.length - wrong.length) <= most)
    .map((name) => ({ name, slips: slipsBetween(wrong.toLowerCase(), name.toLowerCase()) }))
    .filter(({ slips }) => slips <= most);
  return alike
    .sort((one, other) => one.slips - other.slips)
    .slice(0, MOST_NAMES)
    .map(({ name }) => name);
}

/** The edit distance; a swap of two neighbours is one slip. */
export function slipsBetween(one: string, other: string): number {
  const place = [...one].findIndex((letter, index) => letter !== other[index]);
  const swapped = `${one.slice(0, place)}${one[place + 1]}${one[place]}${one.slice(place + 2)}`;
  return place >= 0 && swapped === other ? 1 : distance(one, other);
}

export function nearestName(wrong: string, known: readonly string[], options?: NearestOptions): string | undefined {
  return nearestNames(wrong, known, options)[0];
}

const MOST_KEYS = 200;

/** Unknown keys that resemble a missing known key, each with that key; no code reads their values. Of many, the first 200. */
export function findSlips(written: object, known: readonly string[], maxSlips: number): [key: string, meant: string][] {
  const keys = Object.keys(written);
  const missing = known.filter((name) => !keys.includes(name));
  return keys.slice(0, MOST_KEYS).flatMap((key): [string, string][] => {
    const meant = known.includes(key) ? undefined : nearestName(key, missing, { maxSlips });
    return meant === undefined ? [] : [[key, meant]];
  });
}

export function nearHint(wrong: string, known: readonly string[]): string {
  const near = nearestNames(wrong, known);
  return near.length === 0 ? '' : `; near: ${near.join(', ')}`;
}
