/**
 * `3/4/2026` is the third of April or the fourth of March. Where a tool does not say in which form it wants a date, such
 * a one is handed on as the user wrote it: a model that makes it `2026-03-04` has guessed, and nobody sees it any more.
 */
import { isObject } from '../catalog/schema/json.js';
import type { Tool } from '../catalog/tool.js';
import { validatorFor } from '../catalog/validate.js';
import { datesIn, isoDay } from './said-dates.js';

/** A pattern of letters, a standard, or an example. */
const TELLS_FORM = /y{2,4}\W?mm|\bdd\W?mm|\bmm\W?dd|\biso\b|"format"|"pattern"|\d{4}-\d{2}-\d{2}|\d\/\d{1,2}\/\d/iu;

/** The arguments of a call, with the dates of the message that can be read in two ways as they stand there. */
export function withDatesAsWritten(
  values: Record<string, unknown>,
  tool: Tool | undefined,
  message: string,
): Record<string, unknown> {
  const written = ambiguousDates(message);
  if (written.size === 0 || !tool || TELLS_FORM.test(tool.description)) return values;
  const entries = Object.entries(values).map(([name, value]) => {
    const text = typeof value === 'string' ? written.get(value) : undefined;
    const isFree = text !== undefined && !tellsForm(tool, name) && takes(tool, name, { ...values, [name]: text });
    return [name, isFree ? text : value] as const;
  });
  return Object.fromEntries(entries);
}

/** `2026-03-04` and `2026-04-03` -> `3/4/2026`; none where another date shows what stands first. */
function ambiguousDates(message: string): Map<string, string> {
  const found = datesIn(message).filter(({ days }) => days.length === 2);
  if (found.some(({ days }) => days.some((day) => Number.parseInt(day, 10) > 12))) return new Map();
  const ambiguous = found.filter(({ days: [one, other] }) => one !== other);
  const readings = ambiguous.flatMap(({ text, days, year = '' }) =>
    days.map((day) => ({ day: isoDay(day, year), text })),
  );
  const isClear = ({ day, text }: { day: string; text: string }) =>
    !message.includes(day) && readings.every((other) => other.day !== day || other.text === text);
  return new Map(readings.filter(isClear).map(({ day, text }) => [day, text]));
}

function tellsForm({ inputSchema }: Tool, argument: string): boolean {
  const { properties } = inputSchema;
  return (
    isObject(properties) && Object.hasOwn(properties, argument) && TELLS_FORM.test(JSON.stringify(properties[argument]))
  );
}

/** Its schema may ask for a form in other places than beside the argument. */
function takes(tool: Tool, argument: string, values: Record<string, unknown>): boolean {
  const checked = validatorFor(tool).check(values);
  return checked.ok || !checked.issues.some((issue) => issue.startsWith(`${argument}:`));
}
