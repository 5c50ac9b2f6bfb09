/** Days of a plan that nobody said, while no step uses one that was said: the model took another in its place. */
import type { Step } from '../result.js';
import type { Choice } from './plan-schema.js';
import { datesIn, isoDay, isSameDay, type SaidDate } from './said-dates.js';

const ISO = /^\d{4}-\d{2}-\d{2}$/u;

/**
 * The arguments, with the days of the message to choose from.
 *
 * @param today begins with the day, `2026-11-22`: one without a year is the next one, unless the message says a year with another
 */
export function unsaidDates(steps: readonly Step[], { message, today }: { message: string; today: string }): Choice[] {
  const said = datesIn(message);
  const written = steps.flatMap(({ tool, arguments: values }) =>
    Object.entries(values).flatMap(([argument, value]) =>
      typeof value === 'string' && ISO.test(value) ? datesIn(value).map((date) => ({ tool, argument, date })) : [],
    ),
  );
  const isUsed = (date: SaidDate) => written.some((one) => isSameDay(one.date, date));
  const isClear = ({ days }: SaidDate) => days.length === 1;
  if (said.every(isUsed) || !said.every(isClear)) return [];
  const year = said.find((date) => date.year !== undefined)?.year;
  const among = [...new Set(said.map((date) => isoOf(date, { year, today })))];
  return written
    .filter(({ date }) => !said.some((one) => isSameDay(one, date)))
    .map(({ tool, argument }) => ({ tool, argument, among }));
}

function isoOf(
  { days: [day = ''], year: own }: SaidDate,
  { year, today }: { year: string | undefined; today: string },
) {
  const said = own ?? year;
  if (said !== undefined) return isoDay(day, said);
  const thisYear = Number(today.slice(0, 4));
  return isoDay(day, thisYear) < today.slice(0, 10) ? isoDay(day, thisYear + 1) : isoDay(day, thisYear);
}
