/** Days, weeks, months and years near today that have a name of their own in Unicode's locale data, in any language. */
import { type CalendarUnit, dayAfter, unitFrom, type WithYear } from '../times.js';

export interface NearTime {
  readonly name: string;
  /** Both are the same for a day. */
  readonly first: string;
  readonly last: string;
}

const UNITS: readonly CalendarUnit[] = ['day', 'week', 'month', 'year'];

/** @example namesNear('fr', '2026-11-23') // "après-demain", "la semaine prochaine", "le mois dernier", … */
export function namesNear(language: string, today: string): NearTime[] {
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  const inNumbers = new Intl.RelativeTimeFormat(language, { numeric: 'always' });
  return UNITS.flatMap((unit) =>
    [-2, -1, 0, 1, 2].flatMap((count) => {
      const name = plain(format.format(count, unit));
      return name === plain(inNumbers.format(count, unit)) ? [] : [{ name, ...unitFrom(today, unit, count) }];
    }),
  );
}

/** The next seven days by the names of their weekdays. */
export function weekdaysFrom(language: string, today: string): NearTime[] {
  const format = new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' });
  return [0, 1, 2, 3, 4, 5, 6].map((count) => {
    const day = dayAfter(today, count);
    return { name: plain(format.format(Date.parse(day))), first: day, last: day };
  });
}

/** A pattern of all the names, the longest first. */
export function patternOf(times: readonly NearTime[]): RegExp {
  const longestFirst = times.map(({ name }) => name).sort((one, other) => other.length - one.length);
  return new RegExp(longestFirst.map((name) => asWord(name).replaceAll("'", "['’]")).join('|'), 'iu');
}

/** "Del mes pasado" is "el mes pasado". */
export function findNamed(text: string, times: readonly NearTime[]): NearTime | undefined {
  const said = plain(text);
  return (
    times.find(({ name }) => name === said) ??
    times.find(({ name, first, last }) => first !== last && withoutArticle(name) === withoutArticle(said))
  );
}

export function timeNamed(text: string, times: readonly NearTime[]): WithYear | undefined {
  const found = findNamed(text, times);
  if (!found) return undefined;
  const end = found.first === found.last ? {} : { end: { date: found.last } };
  return { text, start: { date: found.first }, ...end, year: 'said' };
}

function withoutArticle(name: string): string {
  const [, ...rest] = name.split(' ');
  return rest.length < 2 ? name : rest.join(' ');
}

/** A pattern of the name as a word of its own, in scripts that part words. */
export function asWord(name: string): string {
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/gu, '\\$&');
  return UNPARTED.test(name) ? escaped : `(?<![\\p{L}\\p{M}])${escaped}(?![\\p{L}\\p{M}])`;
}

/** Scripts without spaces between words, or with endings at every word (Hangul). */
export const UNPARTED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

function plain(text: string): string {
  return text.toLowerCase().replaceAll('’', "'");
}
