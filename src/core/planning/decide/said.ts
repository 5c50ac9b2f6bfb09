/**
 * Recognizes days, times, durations and numbers in a request by libraries, since a small model can't count to Friday.
 * Recognizers-Text reads days in three languages, chrono in the others.
 */
import type { recognizeDateTime } from '@microsoft/recognizers-text-suite';
import type { Tool } from '../../catalog/tool.js';
import { runInSlices } from '../../in-slices.js';
import { languageOf } from '../../language.js';
import type { Request } from '../../request.js';
import { durationsIn, type SaidDuration, SECONDS } from '../durations.js';
import {
  atomsIn,
  type Bound,
  CULTURES,
  findInEach,
  isWithin,
  loadRecognizers,
  numbersIn,
  quotedIn,
  type SaidNumber,
} from '../numbers.js';
import {
  dayAfter,
  daysOf,
  isoDay,
  type Moment,
  notBefore,
  type SaidTime,
  type Timed,
  type WithYear,
  withDay,
  withYears,
} from '../times.js';
import { pastWeekday, timesByChrono } from './chrono-times.js';
import { readMisspelt } from './misspelt-days.js';
import { type NearTime, namesNear, timeNamed } from './near-times.js';

export interface Said extends Timed {
  readonly numbers: readonly SaidNumber[];
}

type ModelResult = ReturnType<typeof recognizeDateTime>[number];

/**
 * Languages in which Recognizers-Text reads dates and times; it reads numbers in more. It has French, too, but there its
 * patterns take 4 s to compile, twice, and meanwhile block every other request.
 */
const DAY_LANGUAGES: ReadonlySet<string> = new Set(['en', 'zh', 'es']);

/** Characters of each message that are read: the question mostly stands early. */
const MAX_CHARACTERS = 2000;
/** Longest text for one call of a library, whose time grows with the square of the length and blocks other requests. */
const MAX_PIECE = 200;
/** Earlier messages that are read, too: "the same, but five hours" has its day there. */
const MAX_EARLIER = 4;

/**
 * Results from the message come first, then those from earlier messages, the latest first.
 *
 * @example await readSaid({ message: 'a table for four on Saturday at 8 pm', today: '2026-11-23' })
 * // times: [{ text: 'saturday at 8 pm', start: { date: '2026-11-28', time: '20:00:00' } }], numbers: 4 and 8
 */
export async function readSaid(
  request: Pick<Request, 'message' | 'history' | 'today' | 'timeZone' | 'locale'>,
): Promise<Said> {
  const earlier = (request.history ?? []).slice(-MAX_EARLIER).reverse();
  const language = languageOf(request);
  const near = { language, today: isoDay(wallClock(request)) };
  const parts = await Promise.all(
    [request.message, ...earlier.map(({ content }) => content)].map((text) =>
      readMisspelt(text.slice(0, MAX_CHARACTERS), near, (spelt) => readText(spelt, language, request)),
    ),
  );
  const { day } = parts.find(({ times }) => daysOf(times).length > 0) ?? parts[0] ?? {};
  return {
    times: parts.flatMap(({ times }, place) => times.map((time) => (place > 0 ? { ...time, isEarlier: true } : time))),
    day,
    numbers: parts.flatMap(({ numbers }) => numbers),
    durations: parts.flatMap(({ durations }) => durations),
  };
}

/** The times as a tool takes them: one that only reads looks back, so that "since Monday" is the last Monday, not the next one. */
export function timesFor({ risk }: Pick<Tool, 'risk'>, said: Said): Said {
  const open = said.times.find(({ last }) => last);
  if (risk !== 'low' || !open) return said;
  const times = said.times.map(({ last, ...time }) => ({ ...time, ...last }));
  return { ...said, times, day: said.day === open.start.date ? open.last?.start.date : said.day };
}

