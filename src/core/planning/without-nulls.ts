/** Servers with strict schemas write `null` for what is left out; it stays where the tool takes it. */
import { isObject } from '../catalog/schema/json.js';
import { fits, type Subschema, subschemaAt } from '../catalog/schema/paths.js';

/** A copy, also of the objects inside; `null` as an element of a list is a value and stays. */
export function withoutNulls(values: Readonly<Record<string, unknown>>, schema: Subschema): Record<string, unknown> {
  const kept = Object.entries(values).flatMap(([name, value]) => {
    const inner = isObject(schema) ? subschemaAt(schema, [name]) : schema;
    if (value === null && !takesNull(inner)) return [];
    return [[name, withoutInnerNulls(value, inner)] as const];
  });
  return Object.fromEntries(kept);
}

function withoutInnerNulls(value: unknown, schema: Subschema): unknown {
  if (isObject(value)) return withoutNulls(value, schema);
  if (!Array.isArray(value)) return value;
  return value.map((item, place) => withoutInnerNulls(item, isObject(schema) ? subschemaAt(schema, [place]) : schema));
}

function takesNull(schema: Subschema): boolean {
  return schema === 'any' || (isObject(schema) && fits({ type: 'null' }, schema));
}
