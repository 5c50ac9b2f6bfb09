/**
 * Which arguments a schema marks secret: `writeOnly: true`, `format: "password"` or `x-secret: true`. A mark counts for
 * the argument also where it stands on one of several forms, on the items of a list, or behind a `$ref`.
 */
import { childrenOf, isObject } from './schema/json.js';
import { resolveReference } from './schema/paths.js';
import type { JsonSchema, Tool } from './tool.js';

/** Ends a schema that unfolds without end. */
const MAX_DEPTH = 64;

const namesOfTools = new WeakMap<readonly Tool[], readonly string[]>();

/** Names of the secret arguments of all these tools; found once a list. */
export function secretNamesOf(tools: readonly Tool[]): readonly string[] {
  let names = namesOfTools.get(tools);
  if (names === undefined) {
    names = [...new Set(tools.flatMap(({ inputSchema }) => secretArgumentNames(inputSchema)))];
    namesOfTools.set(tools, names);
  }
  return names;
}

/** Names of all marked properties, at any depth. */
export function secretArgumentNames(schema: JsonSchema): string[] {
  const names = new Set<string>();
  /** References that were followed, each with the argument that they stand for. */
  const followed = new Set<string>();
  const visit = (node: unknown, argument: string | undefined, depth: number): void => {
    if (!isObject(node) || depth > MAX_DEPTH) return;
    if (argument !== undefined && isMarked(node)) names.add(argument);
    const key = JSON.stringify([argument, node.$ref]);
    if (typeof node.$ref === 'string' && !followed.has(key)) {
      followed.add(key);
      visit(resolveReference(schema, node.$ref), argument, depth + 1);
    }
    for (const { keyword, step, value } of childrenOf(node)) {
      // A definition belongs to the arguments that refer to it.
      const isDefinition = keyword === '$defs' || keyword === 'definitions';
      const name = keyword === 'properties' ? String(step) : argument;
      visit(value, isDefinition ? undefined : name, depth + 1);
    }
  };
  visit(schema, undefined, 0);
  return [...names];
}

function isMarked(schema: JsonSchema): boolean {
  return schema.writeOnly === true || schema.format === 'password' || schema['x-secret'] === true;
}
