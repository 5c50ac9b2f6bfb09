/** Lengths of time and the names of their units. */
import { keepLatest } from '../kept.js';

/** A length of time, in one of two measures: months have no fixed length in seconds. */
export interface SaidDuration {
  readonly text: string;
  readonly seconds: number;
  readonly months: number;
}

/** Units of fixed length. */
export const SECONDS = { millisecond: 0.001, second: 1, minute: 60, hour: 3600, day: 86_400, week: 604_800 } as const;
const MONTHS = { month: 1, year: 12 } as const;
export type Unit = keyof typeof SECONDS | keyof typeof MONTHS;
export const UNITS = [...Object.keys(SECONDS), ...Object.keys(MONTHS)] as readonly Unit[];

/** The length in a unit; `undefined` where it depends on the day, such as that of a month in days. */
export function lengthIn(
  unit: Unit,
  { seconds, months }: Pick<SaidDuration, 'seconds' | 'months'>,
): number | undefined {
  const length = unit === 'month' || unit === 'year' ? months / MONTHS[unit] : seconds / SECONDS[unit];
  return length === 0 || (seconds > 0 && months > 0) ? undefined : rounded(length);
}

/** Without the noise of binary fractions: 0.07, not 0.07000000000000001. */
export function rounded(value: number): number {
  return Number(value.toPrecision(12));
}

/** One count for each plural form of a language. */
const COUNTS = [1, 2, 5, 11, 100];

const named = new Map<string, readonly string[]>();

/** The names of a unit in all its plural forms, the singular first, from Unicode's locale data, in lower case; and `ms`. */
export function namesOf(unit: Unit, language: string): readonly string[] {
  const key = `${unit} ${language}`;
  const known = named.get(key);
  if (known) return known;
  const nameOf = naming(unit, language, 'long');
  const names = [...new Set(COUNTS.map((count) => nameOf(count).toLowerCase()))];
  const all = unit === 'millisecond' ? [...names, 'ms'] : names;
  keepLatest(named, [key, all], MAX_NAMED);
  return all;
}

/** Of the units in some 100 languages. */
const MAX_NAMED = 800;

/** The name of a unit with a count: `Stunden`, or in short `Std`, without its point. */
function naming(unit: Unit, language: string, unitDisplay: 'long' | 'short'): (count: number) => string {
  const format = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay });
  return (count) => format.format(count).replace(/[^\p{L}\p{M}]/gu, '');
}

/**
 * Finds durations in digits: "45 min", "2 Std.", "90s". For languages whose durations no library reads, and for "came in 25 min
 * late", which a library takes for a time.
 *
 * @example durationsIn(['Treffen für 2 Stunden'], 'de') // [{ text: '2 Stunden', seconds: 7200, months: 0 }]
 */
export function durationsIn(texts: readonly string[], language: string): SaidDuration[] {
  const units = UNITS.map((unit) => ({ unit, pattern: countedUnit(unit, language) }));
  return texts.flatMap((text) =>
    units.flatMap(({ unit, pattern }) =>
      [...text.matchAll(pattern)].map(([said, count = '']) => ({ text: said, ...lengthOf(count, unit) })),
    ),
  );
}

function lengthOf(count: string, unit: Unit): Pick<SaidDuration, 'seconds' | 'months'> {
  const number = Number(count.replace(',', '.'));
  return unit === 'month' || unit === 'year'
    ? { seconds: 0, months: number * MONTHS[unit] }
    : { seconds: number * SECONDS[unit], months: 0 };
}

/** The symbols of ISO 80000-3, which all languages share. */
const SYMBOLS: Readonly<Partial<Record<Unit, string>>> = { second: 's', minute: 'min', hour: 'h' };

const counted = new Map<string, RegExp>();

function countedUnit(unit: Unit, language: string): RegExp {
  const key = `${unit} ${language}`;
  const pattern = counted.get(key) ?? createCounted(unit, language);
  keepLatest(counted, [key, pattern], MAX_NAMED);
  return pattern;
}

function createCounted(unit: Unit, language: string): RegExp {
  const short = unit in SECONDS ? [naming(unit, language, 'short')(2)] : [];
  const either = [...new Set([...namesOf(unit, language), ...short, ...[SYMBOLS[unit] ?? []].flat()])]
    .toSorted((one, other) => other.length - one.length)
    .join('|');
  const count = String.raw`(?<![\p{Script=Latin}\d.,])(\d+(?:[.,]\d+)?)`;
  return new RegExp(`${count}[-\\s]?(?:${either})(?![\\p{Script=Latin}\\p{Script=Cyrillic}\\d])`, 'giu');
}
