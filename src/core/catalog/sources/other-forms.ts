/** Tools as the interfaces of models write them, OpenAI's and Anthropic's, as entries of a catalogue. */
import { isObject } from '../schema/json.js';

/** Names of `inputSchema` there. */
const SCHEMA_KEYS = ['parameters', 'input_schema'] as const;

/** `{type: "function", function: {name, parameters}}`, `{name, parameters}` and `{name, input_schema}`; all else as it is. */
export function fromOtherForms(entry: unknown): unknown {
  if (!isObject(entry)) return entry;
  return withInputSchema(entry.type === 'function' && isObject(entry.function) ? unwrapped(entry) : entry);
}

function unwrapped({ type: _, function: inner, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return { ...rest, ...Object(inner) };
}

function withInputSchema(entry: Record<string, unknown>): Record<string, unknown> {
  const key = SCHEMA_KEYS.find((name) => isSchemaOfArguments(entry[name]));
  if (key === undefined || entry.inputSchema !== undefined) return entry;
  const { [key]: inputSchema, ...rest } = entry;
  return { ...rest, inputSchema };
}

function isSchemaOfArguments(value: unknown): boolean {
  return isObject(value) && (value.type === 'object' || isObject(value.properties));
}
