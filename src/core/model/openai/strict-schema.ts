/**
 * A response schema in the subset that OpenAI's strict mode takes: the root is an object, every property is required
 * (an optional one may be null), no object is open. What the subset has no word for is left to the check of the answer.
 * Rules: OpenAI, "Structured model outputs", sections "Supported schemas" and "JSON Schema is supported".
 */
import { isObject } from '../../catalog/schema/json.js';
import type { JsonSchema } from '../../catalog/tool.js';
import { isTakenByStrictMode } from './strict-limits.js';
import { InexpressibleError, strictNode } from './strict-node.js';

export interface StrictSchema {
  readonly schema: JsonSchema;
  /** The text of an answer as it would be under the schema that this one was made of; nulls stay. */
  unwrap(text: string): string;
}

/** The root's only property, where the schema describes no object. */
const WRAPPER = 'answer';

/** `undefined` where the subset can't say it: a value of any form, an object of any names, what is too large. */
export function toStrictSchema(schema: JsonSchema): StrictSchema | undefined {
  try {
    const definitions = new Map<string, JsonSchema>();
    const root = strictNode(schema, { root: schema, definitions, depth: 0 });
    const isWrapped = root.type !== 'object';
    const strict = {
      ...(isWrapped ? wrap(root) : root),
      ...(definitions.size > 0 ? { $defs: Object.fromEntries(definitions) } : {}),
    };
    if (!isTakenByStrictMode(strict)) return undefined;
    return { schema: strict, unwrap: isWrapped ? unwrap : (text) => text };
  } catch (error) {
    if (error instanceof InexpressibleError) return undefined;
    throw error;
  }
}

function wrap(root: JsonSchema): JsonSchema {
  return { type: 'object', properties: { [WRAPPER]: root }, required: [WRAPPER], additionalProperties: false };
}

/** Of an answer that was cut only the beginning is taken away; a refusal in words stays as it is. */
function unwrap(text: string): string {
  const start = new RegExp(`^\\s*\\{\\s*"${WRAPPER}"\\s*:\\s*`).exec(text)?.[0];
  if (start === undefined) return text;
  const inner = text.slice(start.length);
  return isJsonObject(text) ? inner.trimEnd().slice(0, -1).trimEnd() : inner;
}

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}
