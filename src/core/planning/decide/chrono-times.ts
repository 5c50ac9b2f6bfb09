/** Days and times in the languages that chrono reads, with what Unicode's locale data adds to it in any language. */
import type { Chrono, ParsedResult } from 'chrono-node';
import { runInSlices } from '../../in-slices.js';
import { durationsIn, type SaidDuration, SECONDS } from '../durations.js';
import { findInEach, isWithin, numbersIn, occurrencesOf, type SaidNumber } from '../numbers.js';
import { inWhole, isoDay, type Moment, type Timed, type WithYear, withYears } from '../times.js';
import {
  asWord,
  findNamed,
  type NearTime,
  namesNear,
  patternOf,
  timeNamed,
  UNPARTED,
  weekdaysFrom,
} from './near-times.js';

type Parser = Chrono['parsers'][number];
type Refiner = Chrono['refiners'][number];

/** @param now the local time of the user */
export async function timesByChrono(pieces: readonly string[], language: string, now: Date): Promise<Timed> {
  const today = isoDay(now);
  const { own, others } = await chronoOf(language);
  const parser = (own ?? others).clone();
  // Of two readings of the same words the first counts.
  const named = [...namesNear(language, today), ...(own ? [] : weekdaysFrom(language, today))];
  parser.parsers = [namedOf(named), ...parser.parsers, ...IN_DIGITS, monthIn(language)];
  const and = new Intl.ListFormat(language).format(['', '']).trim();
  parser.refiners = [...parser.refiners, partsOfDay(and)];
  const moment = (part: ParsedResult['start']): Moment => {
    const two = (value: number | null) => String(value ?? 0).padStart(2, '0');
    const date = `${part.get('year')}-${two(part.get('month'))}-${two(part.get('day'))}`;
    const time = `${two(part.get('hour'))}:${two(part.get('minute'))}:${two(part.get('second'))}`;
    const isTime = part.isCertain('hour');
    const isDate = !isTime || part.isCertain('day') || part.isCertain('weekday');
    return { ...(isDate ? { date } : {}), ...(isTime ? { time } : {}) };
  };
  const words = (await numbersIn(pieces, language, [])).filter(({ text }) => !/\d/u.test(text));
  const read = (piece: string) => {
    const { text, placeOf } = inDigits(piece, words);
    return parser.parse(text, now, { forwardDate: true }).flatMap((one) => {
      const end = one.index + one.text.length;
      // chrono reads the "fr" of "früh" as Friday.
      if (isInWord(text, end)) return [];
      const whole = piece.slice(placeOf(one.index), placeOf(end));
      // Of "12 et 14" chrono reads "12 et" in French.
      const said = whole.endsWith(` ${and}`) ? whole.slice(0, -and.length).trimEnd() : whole;
      return [Object.assign(lastWeekday(one, parser, now) ?? one, { text: said })];
    });
  };
  const all = await runInSlices(findInEach(pieces, read));
  const lengths = durationsIn(pieces, language, words);
  // "A duas" of "daqui a duas semanas" is no time of day, but "à huit" of "à huit heures" is.
  const text = pieces.join('\n');
  const days = lengths.filter(({ seconds, months }) => months > 0 || seconds >= SECONDS.day);
  const bounds = days.flatMap((one) => occurrencesOf(one.text, text));
  const found = all.filter((one) => !isWithin(one.text, text, bounds));
  const times = found.map(
    (one): WithYear =>
      timeNamed(one.text, named) ?? {
        text: one.text,
        start: moment(one.start),
        ...(one.end ? { end: moment(one.end) } : {}),
        ...(one.tags().has('casualReference/now') ? { isNow: true } : {}),
        year: one.start.isCertain('month') ? (one.start.isCertain('year') ? 'said' : 'unsaid') : undefined,
      },
  );
  // "At 15 uur" is a time of day. chrono reads "für 2 Stunden" as "in two hours", but it is a duration.
  const isRelative = (one: ParsedResult) => one.tags().has('result/relativeDate');
  const clocks = found.filter((one) => !isRelative(one)).map(({ text }) => text);
  // In words, "due ore" may be a time of day or a length.
  const timeless = lengths.filter(({ text }) => !/\d/u.test(text) || !clocks.some((clock) => clock.includes(text)));
  const relative = found.filter((one) => isRelative(one) && !timeless.some(({ text }) => one.text.includes(text)));
  const windows = relative.map((one) => ({ text: one.text, ...lengthBetween(one.start.date(), now) }));
  const whole = withYears(times, today).map((time, place) => inWhole(time, found[place] && unitOf(found[place])));
  return { times: whole, day: own && today, durations: [...timeless, ...windows] };
}

/** The length of "the last 7 days", whatever forms its words have: in months if the day of the month is the same. */
function lengthBetween(one: Date, other: Date): Pick<SaidDuration, 'seconds' | 'months'> {
  const months = Math.abs(12 * (one.getFullYear() - other.getFullYear()) + one.getMonth() - other.getMonth());
  if (months > 0 && one.getDate() === other.getDate()) return { seconds: 0, months };
  return { seconds: Math.round(Math.abs(one.getTime() - other.getTime()) / 1000), months: 0 };
}

