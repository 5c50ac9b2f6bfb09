/** Known names that may be meant by one that does not exist. They are suggested to people and never used. */
import { distance } from 'fastest-levenshtein';

export interface NearestOptions {
  maxSlips?: number;
}

const LONGEST_CHARACTERS = 100;
const MOST_NAMES = 3;

/** Up to three known names, those with the fewest wrong letters first, whatever their case. */
export function nearestNames(
  wrong: string,
  known: readonly string[],
  { maxSlips = 0.4 }: NearestOptions = {},
): string[] {
  const most = maxSlips * wrong.length;
  const alike = (wrong.length > LONGEST_CHARACTERS ? [] : known)
    .filter((name) => Math.abs(name.length - wrong.length) <= most)
    .map((name) => ({ name, slips: distance(wrong.toLowerCase(), name.toLowerCase()) }))
    .filter(({ slips }) => slips <= most);
  return alike
    .sort((one, other) => one.slips - other.slips)
    .slice(0, MOST_NAMES)
    .map(({ name }) => name);
}

export function nearestName(wrong: string, known: readonly string[], options?: NearestOptions): string | undefined {
  return nearestNames(wrong, known, options)[0];
}

/** Keys that are nearly a known one that is missing, each with it: nothing reads what stands under them. */
export function findSlips(written: object, known: readonly string[], maxSlips: number): [key: string, meant: string][] {
  const keys = Object.keys(written);
  const missing = known.filter((name) => !keys.includes(name));
  return keys.flatMap((key): [string, string][] => {
    const meant = known.includes(key) ? undefined : nearestName(key, missing, { maxSlips });
    return meant === undefined ? [] : [[key, meant]];
  });
}

export function nearHint(wrong: string, known: readonly string[]): string {
  const near = nearestNames(wrong, known);
  return near.length === 0 ? '' : `; near: ${near.join(', ')}`;
}
