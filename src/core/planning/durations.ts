/** Lengths of time and the names of their units. */
import type { JsonSchema } from '../catalog/tool.js';
import { keepLatest } from '../kept.js';
import type { SaidNumber } from './numbers.js';

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
 * Finds durations in digits and in words: "45 min", "2 Std.", "90s", "zwei Stunden". For languages whose durations no library
 * reads, and for "came in 25 min late", which a library takes for a time.
 *
 * @param numbers in words, as the texts have them
 * @example durationsIn(['Treffen für 2 Stunden'], 'de') // [{ text: '2 Stunden', seconds: 7200, months: 0 }]
 */
export function durationsIn(
  texts: readonly string[],
  language: string,
  numbers: readonly Pick<SaidNumber, 'text' | 'value'>[] = [],
): SaidDuration[] {
  const counts = new Map(numbers.map(({ text, value }) => [text.toLowerCase(), value]));
  const units = UNITS.map((unit) => ({ unit, pattern: countedUnit(unit, language, [...counts.keys()]) }));
  return texts.flatMap((text) =>
    units.flatMap(({ unit, pattern }) =>
      [...text.matchAll(pattern)].map(([said, count = '']) => {
        const value = counts.get(count.toLowerCase()) ?? Number(count.replace(',', '.'));
        return { text: said, ...lengthOf(value, unit) };
      }),
    ),
  );
}

function lengthOf(number: number, unit: Unit): Pick<SaidDuration, 'seconds' | 'months'> {
  return unit === 'month' || unit === 'year'
    ? { seconds: 0, months: number * MONTHS[unit] }
    : { seconds: number * SECONDS[unit], months: 0 };
}

/** The symbols of ISO 80000-3, which all languages share. */
const SYMBOLS: Readonly<Partial<Record<Unit, string>>> = { second: 's', minute: 'min', hour: 'h' };

const counted = new Map<string, RegExp>();

function countedUnit(unit: Unit, language: string, words: readonly string[]): RegExp {
  const key = [unit, language, ...words].join(' ');
  const pattern = counted.get(key) ?? createCounted(unit, language, words);
  keepLatest(counted, [key, pattern], MAX_NAMED);
  return pattern;
}

function createCounted(unit: Unit, language: string, words: readonly string[]): RegExp {
  const short = unit in SECONDS ? [naming(unit, language, 'short')(2)] : [];
  const names = [...new Set([...namesOf(unit, language), ...short, ...[SYMBOLS[unit] ?? []].flat()])];
  const anyOf = (texts: readonly string[]) => texts.toSorted((one, other) => other.length - one.length).join('|');
  const number = anyOf([...words.map((word) => word.replace(/[^\p{L}\p{M}]/gu, '.')), String.raw`\d+(?:[.,]\d+)?`]);
  const count = String.raw`(?<![\p{Script=Latin}\d.,])(${number})`;
  return new RegExp(`${count}[-\\s]?(?:${anyOf(names)})(?![\\p{Script=Latin}\\p{Script=Cyrillic}\\d])`, 'giu');
}

const LETTERS: Readonly<Record<string, keyof typeof SECONDS>> = {
  ms: 'millisecond',
  s: 'second',
  m: 'minute',
  min: 'minute',
  h: 'hour',
  d: 'day',
  w: 'week',
};
/** A length as many interfaces take it: `30m` or `2h`, but not that of `rate(errors[5m])`; or by ISO 8601: `PT30M`. */
const SHORT = /(?<![^\s"'`(,;:/|])\d+(ms|min|[smhdw])(?![^\s"'`),.;/|])/gu;
const ISO = /(?<![\p{L}\p{N}])P(?:\d+[YMWD])*(?:T(?:\d+[HMS])+)?(?<=\d[YMWDHMS])(?![\p{L}\p{N}])/u;

/** Writes a length; undefined where the form has no whole number for it. */
type LengthForm = (length: Pick<SaidDuration, 'seconds' | 'months'>) => string | undefined;

/**
 * The form of a length that the texts of a schema show.
 *
 * @example lengthFormOf({ type: 'string', description: 'Window, e.g. 30m, 2h' })?.({ seconds: 7200, months: 0 }) // '2h'
 */
export function lengthFormOf({ description, examples, example }: JsonSchema): LengthForm | undefined {
  const shown = [description, examples, example].flat().filter((text) => typeof text === 'string');
  const text = shown.join(' ').slice(0, MAX_CHARACTERS);
  if (ISO.test(text)) return isoLength;
  const units = [...new Set([...text.matchAll(SHORT)].map(([, unit = '']) => unit))];
  return units.length > 0 ? shortLength(units) : undefined;
}

/** Characters of a description that are looked at. */
const MAX_CHARACTERS = 400;

/** In the largest of the units in which it is whole. */
function shortLength(units: readonly string[]): LengthForm {
  const sizeOf = (unit: string) => SECONDS[LETTERS[unit] ?? 'second'];
  const largest = units.toSorted((one, other) => sizeOf(other) - sizeOf(one));
  return ({ seconds, months }) => {
    const unit = largest.find((one) => Number.isInteger(rounded(seconds / sizeOf(one))));
    return unit === undefined || months > 0 ? undefined : `${rounded(seconds / sizeOf(unit))}${unit}`;
  };
}

const isoLength: LengthForm = ({ seconds, months }) => {
  const part = (count: number, letter: string) => (count > 0 ? `${count}${letter}` : '');
  const days = part(months, 'M') + part(Math.floor(seconds / SECONDS.day), 'D');
  const rest = seconds % SECONDS.day;
  const [hours, minutes] = [Math.floor(rest / SECONDS.hour), Math.floor((rest % SECONDS.hour) / SECONDS.minute)];
  const time = part(hours, 'H') + part(minutes, 'M') + part(rounded(rest % SECONDS.minute), 'S');
  return days + time === '' ? 'PT0S' : `P${days}${time && `T${time}`}`;
};
