/**
 * The form of a tool's schemas that a model is shown, made once a tool, and arguments as they come back from it. The author's
 * own form judges them.
 */
import { isObject } from '../catalog/schema/json.js';
import { normaliseArguments, normaliseSchema } from '../catalog/schema/normalise.js';
import { fits, type Subschema, subschemaAt } from '../catalog/schema/paths.js';
import type { JsonSchema, Tool } from '../catalog/tool.js';
import { oncePer } from '../kept.js';

export interface Fitted {
  readonly input: JsonSchema;
  readonly output: JsonSchema | undefined;
  /** One change a line, each with its path; those of results begin with `returns`. */
  readonly notes: readonly string[];
}

export const fittedSchemas = oncePer((tool: Tool): Fitted => {
  const input = normaliseArguments(tool.inputSchema);
  const output = tool.outputSchema && normaliseSchema(tool.outputSchema);
  const notes = [...input.notes, ...(output?.notes ?? []).map((note) => `returns ${note}`)];
  return { input: input.schema, output: output?.schema, notes };
});

/**
 * A copy of arguments without `null` for what is left out, as servers with strict schemas write it, also in objects inside.
 * It stays where the tool takes it, and as an element of a list.
 */
export function withoutNulls(values: Readonly<Record<string, unknown>>, schema: Subschema): Record<string, unknown> {
  const kept = Object.entries(values).flatMap(([name, value]) => {
    const inner = schema && subschemaAt(schema, [name]);
    if (value === null && !(inner && fits({ type: 'null' }, inner))) return [];
    return [[name, withoutInnerNulls(value, inner)] as const];
  });
  return Object.fromEntries(kept);
}

function withoutInnerNulls(value: unknown, schema: Subschema): unknown {
  if (isObject(value)) return withoutNulls(value, schema);
  if (!Array.isArray(value)) return value;
  return value.map((item, place) => withoutInnerNulls(item, schema && subschemaAt(schema, [place])));
}