/** Reads in the language of the request, since plans and results among the earlier messages have none. */
async function readText(text: string, language: string, request: Parameters<typeof wallClock>[0]): Promise<Said> {
  const now = wallClock(request);
  const culture = DAY_LANGUAGES.has(language) ? CULTURES[language] : undefined;
  const pieces = piecesOf(text);
  const read =
    culture === undefined
      ? await timesByChrono(pieces, language, now)
      : await withRecognizers(pieces, { language, culture }, now);
  const folded = text.toLowerCase();
  const names = atomsIn(folded, NAME_WITH_DATE);
  const outside = (bounds: readonly Bound[]) =>
    read.times.filter((one) => !isWithin(one.text.toLowerCase(), folded, bounds));
  // "Q3" of a title in quotation marks is no time, unless nothing else is.
  const [unquoted, all] = [outside([...names, ...quotedIn(folded)]), outside(names)];
  const times = unquoted.length > 0 ? unquoted : all;
  // "2 bis 3" may be hours or rooms, "702 и 704" invoices, and 12号 a room.
  const mayBeCount = ({ text, start: { date } }: SaidTime) =>
    (date === undefined ? /(?<![:.\d])\d+$/u : /^\d+[号號]$/u).test(text);
  const timed = [...times.filter((time) => !mayBeCount(time)), ...read.durations];
  return { ...withDay({ ...read, times }), numbers: await numbersIn(pieces, language, timed) };
}

/** After a line, a sentence, a clause, a word; beside a number only where nothing else is left: "December 1, 2024" is one day. */
const CUTS = [
  /^.+(?=\n)/su,
  /^.+[.;!?。；！？](?!\s?\d)/su,
  /^.+[,，、](?!\s?\d)/su,
  /^.+(?<!\d\S{0,9})(?= \D{9})/su,
  /^.+(?= )/su,
];

/** Collapses white space and cuts a text into pieces of whole sentences, clauses or words. */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  let rest = text.replace(/\s+/gu, (blanks) => (/[\r\n]/u.test(blanks) ? '\n' : ' ')).trim();
  while (rest.length > MAX_PIECE) {
    const part = rest.slice(0, MAX_PIECE);
    const [cut = part] = CUTS.flatMap((pattern) => pattern.exec(part) ?? []);
    pieces.push(cut);
    rest = rest.slice(cut.length).trimStart();
  }
  return rest === '' ? pieces : [...pieces, rest];
}

/** The local time of the user, as the fields of a date in the time zone of this process. */
function wallClock({ today, timeZone }: Pick<Request, 'today' | 'timeZone'>): Date {
  if (today !== undefined) return new Date(`${today}T00:00:00`);
  return new Date(new Date().toLocaleString('sv-SE', { timeZone }).replace(' ', 'T'));
}

async function withRecognizers(
  pieces: readonly string[],
  { language, culture }: { language: string; culture: string },
  now: Date,
): Promise<Timed> {
  const { recognizeDateTime, recognizeNumber } = await loadRecognizers();
  const isNumber = (text: string) => recognizeNumber(text, culture).length > 0;
  // 三十 of 三十条 is a number of things, and no day of the month.
  const isBareNumber = (one: ModelResult) =>
    DAY_OF_ANY_MONTH.test(valuesOf(one)[0]?.timex ?? '') &&
    recognizeNumber(one.text, culture).some(({ text }) => text === one.text);
  const find = (piece: string): ModelResult[] => {
    const results = recognizeDateTime(piece.replace(DAY_OF_MONTH, '日'), culture, undefined, now).map((one) =>
      one.text.includes('日') ? { ...one, text: piece.slice(one.start, one.end + 1) } : one,
    );
    const cut = results.flatMap(({ end }) => numberOfNextWord(piece, end + 1, isNumber) ?? []).at(0);
    return cut === undefined ? results : [...find(piece.slice(0, cut)), ...find(piece.slice(cut))];
  };
  const found = (await runInSlices(findInEach(pieces, find))).filter((one) => !isBareNumber(one));
  const today = isoDay(now);
  const near = namesNear(language, today);
  const read = found.flatMap((one) => timesOf(one, near, now));
  const times = await Promise.all(read.map((time) => latestPast(time, near, { language, now })));
  const named = found.flatMap((one) => durationOf(one, now));
  // "In 20 minutes" is a time for the library, and a length all the same. 2025年 is a year.
  const isNamed = (text: string) => named.some((one) => one.text.includes(text));
  const others = durationsIn(pieces, language).filter(({ text, months }) => months === 0 && !isNamed(text));
  return { times: withYears(times, today), day: today, durations: [...named, ...others] };
}

