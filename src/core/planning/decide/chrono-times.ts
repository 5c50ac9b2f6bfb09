/** Days and times in the languages that chrono reads, with what Unicode's locale data adds to it in any language. */
import type { Chrono, ParsedResult } from 'chrono-node';
import { runInSlices } from '../../in-slices.js';
import { findInEach } from '../numbers.js';
import { dayAfter, durationsIn, inWhole, isoDay, type Moment, type Timed, type WithYear, withYears } from '../times.js';

type Parser = Chrono['parsers'][number];

/** @param now the local time of the user */
export async function timesByChrono(pieces: readonly string[], language: string, now: Date): Promise<Timed> {
  const chrono = await import('chrono-node');
  // Its exports with two letters are languages.
  const byLanguage: Readonly<Record<string, unknown>> = language.length === 2 ? chrono : {};
  const own = byLanguage[language] as Pick<typeof chrono, 'casual'> | undefined;
  const parser = (own ?? chrono).casual.clone();
  // Of two readings of the same words the first counts.
  const named = [...unitsNear(language), ...(own ? [] : weekdaysFrom(now, language))];
  parser.parsers = [namedOf(named), ...parser.parsers, ...IN_DIGITS, monthIn(language)];
  const moment = (part: ParsedResult['start']): Moment => {
    const two = (value: number | null) => String(value ?? 0).padStart(2, '0');
    const date = `${part.get('year')}-${two(part.get('month'))}-${two(part.get('day'))}`;
    const time = `${two(part.get('hour'))}:${two(part.get('minute'))}:${two(part.get('second'))}`;
    const isTime = part.isCertain('hour');
    const isDate = !isTime || part.isCertain('day') || part.isCertain('weekday');
    return { ...(isDate ? { date } : {}), ...(isTime ? { time } : {}) };
  };
  const found = await runInSlices(findInEach(pieces, (piece) => parser.parse(piece, now, { forwardDate: true })));
  const times = found.map(
    (one): WithYear => ({
      text: one.text,
      start: moment(one.start),
      ...(one.end ? { end: moment(one.end) } : {}),
      ...(one.tags().has('casualReference/now') ? { isNow: true } : {}),
      year: one.start.isCertain('month') ? (one.start.isCertain('year') ? 'said' : 'unsaid') : undefined,
    }),
  );
  // "At 15 uur" is a time of day. chrono reads "für 2 Stunden" as "in two hours", but it is a duration.
  const clocks = found.filter((one) => !one.tags().has('result/relativeDate')).map(({ text }) => text);
  const timeless = durationsIn(pieces, language).filter(({ text }) => !clocks.some((clock) => clock.includes(text)));
  const today = isoDay(now);
  const whole = withYears(times, today).map((time, place) => inWhole(time, found[place] && unitOf(found[place])));
  return { times: whole, day: own && today, durations: timeless };
}

/** Formats of digits, which not every language of chrono reads: `24.12.`, `19:30` and `19h30`. */
const IN_DIGITS: readonly Parser[] = [
  {
    pattern: () => /(?<![\d.])(0?[1-9]|[12]\d|3[01])\. ?(0?[1-9]|1[0-2])\.(?!\d)/u,
    extract: (_, [, day, month]) => ({ day: Number(day), month: Number(month) }),
  },
  {
    pattern: () => /(?<![\d:])([01]?\d|2[0-3])[:h]([0-5]\d)(?![\d:])/u,
    extract: (_, [, hour, minute]) => ({ hour: Number(hour), minute: Number(minute) }),
  },
];

