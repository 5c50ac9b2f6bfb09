/**
 * `3/4/2026` is the third of April or the fourth of March. Where a tool does not say in which form it wants a date, such
 * a one is handed on as the user wrote it: a model that makes it `2026-03-04` has guessed, and nobody sees it any more.
 */
import { isObject } from '../catalog/schema/json.js';
import type { Tool } from '../catalog/tool.js';
import type { Step } from '../result.js';

const IN_FIGURES = /(?<!\d)(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?!\d)/gu;
/** A pattern of letters, a standard, or an example. */
const TELLS_FORM = /y{2,4}\W?m|[md]{2}\W?[md]{2}|iso|"format"|"pattern"|"enum"|"const"|\d{4}-\d{2}-\d{2}|\d\/\d/iu;

/** The same step, with the dates of the message that can be read in two ways as they stand there. */
export function withDatesAsWritten(step: Step, tool: Tool | undefined, message: string): Step {
  const written = ambiguousDates(message);
  if (written.size === 0 || !tool || TELLS_FORM.test(tool.description)) return step;
  const entries = Object.entries(step.arguments).map(([name, value]): [string, unknown] => {
    const asWritten = typeof value === 'string' ? written.get(value) : undefined;
    return [name, asWritten === undefined || tellsForm(tool, name) ? value : asWritten];
  });
  return { ...step, arguments: Object.fromEntries(entries) };
}

/** `2026-03-04` and `2026-04-03` -> `3/4/2026`. */
function ambiguousDates(message: string): Map<string, string> {
  const dates = [...message.matchAll(IN_FIGURES)].filter(([, one, , other]) => isMonth(one) && isMonth(other));
  return new Map(
    dates.flatMap(([text, one = '', , other = '', year]): [string, string][] =>
      Number(one) === Number(other)
        ? []
        : [
            [`${year}-${one.padStart(2, '0')}-${other.padStart(2, '0')}`, text],
            [`${year}-${other.padStart(2, '0')}-${one.padStart(2, '0')}`, text],
          ],
    ),
  );
}

function isMonth(text: string | undefined): boolean {
  return Number(text) >= 1 && Number(text) <= 12;
}

function tellsForm({ inputSchema }: Tool, argument: string): boolean {
  const { properties } = inputSchema;
  return isObject(properties) && TELLS_FORM.test(JSON.stringify(properties[argument]));
}
