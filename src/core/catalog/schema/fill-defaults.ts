/** The defaults that a schema gives for what is missing, and nothing else. The given value is never changed. */
import type { JsonSchema } from '../tool.js';
import { isObject } from './json.js';
import { resolveReference } from './pointer.js';

/** Deeper than any schema that people write; a circle of references ends here. */
const MAX_DEPTH = 32;

export interface FillOptions {
  /** Whether `null` is filled in, too, which says no more than nothing. Default: true. */
  nulls?: boolean;
}

/** As ajv's `useDefaults`: in `properties`, `items` and `allOf`, not where a schema only may hold (`anyOf`, `if`). */
export function fillDefaults(schema: JsonSchema, value: unknown, { nulls = true }: FillOptions = {}): unknown {
  return fill(schema, value, { root: schema, depth: 0, nulls });
}

interface Place extends Required<FillOptions> {
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
    else if (isObject(property) && isGiven(property, place)) filled.set(name, structuredClone(property.default));
  }
  return Object.fromEntries(filled);
}

function isGiven(property: JsonSchema, { nulls }: Place): boolean {
  return 'default' in property && (nulls || property.default !== null);
}
