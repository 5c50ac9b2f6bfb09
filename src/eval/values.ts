/**
 * When two argument values are the same: numbers by value, dates by the day and time they name, texts without outer
 * and doubled white space. Letter case counts unless the case says that it does not.
 */
import { isObject } from '../core/catalog/schema/json.js';

export interface ValueOptions {
  ignoreCase: boolean;
}

export function isSameValue(one: unknown, other: unknown, options: ValueOptions): boolean {
  return agree(one, other, (first, second) => isSameScalar(first, second, options));
}

/** Lists and objects of one form whose other values agree, place by place. */
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
 * Whether a value is one of those that a list of accepted values allows. Inside an object each key has a list of its
 * own, as in BFCL (Patil et al., "The Berkeley Function Calling Leaderboard", 2025); `""` stands for leaving it out.
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

/** A number beside a text that is one, written plainly. `007` is a code and no number. */
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
const MONTH_IN_WORDS =
  /^(?:(\d{1,2})(?:st|nd|rd|th)? )?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?(?: (\d{1,2})(?:st|nd|rd|th)?)?,? (\d{4})$/iu;
const TIME = /^(\d{1,2}):(\d{2})(?::(\d{2})(?:\.0+)?)?(Z|[+-]\d{2}:?\d{2})?$/u;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/**
 * A day that can be read in one way: with the year first, the month in words, or a day that can be no month or is its
 * number. What can be read in two ways stays as it is but for zeros in front.
 */
function canonicalDate(text: string): string | undefined {
  const [, one, mark, other, last] = YEAR_LAST.exec(text) ?? [];
  if (one && other && last) {
    if (Number(other) > 12 || one === other) return isoDay(last, one, other);
    return Number(one) > 12 ? isoDay(last, other, one) : [one, other, last].join(mark);
  }
  const words = MONTH_IN_WORDS.exec(text);
  const day = words?.[1] ?? words?.[3];
  if (words?.[2] && words[4] && day) {
    return isoDay(words[4], String(MONTHS.indexOf(words[2].slice(0, 3).toLowerCase()) + 1), day);
  }
  const [, year, month, date, rest] = YEAR_FIRST.exec(text) ?? [];
  if (!year || !month || !date) return undefined;
  const iso = isoDay(year, month, date);
  if (rest === undefined || iso === undefined) return iso;
  const [, hour, minute, second = '00', zone = ''] = TIME.exec(rest.trim()) ?? [];
  if (!hour || !minute) return undefined;
  return `${iso}T${hour.padStart(2, '0')}:${minute}:${second}${zone.replace(':', '').replace(/^[+-]0000$/u, 'Z')}`;
}

function isoDay(year: string, month: string, day: string): string | undefined {
  const isDay = Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= 31;
  return isDay ? `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}` : undefined;
}