/** The library reads 3日 and 三号, but not 3号. */
const DAY_OF_MONTH = /(?<=\d)号/gu;

const DAY_OF_ANY_MONTH = /^XXXX-XX-\d{2}$/u;

const words = new Intl.Segmenter(undefined, { granularity: 'word' });

/**
 * Without spaces between words, a time may end in a number that belongs to the next word: "8点一共" (in all, at 8) is not 8:01.
 *
 * @returns where the next word begins, if the text before `end` holds its beginning, a number
 */
function numberOfNextWord(text: string, end: number, isNumber: (text: string) => boolean): number | undefined {
  const { index = end } = words.segment(text).containing(end) ?? {};
  return index > 0 && index < end && isNumber(text.slice(index, end)) ? index : undefined;
}

/**
 * Whether a day or a month comes with its year: in TIMEX, `XXXX-12-05` has none. Undefined without a month, and for a day that is
 * only counted from today, such as "tonight": it says nothing of the year of other days.
 */
function yearIn(one: ModelResult): 'said' | 'unsaid' | undefined {
  const timex = valuesOf(one)[0]?.timex ?? '';
  if (/^\(?XXXX-\d{2}/u.test(timex)) return 'unsaid';
  const isCounted = /\d{4}-\d{2}-\d{2}/u.test(timex) && !/\p{N}/u.test(one.text);
  return /\d{4}-\d{2}/u.test(timex) && !isCounted ? 'said' : undefined;
}

/** "Two hours" is a duration; so is a window of a named length that begins or ends now: "the last 24 hours". */
function durationOf(one: ModelResult, now: Date): SaidDuration[] {
  const [{ timex = '', start = '', end = '' } = {}] = valuesOf(one);
  const nows = [now.toLocaleString('sv-SE'), isoDay(now), dayAfter(isoDay(now), 1)];
  const isNow = nows.includes(start) || nows.includes(end);
  const named = one.typeName.endsWith('.duration') ? timex : isNow ? /^\(.*,(P[^,]+)\)$/u.exec(timex)?.[1] : undefined;
  const length = named === undefined ? undefined : readDuration(named);
  return length ? [{ text: one.text, ...length }] : [];
}

/** An ISO 8601 duration: `P1Y6M`, `PT1.5H`. */
function readDuration(timex: string): Omit<SaidDuration, 'text'> | undefined {
  const found = ISO_DURATION.exec(timex)?.slice(1);
  if (!found) return undefined;
  const [years = 0, months = 0, ...fixed] = found.map((part = '0') => Number(part));
  const sizes = [SECONDS.week, SECONDS.day, SECONDS.hour, SECONDS.minute, SECONDS.second];
  const seconds = sizes.reduce((sum, size, place) => sum + size * (fixed[place] ?? 0), 0);
  return { seconds, months: 12 * years + months };
}

const ISO_DURATION =
  /^P(?:([\d.]+)Y)?(?:([\d.]+)M)?(?:([\d.]+)W)?(?:([\d.]+)D)?(?:T(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?)?$/u;

type DateTimeValue = { [Part in 'timex' | 'Mod' | 'value' | 'start' | 'end']?: string };
function valuesOf({ resolution }: ModelResult): DateTimeValue[] {
  const values: unknown = resolution?.values;
  return Array.isArray(values) ? values : [];
}

/** A name of Unicode comes first: for the library "el mes pasado" is this month. */
function timesOf(one: ModelResult, near: readonly NearTime[], now: Date): WithYear[] {
  const named = timeNamed(one.text, near);
  return named ? [named] : timeOf(one, now).map((time) => ({ ...time, year: yearIn(one) }));
}

/** "Last Friday" is the latest one: for Recognizers it is that of the last week, nine days ago on a Sunday. "上周五" names the week. */
async function latestPast(
  time: WithYear,
  near: readonly NearTime[],
  { language, now }: { language: string; now: Date },
): Promise<WithYear> {
  const { text, start, end } = time;
  const isPastDay =
    start.date !== undefined && start.date < isoDay(now) && start.time === undefined && end === undefined;
  if (!isPastDay || near.some(({ name }) => text.includes(name))) return time;
  const date = await pastWeekday(text, language, now);
  return date === undefined ? time : { ...time, start: { date } };
}

/** The library resolves "Saturday" to the last and the next one; the first that is not past counts. */
function timeOf(one: ModelResult, now: Date): SaidTime[] {
  const values = valuesOf(one).filter(({ value, start, end }) =>
    [value, start, end].some((text) => text !== 'not resolved'),
  );
  if (one.typeName.endsWith('.duration') || one.typeName.endsWith('.set')) return [];
  const startOf = ({ value, start, end }: DateTimeValue) => start ?? value ?? end ?? '';
  const today = isoDay(now);
  const chosen =
    values.find((value) => !/^\d{4}-/u.test(startOf(value)) || startOf(value).slice(0, 10) >= today) ?? values[0];
  const start = chosen && momentOf(startOf(chosen));
  if (!chosen || !start) return [];
  const timex = chosen.timex ?? '';
  const last = values[0] === chosen ? undefined : momentOf(startOf(values[0] ?? {}));
  const isOpen = /^since(?:-start)?$/u.test(chosen.Mod ?? '');
  if (isOpen) return [{ text: one.text, start, ...(last ? { last: { start: last } } : {}) }];
  // "Until Friday" is one day.
  if (chosen.start === undefined && chosen.value === undefined)
    return [{ text: one.text, start: chosen.Mod === 'before-end' ? dayBefore(start) : start }];
  const end = chosen.end === undefined ? undefined : notBefore(start, momentOf(chosen.end));
  const isPeriod = end !== undefined && end.time === undefined && (!timex.startsWith('(') || WHOLE_MONTHS.test(timex));
  const isNow = timex === 'PRESENT_REF';
  // "The end of September" is its last day, not its second half.
  if (isPeriod && chosen.Mod === 'end') return [{ text: one.text, start: dayBefore(end) }];
  const window = { start, ...(end ? { end: isPeriod ? dayBefore(end) : end } : {}) };
  const hasBegun = timex.startsWith('(XXXX-WXX') && start.date !== undefined && start.date < today;
  if (hasBegun && end) return [{ text: one.text, start: weekAfter(start), end: weekAfter(end), last: window }];
  return [{ text: one.text, ...window, ...(isNow ? { isNow } : {}) }];
}

function weekAfter({ date, ...moment }: Moment): Moment {
  return date === undefined ? moment : { date: dayAfter(date, 7), ...moment };
}

const WHOLE_MONTHS = /-01,.+-01,P\d+[MY]\)$/u;

/** A week or a month ends before the day that is named as its end. */
function dayBefore(end: Moment): Moment {
  return end.date === undefined ? end : { date: dayAfter(end.date, -1) };
}

/** `2026-11-28 20:00:00`, a part of it, or something else. */
function momentOf(text: string): Moment | undefined {
  const [, date, time] = /^(\d{4}-\d{2}-\d{2})?[ T]?(\d{2}:\d{2}:\d{2})?$/u.exec(text) ?? [];
  if (date === undefined && time === undefined) return undefined;
  return { ...(date === undefined ? {} : { date }), ...(time === undefined ? {} : { time }) };
}

/** `WH-1000XM4` is a name; `20mm` and `4-star` are numbers with their units. */
const NAME_WITH_DATE = /^\p{L}.*\d/u;
