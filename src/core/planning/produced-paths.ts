/** The fields that the chosen tools return, as paths that a reference can name, with the type that stands there. */
import { isObject } from '../catalog/schema/json.js';
import { fits } from '../catalog/schema/paths.js';
import type { JsonSchema, Tool } from '../catalog/tool.js';
import { fittedSchemas } from './fitted.js';
import { canName, renderPath } from './references.js';

export interface ProducedPath {
  readonly path: string;
  readonly schema: JsonSchema;
}

const MAX_DEPTH = 4;
const MAX_PATHS = 200;

/** `undefined` when a tool does not tell what it returns: then any path may be right. */
export function producedPaths(tools: readonly Tool[]): ProducedPath[] | undefined {
  const found = new Map<string, ProducedPath>();
  for (const tool of tools) {
    const output = fittedSchemas(tool).output;
    if (!output || !isTelling(output)) return undefined;
    collect(output, [], found);
  }
  return found.size > MAX_PATHS ? undefined : [...found.values()];
}

/** Paths whose value can stand for an argument of this schema. */
export function pathsFor(argument: JsonSchema, paths: readonly ProducedPath[] | undefined): string[] | undefined {
  const fitting = paths?.filter((produced) => fits(produced.schema, argument)).map((produced) => produced.path);
  return fitting && [...new Set(fitting)];
}

function isTelling(schema: JsonSchema): boolean {
  return (
    (isObject(schema.properties) && Object.keys(schema.properties).length > 0) ||
    (schema.type === 'array' && isObject(schema.items))
  );
}

function collect(schema: JsonSchema, path: readonly (string | number)[], found: Map<string, ProducedPath>): void {
  if (path.length > 0) {
    const text = renderPath(path);
    // Two tools may give one name to fields of two types.
    const key = `${text} ${JSON.stringify([schema.type, schema.enum])}`;
    if (!found.has(key)) found.set(key, { path: text, schema });
  }
  if (path.length >= MAX_DEPTH) return;
  if (isObject(schema.items)) collect(schema.items, [...path, 0], found);
  if (!isObject(schema.properties)) return;
  for (const [name, inner] of Object.entries(schema.properties)) {
    if (isObject(inner) && canName(name)) collect(inner, [...path, name], found);
  }
}
