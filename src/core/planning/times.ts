/** Days and times of the user, and their conversion into the format that a schema requires. */
import type { JsonSchema } from '../catalog/tool.js';
import type { Request } from '../request.js';
import { type SaidDuration, SECONDS } from './durations.js';

/** A day, a time of day, or both, in the time zone of the user. */
export interface Moment {
  readonly date?: string;
  readonly time?: string;
}

/** Words of the request that name a day, a time or a window of time. */
export interface SaidTime {
  readonly text: string;
  readonly start: Moment;
  readonly end?: Moment;
  /** The present: omitting an optional argument means the same. */
  readonly isNow?: true;
  /** The time before it, where the words leave open which one is meant: of "since Monday" the last Monday. */
  readonly last?: Pick<SaidTime, 'start' | 'end'>;
  /** Whether only a message before this one names it. */
  readonly isEarlier?: boolean;
}

/** Times and durations of a text. */
export interface Timed {
  readonly times: readonly SaidTime[];
  /** For a time of day alone: the only day of the text, else today; undefined where several days are possible. */
  readonly day?: string | undefined;
  readonly durations: readonly SaidDuration[];
}

/** Whether the request names the year of the month; undefined if it names no month, as in "tomorrow" and "at 8 pm". */
export type WithYear = SaidTime & { readonly year: 'said' | 'unsaid' | undefined };

/**
 * Adds missing years. The anchor is the first time with a year, else the time nearest to today. The others follow the order
 * of the text around it: "from December 20 to January 4", "1 December 2024 … 15 December".
 */
export function withYears(times: readonly WithYear[], today: string): SaidTime[] {
  const thisYear = Number(today.slice(0, 4));
  const nearest = (among: readonly SaidTime[]) =>
    among.toSorted((one, other) => daysTo(one, today) - daysTo(other, today))[0];
  const isUnsaid = (place: number) => times[place]?.year === 'unsaid';
  const placed = times.map(({ year: _, ...time }, place): SaidTime => {
    if (!isUnsaid(place)) return time;
    return nearest([0, 1, -1].map((later) => inYear(time, thisYear + later))) ?? time;
  });
  const fixed =
    placed.find((_, place) => times[place]?.year === 'said') ?? nearest(placed.filter((_, place) => isUnsaid(place)));
  if (fixed?.start.date === undefined) return placed;
  const { date } = fixed.start;
  const at = placed.indexOf(fixed);
  return placed.map((time, place) => (isUnsaid(place) && place !== at ? beside(time, date, place > at) : time));
}

/** Days between today and the nearer end of the window. */
function daysTo({ start, end }: SaidTime, today: string): number {
  const days = [start.date, end?.date].map((date) => Math.abs(Date.parse(date ?? '') - Date.parse(today)));
  return Math.min(...days.filter((days) => !Number.isNaN(days)));
}

function beside(time: SaidTime, day: string, isLater: boolean): SaidTime {
  const year = Number(day.slice(0, 4));
  const same = inYear(time, year);
  const date = same.start.date ?? day;
  if (isLater ? date >= day : date <= day) return same;
  return inYear(time, isLater ? year + 1 : year - 1);
}

function inYear({ start, end, ...time }: SaidTime, year: number): SaidTime {
  const shift = year - Number(start.date?.slice(0, 4));
  const moved = ({ date, ...rest }: Moment): Moment =>
    date === undefined ? rest : { date: `${Number(date.slice(0, 4)) + shift}${date.slice(4)}`, ...rest };
  return { ...time, start: moved(start), ...(end ? { end: moved(end) } : {}) };
}

/** "On 1 December, from 10 to 11": if the text names one day, its times of day belong to that day. */
export function withDay(read: Timed): Timed {
  const [date, ...others] = daysOf(read.times);
  if (date === undefined) return read;
  if (others.length > 0) return { ...read, day: undefined };
  const on = (moment: Moment): Moment => (moment.date === undefined ? { date, ...moment } : moment);
  const times = read.times.map(({ start, end, ...time }) => ({
    ...time,
    start: on(start),
    ...(end ? { end: on(end) } : {}),
  }));
  return { ...read, times, day: date };
}

