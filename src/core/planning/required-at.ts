/** Which properties have to be there, at a place inside the arguments of a tool. */
import { isObject } from '../catalog/schema/json.js';
import type { JsonSchema, Tool } from '../catalog/tool.js';
import { fittedSchemas } from './fitted.js';

/**
 * @param path names of properties, `*` for an item of a list; empty: the arguments themselves
 * @returns undefined where the schema does not tell which properties there are
 */
export function requiredAt(tool: Tool | undefined, path: readonly string[] = []): readonly string[] | undefined {
  let schema: JsonSchema | undefined = tool && fittedSchemas(tool).input;
  for (const step of path) schema = inside(schema, step);
  if (!isObject(schema?.properties)) return undefined;
  return Array.isArray(schema.required) ? schema.required.map(String) : [];
}

/** The arguments that a call has to have, each with what is said of it. */
export function requiredArguments(tool: Tool | undefined): { argument: string; schema: JsonSchema }[] {
  const input = tool && fittedSchemas(tool).input;
  return (requiredAt(tool) ?? []).map((argument) => ({ argument, schema: inside(input, argument) ?? {} }));
}

/** What is said of a property, or of the items of a list. */
export function inside(schema: JsonSchema | undefined, step: string): JsonSchema | undefined {
  const next = step === '*' ? schema?.items : isObject(schema?.properties) ? schema.properties[step] : undefined;
  return isObject(next) ? next : undefined;
}