/** A month without a day, `Mai 2025` or `2025年5月`, by its name in Unicode's locale data; not every language of chrono reads it. */
function monthIn(language: string): Parser {
  const format = new Intl.DateTimeFormat(language, { month: 'long', timeZone: 'UTC' });
  const names = Array.from({ length: 12 }, (_, month) => format.format(Date.UTC(2000, month)).toLowerCase());
  const bounded = names.map((name) => (/^\d/u.test(name) ? `(?<!\\d)${name}` : asWord(name)));
  const pattern = `(?:(\\d{4})\\P{N}{0,2})?(${bounded.join('|')})(?:\\s(?:\\p{L}{1,3}\\s)?(\\d{4}))?(?!\\s?\\d)`;
  return {
    pattern: () => new RegExp(pattern, 'iu'),
    extract: (_, [, before, name = '', after]) => {
      const year = before ?? after;
      return { month: names.indexOf(name.toLowerCase()) + 1, ...(year === undefined ? {} : { year: Number(year) }) };
    },
  };
}

interface Named {
  readonly name: string;
  readonly unit: 'day' | 'week' | 'month' | 'year';
  /** Units from now. */
  readonly count: number;
}

/** Days and whole units near today that have a name of their own in Unicode's locale data: "après-demain", "nächste Woche". */
function unitsNear(language: string): Named[] {
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  const inNumbers = new Intl.RelativeTimeFormat(language, { numeric: 'always' });
  return (['day', 'week', 'month', 'year'] as const).flatMap((unit) =>
    [-2, -1, 0, 1, 2].flatMap((count) => {
      const name = plain(format.format(count, unit));
      return name === plain(inNumbers.format(count, unit)) ? [] : [{ name, unit, count }];
    }),
  );
}

/** The next seven days by the names of their weekdays. */
function weekdaysFrom(now: Date, language: string): Named[] {
  const format = new Intl.DateTimeFormat(language, { weekday: 'long', timeZone: 'UTC' });
  return [0, 1, 2, 3, 4, 5, 6].map((count) => {
    const name = plain(format.format(Date.parse(dayAfter(isoDay(now), count))));
    return { name, unit: 'day', count };
  });
}

function namedOf(named: readonly Named[]): Parser {
  const longestFirst = named.toSorted((one, other) => other.name.length - one.name.length);
  const pattern = longestFirst.map(({ name }) => asWord(name).replaceAll("'", "['’]")).join('|');
  return {
    pattern: () => new RegExp(pattern, 'iu'),
    extract: (context, { 0: text, index = 0 }) => {
      const found = named.find(({ name }) => name === plain(text));
      if (!found) return null;
      const [first, last] = daysOfUnit(context.refDate, found);
      return context.createParsingResult(index, text, first, found.unit === 'day' ? undefined : last);
    },
  };
}

/** First and last day of the unit that many units from now; weeks begin on Monday (ISO 8601). */
function daysOfUnit(now: Date, { unit, count }: Named) {
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()];
  const monday = day - ((now.getDay() + 6) % 7) + 7 * count;
  const bounds = {
    day: [new Date(year, month, day + count), new Date(year, month, day + count)],
    week: [new Date(year, month, monday), new Date(year, month, monday + 6)],
    month: [new Date(year, month + count, 1), new Date(year, month + count + 1, 0)],
    year: [new Date(year + count, 0, 1), new Date(year + count, 11, 31)],
  }[unit];
  return bounds.map((one) => ({ year: one.getFullYear(), month: one.getMonth() + 1, day: one.getDate() }));
}

function plain(text: string): string {
  return text.toLowerCase().replaceAll('’', "'");
}

/** A pattern of the name as a word of its own, in scripts that part words. */
function asWord(name: string): string {
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/gu, '\\$&');
  return UNPARTED.test(name) ? escaped : `(?<![\\p{L}\\p{M}])${escaped}(?![\\p{L}\\p{M}])`;
}

/** Scripts without spaces between words, or with endings at every word (Hangul). */
const UNPARTED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/** The unit that a time names whole: a month without a day, a year without a month. "In two months" is a day. */
function unitOf(one: ParsedResult): 'month' | 'year' | undefined {
  const has = (part: 'day' | 'weekday' | 'hour' | 'month' | 'year') => one.start.isCertain(part);
  if (one.end || one.tags().has('result/relativeDate') || has('day') || has('weekday') || has('hour')) return undefined;
  if (has('month')) return 'month';
  return has('year') ? 'year' : undefined;
}