export function daysOf(times: readonly SaidTime[]): string[] {
  const days = times.flatMap(({ start, end }) => [start.date, end?.date]);
  return [...new Set(days.filter((date) => date !== undefined))];
}

/** "Next Monday to Wednesday": moves an end that precedes the start forward by whole weeks. */
export function notBefore(start: Moment, end: Moment | undefined): Moment | undefined {
  if (!end?.date || !start.date) return end;
  const weeks = Math.ceil((Date.parse(start.date) - Date.parse(end.date)) / (SECONDS.week * 1000));
  return weeks > 0 ? { ...end, date: dayAfter(end.date, 7 * weeks) } : end;
}

/** From the first to the last day of the month or year in which the time begins. */
export function inWhole(time: SaidTime, unit: 'month' | 'year' | undefined): SaidTime {
  const { date } = time.start;
  if (unit === undefined || date === undefined) return time;
  const { first, last } = unitFrom(date, unit);
  return { ...time, start: { date: first }, end: { date: last } };
}

export type CalendarUnit = 'day' | 'week' | 'month' | 'year';

/**
 * The first and the last day of the unit that lies `count` units after that of the date. Weeks begin on Monday (ISO 8601).
 *
 * @example unitFrom('2026-11-23', 'month', -1) // { first: '2026-10-01', last: '2026-10-31' }
 */
export function unitFrom(date: string, unit: CalendarUnit, count = 0): { first: string; last: string } {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number);
  const monday = day - ((new Date(date).getUTCDay() + 6) % 7) + 7 * count;
  const { first, last } = {
    day: { first: Date.UTC(year, month - 1, day + count), last: Date.UTC(year, month - 1, day + count) },
    week: { first: Date.UTC(year, month - 1, monday), last: Date.UTC(year, month - 1, monday + 6) },
    month: { first: Date.UTC(year, month - 1 + count, 1), last: Date.UTC(year, month + count, 0) },
    year: { first: Date.UTC(year + count, 0, 1), last: Date.UTC(year + count, 12, 0) },
  }[unit];
  const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
  return { first: dayOf(first), last: dayOf(last) };
}

/** The day of a local time: `2026-11-30`. */
export function isoDay(day: Date): string {
  return day.toLocaleDateString('sv-SE');
}

/** @example dayAfter('2026-11-30', 1) // '2026-12-01' */
export function dayAfter(date: string, days: number): string {
  return new Date(Date.parse(date) + days * SECONDS.day * 1000).toISOString().slice(0, 10);
}

/** A date format: `YYYY-MM-DD`, `HH:mm`. */
type Form = string;

const DATE = 'YYYY-MM-DD';
const TIME = 'HH:mm';
/** A format that a text of the schema spells out. */
const SPELT =
  /(?:Y{4}|y{4})(?:[-/.]?)(?:MM|mm)(?:[-/.]?)(?:DD|dd)(?:(?:[T ]|'T')(?:HH|hh)(?::?(?:mm|MM))?(?::?(?:ss|SS))?Z?)?|(?:DD|dd)[-/.](?:MM|mm)[-/.](?:Y{4}|y{4})|(?:MM|mm)[-/.](?:DD|dd)[-/.](?:Y{4}|y{4})|(?:HH|hh):(?:mm|MM)(?::(?:ss|SS))?/u;
const SAMPLE = /\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?|(?<![\d:])\d{2}:\d{2}(?::\d{2})?(?![\d:])/u;

/**
 * The date format that a schema requires; `undefined` if it requires none.
 *
 * @example formOf({ type: 'string', description: 'start of the window, YYYY-MM-DD HH:mm' }) // 'YYYY-MM-DD HH:mm'
 */
export function formOf(schema: JsonSchema): Form | undefined {
  if (schema.format === 'date') return DATE;
  if (schema.format === 'date-time') return `YYYY-MM-DDTHH:mm:ss${namedOffset(schema) ?? 'Z'}`;
  if (schema.format === 'time') return 'HH:mm:ss';
  const texts = [
    schema.description,
    schema.title,
    ...(Array.isArray(schema.examples) ? schema.examples : []),
    schema.example,
  ]
    .filter((text) => typeof text === 'string')
    .join(' ');
  const spelt = SPELT.exec(texts)?.[0];
  if (spelt !== undefined) return normalised(spelt);
  const sample = SAMPLE.exec(texts)?.[0];
  if (sample !== undefined) return sampleForm(sample);
  return typeof schema.pattern === 'string' ? patternForm(schema.pattern) : undefined;
}

