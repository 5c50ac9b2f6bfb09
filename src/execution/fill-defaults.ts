/** The defaults that a schema gives for what is missing, and nothing else. The given value is never changed. */
import { isObject } from '../catalog/schema/json.js';
import { resolveReference } from '../catalog/schema/pointer.js';
import type { JsonSchema } from '../catalog/tool.js';

/** Deeper than any schema that people write; a circle of references ends here. */
const MAX_DEPTH = 32;

/** As ajv's `useDefaults`: in `properties`, `items` and `allOf`, not where a schema only may hold (`anyOf`, `if`). */
export function fillDefaults(schema: JsonSchema, value: unknown): unknown {
  return fill(schema, value, { root: schema, depth: 0 });
}

interface Place {
  readonly root: JsonSchema;
  readonly depth: number;
}

function fill(schema: unknown, value: unknown, place: Place): unknown {
  if (!isObject(schema) || place.depth > MAX_DEPTH) return value;
  const inner = { ...place, depth: place.depth + 1 };
  let filled = value;
  if (typeof schema.$ref === 'string') filled = fill(resolveReference(place.root, schema.$ref), filled, inner);
  for (const part of Array.isArray(schema.allOf) ? schema.allOf : []) filled = fill(part, filled, inner);
  if (isObject(filled) && isObject(schema.properties)) return fillProperties(schema.properties, filled, inner);
  if (Array.isArray(filled) && isObject(schema.items)) return filled.map((item) => fill(schema.items, item, inner));
  return filled;
}

function fillProperties(properties: JsonSchema, value: JsonSchema, place: Place): JsonSchema {
  const filled = new Map(Object.entries(value));
  for (const [name, property] of Object.entries(properties)) {
    if (filled.has(name)) filled.set(name, fill(property, filled.get(name), place));
    else if (isObject(property) && 'default' in property) filled.set(name, structuredClone(property.default));
  }
  return Object.fromEntries(filled);
}
