/** The day of the user, as the planning prompt states it. */
import type { Request } from '../request.js';

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

interface Calendar {
  readonly format: Intl.DateTimeFormat;
  readonly zone: string;
}

/** A calendar takes fifty times as long to make as to use. `undefined` stands for the zone of this machine. */
const calendars = new Map<string | undefined, Calendar>();
const MAX_CALENDARS = 100;

/** `2026-11-22 (Sunday), time zone Asia/Shanghai`. */
export function renderToday({ today, timeZone }: Pick<Request, 'today' | 'timeZone'>): string {
  const { zone } = calendarOf(timeZone);
  const date = today ?? dayIn(timeZone);
  const weekday = WEEKDAYS[new Date(`${date}T00:00:00Z`).getUTCDay()];
  return `${date} (${weekday}), time zone ${zone}`;
}

/** YYYY-MM-DD, by the clock. `undefined` stands for the zone of this machine. */
export function dayIn(timeZone: string | undefined): string {
  return calendarOf(timeZone).format.format(new Date());
}

function calendarOf(timeZone: string | undefined): Calendar {
  const known = calendars.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('sv-SE', { ...(timeZone ? { timeZone } : {}), dateStyle: 'short' });
  const calendar = { format, zone: timeZone ?? format.resolvedOptions().timeZone };
  if (calendars.size < MAX_CALENDARS) calendars.set(timeZone, calendar);
  return calendar;
}

/** Minutes by which the clock of a zone is ahead of UTC. `undefined` stands for the zone of this machine. */
export function offsetIn(timeZone: string | undefined, at = new Date()): number {
  const format = new Intl.DateTimeFormat('en', { ...(timeZone ? { timeZone } : {}), timeZoneName: 'longOffset' });
  const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours, minutes] = /([+-])(\d{2}):(\d{2})/u.exec(name) ?? [];
  return hours === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}