function namedOffset({ description }: JsonSchema): string | undefined {
  return typeof description === 'string' ? /[+-]\d{2}:\d{2}/u.exec(description)?.[0] : undefined;
}

/** `mm` means months before the hours, and minutes after them. */
function normalised(spelt: string): Form {
  const form = spelt
    .replace(/y{4}/gu, 'YYYY')
    .replace(/dd/gu, 'DD')
    .replace(/hh/gu, 'HH')
    .replace(/SS/gu, 'ss')
    .replaceAll("'", '');
  const place = form.search(/[T ]?HH/u);
  const [day, time] = place < 0 ? [form, ''] : [form.slice(0, place), form.slice(place)];
  return day.replace(/mm/gu, 'MM') + time.replace('MM', 'mm');
}

function sampleForm(sample: string): Form {
  const letters = sample.includes('-') ? ['YYYY', 'MM', 'DD', 'HH', 'mm', 'ss'] : ['HH', 'mm', 'ss'];
  let place = 0;
  return sample.replace(/\d+/gu, () => letters[place++] ?? '');
}

/** Reads patterns of digits in groups, such as `^\d{4}-\d{2}-\d{2}$`. */
function patternForm(pattern: string): Form | undefined {
  const plain = pattern.replace(/\[0-9\]/gu, '\\d').replace(/[$^()]/gu, '');
  if (/^\\d\{4\}-\\d\{2\}-\\d\{2\}$/u.test(plain)) return DATE;
  if (/^\\d\{2\}:\\d\{2\}$/u.test(plain)) return TIME;
  return undefined;
}

/** All moments of the times in that format; without a format, both as days and as times. */
export function momentsIn(
  form: Form | undefined,
  { times, day }: { times: readonly SaidTime[]; day?: string | undefined },
  timeZone: string | undefined,
): string[] {
  const moments = times.flatMap(({ start, end }) => (end ? [start, end] : [start]));
  const written = moments.flatMap((moment) =>
    (form === undefined ? formsFor(moment) : [form]).flatMap(
      (one) => writeMoment(moment, one, { day, timeZone }) ?? [],
    ),
  );
  return [...new Set(written)];
}

function formsFor({ date, time }: Moment): Form[] {
  if (date === undefined) return [TIME];
  return time === undefined ? [DATE] : [`${DATE}T${TIME}:ss`, DATE, TIME];
}

function writeMoment(
  { date, time }: Moment,
  form: Form,
  { day, timeZone }: Record<'day' | 'timeZone', string | undefined>,
): string | undefined {
  const needsDate = form.includes('D');
  const known = needsDate ? (date ?? day) : '';
  if (known === undefined || (!needsDate && time === undefined)) return undefined;
  const [year = '', month = '', dayOfMonth = ''] = known.split('-');
  const [hour = '00', minute = '00', second = '00'] = (time ?? '').split(':');
  return form
    .replace('YYYY', year)
    .replace('MM', month)
    .replace('DD', dayOfMonth)
    .replace('HH', hour || '00')
    .replace('mm', minute)
    .replace('ss', second)
    .replace(/Z$/u, () => zoneSuffix(timeZone, new Date(`${known}T${time ?? '00:00:00'}Z`)));
}

/** The UTC offset of a zone, on a day or now: `+08:00`, `Z`. */
function zoneSuffix(timeZone: string | undefined, at = new Date()): string {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  return /[+-](?!00:00)\d\d:\d\d$/u.exec(format.format(at))?.[0] ?? 'Z';
}

/** `2026-11-22 (Sunday), time zone Asia/Shanghai`. */
export function renderToday({ today, timeZone }: Pick<Request, 'today' | 'timeZone'>): string {
  const date = today ?? dayIn(timeZone);
  const weekday = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' }).format(new Date(date));
  return `${date} (${weekday}), time zone ${timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone}`;
}

/** Today in a time zone, YYYY-MM-DD. Default: the system's zone. */
export function dayIn(timeZone: string | undefined): string {
  return new Date().toLocaleDateString('sv-SE', { timeZone });
}
