/** Given arguments -> arguments for the tool: a plain copy, defaults filled in once, validated. */

import { isObject, joinPath } from '../../core/catalog/schema/json.js';
import { fillDefaults } from '../../core/catalog/schema/paths.js';
import type { Tool } from '../../core/catalog/tool.js';
import { type OpenPlace, validatorFor } from '../../core/catalog/validate.js';
import { type CallFailure, fail } from './failure.js';
import { toJson } from './json-value.js';

export interface Prepared {
  readonly ok: true;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly notes: readonly string[];
}

/**
 * The arguments as the tool gets them. What comes out stays as it is when it is prepared again.
 * @param open places whose values are unknown, and so not checked. Default: none
 */
export function prepareArguments(tool: Tool, given: unknown, open: readonly OpenPlace[] = []): Prepared | CallFailure {
  const read = readArguments(tool, given);
  if (!read.ok) return read;
  const filled = fillDefaults(tool.inputSchema, read.arguments);
  if (filled === undefined) return refuse(tool, ['(arguments): the schema has too many defaults for them: give less']);
  const whole = readArguments(tool, filled);
  if (!whole.ok) return whole;
  const check = validatorFor(tool);
  const result = check(whole.arguments, open);
  if (result.ok) return { ...whole, notes: read.notes };
  // Many generated schemas have invalid defaults, such as a number for a string.
  if (!check(read.arguments, open).ok) return refuse(tool, result.issues);
  const note = `the defaults of ${tool.name} do not pass its own schema, so they were not filled in`;
  return { ...read, notes: [...read.notes, note] };
}

/** Arguments that somebody has decided on: checked only, since what runs must be what was approved. */
export function checkArguments(tool: Tool, decided: unknown): Prepared | CallFailure {
  const read = readArguments(tool, decided);
  if (!read.ok) return read;
  const result = validatorFor(tool)(read.arguments);
  return result.ok ? read : refuse(tool, result.issues);
}

/** A plain copy, within bounds. */
function readArguments(tool: Tool, given: unknown): Prepared | CallFailure {
  const problem = findArgumentProblem(given);
  if (problem !== undefined) return refuse(tool, [problem]);
  const copy = toJson(given);
  if (!copy.ok) return refuse(tool, [`(arguments): ${copy.reason}`]);
  const bytes = Buffer.byteLength(copy.text);
  if (bytes > MOST_ARGUMENT_BYTES)
    return refuse(tool, [`(arguments): have ${bytes} bytes, more than ${MOST_ARGUMENT_BYTES}: give less`]);
  if (!isObject(copy.value)) return refuse(tool, ['(arguments): must be object']);
  return { ok: true, arguments: copy.value, notes: copy.notes };
}

function refuse(tool: Tool, issues: readonly string[]): CallFailure {
  return fail('invalid_arguments', `The arguments of ${tool.name} are not usable: ${issues.join('; ')}.`, { issues });
}

const MAX_DEPTH = 100;
/** No real call has 200 parts; a whole file is one part. */
export const MOST_ARGUMENT_PARTS = 20_000;
/** Of the arguments of one call, as JSON. */
export const MOST_ARGUMENT_BYTES = 2 ** 20;

/** None in place of arguments that are not usable: for the digest and log of a call that is refused. */
export function boundedArguments(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return findArgumentProblem(given) === undefined ? given : {};
}

/**
 * Rejects arguments that are too deep or have too many parts, and keys that allow prototype pollution: `__proto__` and
 * `constructor.prototype`. `constructor` alone is allowed. The same rule as in the npm package secure-json-parse.
 */
export function findArgumentProblem(given: unknown): string | undefined {
  let parts = 0;
  const find = (value: unknown, path: string, depth: number): string | undefined => {
    if (typeof value !== 'object' || value === null) return undefined;
    if (depth > MAX_DEPTH) return `${path.slice(0, 40)}…: nested more than ${MAX_DEPTH} levels deep`;
    for (const key in value) {
      if (!Object.hasOwn(value, key)) continue;
      parts += 1;
      if (parts > MOST_ARGUMENT_PARTS)
        return `(arguments): have more than ${MOST_ARGUMENT_PARTS} parts: give less at once`;
      const part: unknown = Reflect.get(value, key);
      const place = joinPath(path, Array.isArray(value) ? Number(key) : key);
      const isPrototype = key === 'constructor' && isObject(part) && Object.hasOwn(part, 'prototype');
      if (key === '__proto__' || isPrototype) return `${place}: this name is not allowed`;
      const found = find(part, place, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return find(given, '', 0);
}
