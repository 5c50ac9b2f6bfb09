/**
 * Required values of a plan that nobody gave, while the result of an earlier step is used by none: the model worked a
 * number out, or made it up, in place of a reference. Only numbers and what is mostly digits can be judged so, and only
 * where the request says no number and no time in words. Of the plans that the benchmarks and fixtures hold to be
 * right, two of 429 with several steps have such a value.
 */
import type { JsonSchema, Tool } from '../catalog/tool.js';
import type { Step } from '../result.js';
import type { AwaitedArgument } from './awaited.js';
import { pathsFor, producedPaths } from './produced-paths.js';
import { findReferences, textsIn } from './references.js';
import { requiredArguments } from './required-at.js';
import { type Numerals, numeralsOf } from './said-numbers.js';

export interface UngivenValue extends AwaitedArgument {
  /** For the repair and the trace. Without the value, which may be a secret. */
  readonly problem: string;
}

export interface Givers {
  tools: ReadonlyMap<string, Tool>;
  /** All that the model was told of the request. */
  said: string;
}

export function ungivenValues(steps: readonly Step[], { tools, said }: Givers): UngivenValue[] {
  const numerals = numeralsOf(said);
  if (!numerals) return [];
  const used = new Set(steps.flatMap(({ arguments: values }) => referredIn(values)));
  return steps.flatMap(({ id, tool: name, arguments: values }, place) => {
    // What only a reference may stand for would be so at each step of the tool.
    if (steps.filter((step) => step.tool === name).length > 1) return [];
    const idle = steps.slice(0, place).flatMap((step) => (used.has(step.id) ? [] : (tools.get(step.tool) ?? [])));
    return requiredArguments(tools.get(name)).flatMap(({ argument, schema }): UngivenValue[] => {
      const producers = idle.filter((one) => mayProduce(one, schema)).map((one) => one.name);
      if (producers.length === 0 || isGiven(values[argument], numerals, schema)) return [];
      const problem = `${id}.arguments.${argument}: nobody gave this value; refer to the step that finds it`;
      return [{ tool: name, argument, producers: [...new Set(producers)], problem }];
    });
  });
}

function referredIn(values: unknown): string[] {
  return textsIn(values).flatMap(({ text }) => findReferences(text).map(({ step }) => step));
}

/** Also where it does not tell what it returns. */
function mayProduce(tool: Tool, schema: JsonSchema): boolean {
  return pathsFor(schema, producedPaths([tool]))?.length !== 0;
}

/** What is less than this much digits has other things to say. */
const MOSTLY_DIGITS = 1 / 3;
/** "for the two of us": counts that are said without a number. */
export const MOST_UNSAID = 12;

function isGiven(value: unknown, numerals: Numerals, schema: JsonSchema): boolean {
  if (typeof value === 'number') return isCount(value) || numerals.hold(String(Math.abs(value)), schema);
  if (typeof value !== 'string' || findReferences(value).length > 0) return true;
  const digits = value.match(/\d/gu) ?? [];
  if (digits.length < value.length * MOSTLY_DIGITS || isCount(Number(value))) return true;
  return numerals.hold(value, schema);
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) <= MOST_UNSAID;
}
