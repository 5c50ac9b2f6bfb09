/** Arguments as they came -> arguments as the tool gets them: a plain copy, defaults filled in, checked. */

import { isObject, joinPath } from '../core/catalog/schema/json.js';
import { fillDefaults } from '../core/catalog/schema/paths.js';
import type { Tool } from '../core/catalog/tool.js';
import { validatorFor } from '../core/catalog/validate.js';
import { type CallFailure, fail } from './failure.js';
import { toJson } from './json-value.js';

export interface Prepared {
  readonly ok: true;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly notes: readonly string[];
}

export function prepareArguments(tool: Tool, given: unknown): Prepared | CallFailure {
  const poison = findPoison(given, '', 0);
  if (poison !== undefined) return refuse(tool, [poison]);
  const copy = toJson(given);
  if (!copy.ok) return refuse(tool, [`(arguments): ${copy.reason}`]);
  if (!isObject(copy.value)) return refuse(tool, ['(arguments): must be object']);
  const check = validatorFor(tool);
  const filled = fillDefaults(tool.inputSchema, copy.value);
  const result = check(filled);
  if (result.ok) return { ok: true, arguments: isObject(filled) ? filled : copy.value, notes: copy.notes };
  // Many generated schemas have defaults that they themselves do not allow, such as a number for a text.
  if (!check(copy.value).ok) return refuse(tool, result.issues);
  const note = `the defaults of ${tool.name} do not pass its own schema, so they were not filled in`;
  return { ok: true, arguments: copy.value, notes: [...copy.notes, note] };
}

function refuse(tool: Tool, issues: readonly string[]): CallFailure {
  return fail('invalid_arguments', `The arguments of ${tool.name} are not usable: ${issues.join('; ')}.`, { issues });
}

const MAX_DEPTH = 100;

/**
 * Keys with which a careless merge changes the prototype of all objects: `__proto__`, and `constructor.prototype`.
 * `constructor` alone is a fair name. The same rule as in the npm package secure-json-parse.
 */
function findPoison(value: unknown, path: string, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > MAX_DEPTH) return `${path.slice(0, 40)}…: nested more than ${MAX_DEPTH} levels deep`;
  if (Array.isArray(value))
    return firstOf(value.entries(), (item, index) => findPoison(item, joinPath(path, index), depth + 1));
  return firstOf(Object.entries(value), (part, key) => {
    const place = joinPath(path, key);
    const isPrototype = key === 'constructor' && isObject(part) && Object.hasOwn(part, 'prototype');
    return key === '__proto__' || isPrototype
      ? `${place}: this name is not allowed`
      : findPoison(part, place, depth + 1);
  });
}

function firstOf<K>(
  entries: Iterable<[K, unknown]>,
  find: (value: unknown, key: K) => string | undefined,
): string | undefined {
  for (const [key, value] of entries) {
    const found = find(value, key);
    if (found !== undefined) return found;
  }
  return undefined;
}
