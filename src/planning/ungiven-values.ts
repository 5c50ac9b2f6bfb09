/**
 * Required values of a plan that nobody gave, while the result of an earlier step is used by none: the model worked a
 * number out, or made it up, in place of a reference. Only numbers and what is mostly digits can be judged so. Of the
 * plans that the benchmarks and fixtures hold to be right, two of 429 with several steps have such a value.
 */
import { isObject } from '../catalog/schema/json.js';
import type { JsonSchema, Tool } from '../catalog/tool.js';
import type { Step } from '../result.js';
import type { AwaitedArgument } from './awaited.js';
import { fittedSchemas } from './fitted.js';
import { pathsFor, producedPaths } from './produced-paths.js';
import { findReferences, textsIn } from './references.js';
import { requiredAt } from './required-at.js';

export interface UngivenValue extends AwaitedArgument {
  /** For the repair and the trace. */
  readonly problem: string;
}

export interface Givers {
  tools: ReadonlyMap<string, Tool>;
  /** All that the model was told of the request. */
  said: string;
}

export function ungivenValues(steps: readonly Step[], { tools, said }: Givers): UngivenValue[] {
  const used = new Set(steps.flatMap(({ arguments: values }) => referredIn(values)));
  const numbers = numbersIn(said.replace(DATE, ' '));
  return steps.flatMap(({ id, tool: name, arguments: values }, place) => {
    const idle = steps.slice(0, place).flatMap((step) => (used.has(step.id) ? [] : (tools.get(step.tool) ?? [])));
    const tool = tools.get(name);
    const required = requiredAt(tool) ?? [];
    return required.flatMap((argument): UngivenValue[] => {
      const schema = argumentSchema(tool, argument);
      const producers = idle.filter((one) => mayProduce(one, schema)).map((one) => one.name);
      const known = [...numbers, ...numbersIn(JSON.stringify(schema))];
      if (producers.length === 0 || isGiven(values[argument], known)) return [];
      const problem = `${id}.arguments.${argument}: nobody gave ${JSON.stringify(values[argument])}; refer to the step that finds it`;
      return [{ tool: name, argument, producers, problem }];
    });
  });
}

function referredIn(values: unknown): string[] {
  return textsIn(values).flatMap(({ text }) => findReferences(text).map(({ step }) => step));
}

function argumentSchema(tool: Tool | undefined, argument: string): JsonSchema {
  const properties = tool && fittedSchemas(tool).input.properties;
  const schema = isObject(properties) ? properties[argument] : undefined;
  return isObject(schema) ? schema : {};
}

/** Also where it does not tell what it returns. */
function mayProduce(tool: Tool, schema: JsonSchema): boolean {
  return pathsFor(schema, producedPaths([tool]))?.length !== 0;
}

const DATE = /\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}/gu;
/** What is less than this much digits has other things to say. */
const MOSTLY_DIGITS = 1 / 3;

function isGiven(value: unknown, known: readonly number[]): boolean {
  if (typeof value === 'number') return isCount(value) || isInOtherUnits(Math.abs(value), known);
  if (typeof value !== 'string' || findReferences(value).length > 0 || value.search(DATE) >= 0) return true;
  const digits = value.match(/\d/gu) ?? [];
  if (digits.length < value.length * MOSTLY_DIGITS) return true;
  return numbersIn(value).every((number) => number === 0 || known.some((one) => isSameOnClock(one, number)));
}

/** "for the two of us": said in words, in any language. */
const MOST_IN_WORDS = 12;

function isCount(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= MOST_IN_WORDS;
}

/** Days of a week, months of a year, hours, minutes, seconds. */
const UNITS = [1, 7, 12, 24, 60, 3600, 86_400];
/** Percent, thousands, grams and kilograms. */
const POWERS_OF_TEN = [-6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6].map((power) => 10 ** power);

function isInOtherUnits(value: number, known: readonly number[]): boolean {
  return known.some((one) =>
    [...UNITS, ...POWERS_OF_TEN].some((factor) => isClose(value, one * factor) || isClose(value * factor, one)),
  );
}

function isClose(one: number, other: number): boolean {
  return Math.abs(one - other) <= 1e-9 * Math.max(1, one, other);
}

/** "at 7 in the evening" is 19:00. */
function isSameOnClock(said: number, written: number): boolean {
  return [0, 12, -12].some((hours) => said + hours === written);
}

/** `1,500` and `9.30` as a whole and in their parts: the mark may part two values, too. */
function numbersIn(text: string): number[] {
  const found = text.normalize('NFKC').match(/\d+(?:,\d{3})*(?:\.\d+)?/gu) ?? [];
  return found.flatMap((one) => [one.replaceAll(',', ''), ...one.split(/[,.]/u)].map(Number));
}
