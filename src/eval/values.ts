/**
 * Equality of argument values: numbers by value, dates by day and time, texts without outer and doubled white space. Letter
 * case counts unless the case ignores it.
 */
import * as chrono from 'chrono-node';
import { isObject } from '../core/catalog/schema/json.js';

export interface ValueOptions {
  ignoreCase: boolean;
}

export function isSameValue(one: unknown, other: unknown, options: ValueOptions): boolean {
  return agree(one, other, (first, second) => isSameScalar(first, second, options));
}

/** Whether two lists or objects have the same shape and agreeing leaves. */
export function agree(one: unknown, other: unknown, leaf: (one: unknown, other: unknown) => boolean): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, place) => agree(item, other[place], leaf));
  }
  if (!isObject(one) || !isObject(other)) return leaf(one, other);
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && agree(one[key], other[key], leaf))
  );
}

export function isSameScalar(one: unknown, other: unknown, options: ValueOptions): boolean {
  if (typeof one === 'string' && typeof other === 'string') {
    return canonicalText(one, options) === canonicalText(other, options);
  }
  return one === other || isSameNumber(one, other) || isSameNumber(other, one);
}

/**
 * Whether a list of accepted values allows a value. Inside an object each key has its own list, as in BFCL (Patil et al., "The
 * Berkeley Function Calling Leaderboard", 2025); `""` means that the key may be missing.
 */
export function isAccepted(accepted: readonly unknown[], got: unknown, options: ValueOptions): boolean {
  return accepted.some((one) => fits(one, got, options));
}

function fits(accepted: unknown, got: unknown, options: ValueOptions): boolean {
  if (isSameValue(accepted, got, options)) return true;
  if (Array.isArray(accepted)) {
    return (
      Array.isArray(got) &&
      got.length === accepted.length &&
      accepted.every((one, place) => fits(one, got[place], options))
    );
  }
  if (!isObject(accepted) || !isObject(got)) return false;
  if (Object.keys(got).some((key) => !Object.hasOwn(accepted, key))) return false;
  return Object.entries(accepted).every(([key, list]) => {
    if (!Array.isArray(list)) return fits(list, got[key], options);
    return Object.hasOwn(got, key) ? isAccepted(list, got[key], options) : list.includes('');
  });
}

/** Whether a text writes the number in plain digits. `007` is a code and no number. */
function isSameNumber(one: unknown, other: unknown): boolean {
  if (typeof one !== 'number' || typeof other !== 'string') return false;
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/iu.test(other.trim()) && Number(other) === one;
}

function canonicalText(text: string, { ignoreCase }: ValueOptions): string {
  const plain = text.normalize('NFKC').trim().replace(/\s+/gu, ' ');
  return canonicalDate(plain) ?? (ignoreCase ? plain.toLowerCase() : plain);
}

const YEAR_FIRST = /^(\d{4})(?:[-/.年])(\d{1,2})(?:[-/.月])(\d{1,2})日?(?:[T ]?(.+))?$/u;
const YEAR_LAST = /^0?(\d{1,2})([-/.])0?(\d{1,2})\2(\d{4})$/u;
const TIME = /^(\d{1,2}):(\d{2})(?::(\d{2})(?:\.0+)?)?(Z|[+-]\d{2}:?\d{2})?$/u;
/** Letters, then the year at the end. The bound keeps long texts from the readers. */
const MAYBE_IN_WORDS = /^(?=.*\p{L}).{6,39}(?<!\d)\d{4}$/u;
/** One for each language of chrono. */
const DAY_READERS = Object.values(chrono).flatMap((one) => ('strict' in one ? [one.strict] : []));

/**
 * An unambiguous day in ISO form: with the year first, with the month in words, or with a day that can't be a month or equals it.
 * An ambiguous one only loses its leading zeros.
 */
function canonicalDate(text: string): string | undefined {
  const [, one, mark, other, last] = YEAR_LAST.exec(text) ?? [];
  if (one && other && last) {
    if (Number(other) > 12 || one === other) return isoDay(last, one, other);
    return Number(one) > 12 ? isoDay(last, other, one) : [one, other, last].join(mark);
  }
  const [, year, month, date, rest] = YEAR_FIRST.exec(text) ?? [];
  if (!year || !month || !date) return dayInWords(text);
  const iso = isoDay(year, month, date);
  if (rest === undefined || iso === undefined) return iso;
  const [, hour, minute, second = '00', zone = ''] = TIME.exec(rest.trim()) ?? [];
  if (!hour || !minute) return undefined;
  return `${iso}T${hour.padStart(2, '0')}:${minute}:${second}${zone.replace(':', '').replace(/^[+-]0000$/u, 'Z')}`;
}

/** `5 August 2024` and `Aug 5th, 2024`, but no text with a time or other words besides. */
function dayInWords(text: string): string | undefined {
  if (!MAYBE_IN_WORDS.test(text)) return undefined;
  const found = DAY_READERS.flatMap((reader) => reader.parse(text));
  const start = found.find((one) => one.text === text && !one.end && isWholeDay(one.start))?.start;
  return start && isoDay(`${start.get('year')}`, `${start.get('month')}`, `${start.get('day')}`);
}

function isWholeDay(part: chrono.ParsedComponents): boolean {
  return part.isCertain('year') && part.isCertain('month') && part.isCertain('day') && !part.isCertain('hour');
}

function isoDay(year: string, month: string, day: string): string | undefined {
  const isDay = Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= 31;
  return isDay ? `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}` : undefined;
}