/** "Alle 3" and "pomeriggio" are one time, "amanhã" and "de manhã" one day, also with a word or two between them, but for "and". */
function partsOfDay(and: string): Refiner {
  const isDay = ({ start }: ParsedResult) => start.isCertain('day') || start.isCertain('weekday');
  const isPart = (one: ParsedResult) =>
    !isDay(one) && (['hour', 'month', 'year'] as const).every((unit) => !one.start.isCertain(unit));
  const hourOf = ({ start }: ParsedResult) => Number(start.get('hour'));
  return {
    refine: ({ text }, results) =>
      results.filter((part, place) => {
        const before = results[place - 1];
        if (!before || before.end || !isPart(part)) return true;
        const isClock = before.start.isCertain('hour');
        if (!isClock && !isDay(before)) return true;
        const between = text.slice(before.index + before.text.length, part.index);
        if (!WORDS_BETWEEN.test(between) || between.split(/\s/u).includes(and)) return true;
        if (isClock && hourOf(before) < NOON && hourOf(part) > NOON) before.start.assign('hour', hourOf(before) + NOON);
        before.text = text.slice(before.index, part.index + part.text.length);
        return false;
      }),
  };
}

const NOON = 12;
const WORDS_BETWEEN = /^\s(?:\p{L}+['’\s]\s?){0,3}$/u;

/** Whether a letter stands on both sides of the place, in a script with spaces between words. */
function isInWord(text: string, place: number): boolean {
  const sides = text.slice(place - 1, place + 1);
  return LETTERS.test(sides) && !UNPARTED.test(sides);
}

const LETTERS = /^[\p{L}\p{M}]{2}$/u;

/** The text with number words in digits, since chrono reads "um 7 Uhr" alone, and where a place in it is in the text. */
function inDigits(piece: string, words: readonly SaidNumber[]): { text: string; placeOf: (place: number) => number } {
  // "A" is no time of day. Of "oito e meia", half past eight, the library makes 8 times one half.
  const isHour = ({ text, value }: SaidNumber) => value > 1 && !text.includes(' ');
  const values = new Map(words.filter(isHour).map(({ text, value }) => [text.toLowerCase(), value]));
  const cuts: { readonly end: number; readonly shorter: number }[] = [];
  let shorter = 0;
  const pattern = new RegExp(values.size > 0 ? [...values.keys()].map(asWord).join('|') : '(?!)', 'giu');
  const text = piece.replace(pattern, (word, start: number) => {
    const digits = String(values.get(word.toLowerCase()));
    const end = start - shorter + digits.length;
    shorter += word.length - digits.length;
    cuts.push({ end, shorter });
    return digits;
  });
  return { text, placeOf: (place) => place + (cuts.findLast(({ end }) => end <= place)?.shorter ?? 0) };
}

/** Its exports with two letters are languages. */
async function chronoOf(language: string): Promise<{ own: Chrono | undefined; others: Chrono }> {
  const chrono = await import('chrono-node');
  const byLanguage: Readonly<Record<string, unknown>> = language.length === 2 ? chrono : {};
  const own = byLanguage[language] as Pick<typeof chrono, 'casual'> | undefined;
  return { own: own?.casual, others: chrono.casual };
}

/**
 * The day of a weekday that is past, such as "last Friday": the latest one before today.
 *
 * @returns undefined if the text names another day
 */
export async function pastWeekday(text: string, language: string, now: Date): Promise<string | undefined> {
  const { own } = await chronoOf(language);
  const [found] = own?.parse(text, now) ?? [];
  if (!found || !isWeekday(found)) return undefined;
  const date = found.start.date();
  return date < now ? isoDay(date) : undefined;
}

/**
 * `letzten Freitag` is past, but chrono moves any weekday forward. Read the day before such a day, a weekday alone is tomorrow.
 *
 * @returns undefined if the weekday is not the last one
 */
function lastWeekday(one: ParsedResult, parser: Chrono, now: Date): ParsedResult | undefined {
  const { start, text } = one;
  if (!isWeekday(one)) return undefined;
  const eve = new Date(start.date());
  eve.setDate(eve.getDate() - 1);
  const [before] = parser.parse(text, eve);
  if (!before || before.start.date() >= eve) return undefined;
  const [last] = parser.parse(text, now);
  return last && Object.assign(one, { start: last.start, end: last.end });
}

function isWeekday({ start }: ParsedResult): boolean {
  return start.isCertain('weekday') && !start.isCertain('day');
}

/** Formats of digits, which not every language of chrono reads: `24.12.`, `19:30`, `19h30` and `19u30`. */
const IN_DIGITS: readonly Parser[] = [
  {
    pattern: () => /(?<![\d.])(0?[1-9]|[12]\d|3[01])\. ?(0?[1-9]|1[0-2])\.(?!\d)/u,
    extract: (_, [, day, month]) => ({ day: Number(day), month: Number(month) }),
  },
  {
    pattern: () => /(?<![\d:])([01]?\d|2[0-3])(?::|\s?h\s?|u)([0-5]\d)(?![\d:])/u,
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

function namedOf(times: readonly NearTime[]): Parser {
  const pattern = patternOf(times);
  return {
    pattern: () => pattern,
    extract: (context, { 0: text, index = 0 }) => {
      const found = findNamed(text, times);
      if (!found) return null;
      const [first, last] = [found.first, found.last].map((date) => {
        const [year, month, day] = date.split('-').map(Number);
        return { year: year ?? 0, month: month ?? 0, day: day ?? 0 };
      });
      return context.createParsingResult(index, text, first, found.first === found.last ? undefined : last);
    },
  };
}

/** The unit that a time names whole: a month without a day, a year without a month. "In two months" is a day. */
function unitOf(one: ParsedResult): 'month' | 'year' | undefined {
  const has = (part: 'day' | 'weekday' | 'hour' | 'month' | 'year') => one.start.isCertain(part);
  if (one.end || one.tags().has('result/relativeDate') || has('day') || has('weekday') || has('hour')) return undefined;
  if (has('month')) return 'month';
  return has('year') ? 'year' : undefined;
}
