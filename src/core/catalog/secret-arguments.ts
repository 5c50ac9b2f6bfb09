/**
 * Which arguments a schema marks secret: `writeOnly: true`, `format: "password"` or `x-secret: true`. A mark counts for
 * the argument also where it stands on one of several forms, on the items of a list, or behind a `$ref`.
 */
import { isObject } from './schema/json.js';
import { resolveReference } from './schema/pointer.js';
import type { JsonSchema, Tool } from './tool.js';

/** Deeper than any schema that is written by hand; a schema made without end stops here. */
const MAX_DEPTH = 64;
const DEFINITIONS = ['$defs', 'definitions'];

const namesOfTool = new WeakMap<Tool, readonly string[]>();
const namesOfTools = new WeakMap<readonly Tool[], readonly string[]>();

/** Names of the secret arguments of all these tools; found once a tool and once a list. */
export function secretNamesOf(tools: readonly Tool[]): readonly string[] {
  let names = namesOfTools.get(tools);
  if (names === undefined) {
    names = [...new Set(tools.flatMap(secretNamesOfTool))];
    namesOfTools.set(tools, names);
  }
  return names;
}

function secretNamesOfTool(tool: Tool): readonly string[] {
  let names = namesOfTool.get(tool);
  if (names === undefined) {
    names = secretArgumentNames(tool.inputSchema);
    namesOfTool.set(tool, names);
  }
  return names;
}

/** Names of all properties that are marked, at any depth. */
export function secretArgumentNames(schema: JsonSchema): string[] {
  const names = new Set<string>();
  /** `$ref` that were followed, each with the argument that it was followed for. */
  const followed = new Set<string>();
  const visit = (part: unknown, argument: string | undefined, depth: number): void => {
    if (depth > MAX_DEPTH) return;
    if (Array.isArray(part)) for (const item of part) visit(item, argument, depth + 1);
    if (!isObject(part)) return;
    if (argument !== undefined && isMarked(part)) names.add(argument);
    for (const [keyword, value] of Object.entries(part)) {
      if (keyword === 'properties' && isObject(value)) {
        for (const [name, property] of Object.entries(value)) visit(property, name, depth + 1);
      } else if (DEFINITIONS.includes(keyword)) {
        // A definition is of the arguments that refer to it.
        visit(value, undefined, depth + 1);
      } else if (keyword === '$ref' && typeof value === 'string') {
        const key = JSON.stringify([argument, value]);
        if (followed.has(key)) continue;
        followed.add(key);
        visit(resolveReference(schema, value), argument, depth + 1);
      } else visit(value, argument, depth + 1);
    }
  };
  visit(schema, undefined, 0);
  return [...names];
}

function isMarked(schema: JsonSchema): boolean {
  return schema.writeOnly === true || schema.format === 'password' || schema['x-secret'] === true;
}
