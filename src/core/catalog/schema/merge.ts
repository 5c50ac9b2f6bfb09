/** Puts two schemas that must both hold into one node, where that is plain; else says that it is not. */
import type { JsonSchema } from '../tool.js';
import { isObject, type JsonType, listOf, sameJson, typeKeyword, typesOf } from './json.js';

const ANNOTATIONS = new Set(['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly']);

type MergeValue = (left: unknown, right: unknown) => unknown;

const larger: MergeValue = (left, right) => Math.max(Number(left), Number(right));
const smaller: MergeValue = (left, right) => Math.min(Number(left), Number(right));

const MERGERS: Readonly<Record<string, MergeValue>> = {
  ...Object.fromEntries(['Length', 'Items', 'Properties', 'imum'].map((of) => [`min${of}`, larger])),
  ...Object.fromEntries(['Length', 'Items', 'Properties', 'imum'].map((of) => [`max${of}`, smaller])),
  exclusiveMinimum: larger,
  exclusiveMaximum: smaller,
  uniqueItems: (left, right) => left === true || right === true,
  required: (left, right) => [...new Set([...listOf(left), ...listOf(right)])],
  properties: mergeProperties,
  items: mergeChild,
  additionalProperties: mergeChild,
  type: (left, right) => mergeTypes(typesOf({ type: left }), typesOf({ type: right })),
  enum: (left, right) => {
    const both = listOf(left).filter((value) => listOf(right).some((other) => sameJson(value, other)));
    return both.length > 0 ? both : undefined;
  },
};

/** Annotations of `first` win. `undefined`: they contradict each other, or need both nodes to be said. */
export function mergeSchemas(first: JsonSchema, second: JsonSchema): JsonSchema | undefined {
  const merged = new Map(Object.entries(first));
  for (const [keyword, value] of Object.entries(second)) {
    if (!merged.has(keyword)) merged.set(keyword, value);
    else if (!ANNOTATIONS.has(keyword) && !sameJson(merged.get(keyword), value)) {
      const both = MERGERS[keyword]?.(merged.get(keyword), value);
      if (both === undefined) return undefined;
      merged.set(keyword, both);
    }
  }
  return Object.fromEntries(merged);
}

function mergeTypes(left: readonly JsonType[], right: readonly JsonType[]): unknown {
  const common = left.filter((type) => right.includes(type) || (type === 'integer' && right.includes('number')));
  if (left.includes('number') && right.includes('integer')) common.push('integer');
  return common.length === 0 ? undefined : typeKeyword([...new Set(common)]);
}

function mergeProperties(left: unknown, right: unknown): unknown {
  if (!isObject(left) || !isObject(right)) return undefined;
  const merged = new Map(Object.entries(left));
  for (const [name, schema] of Object.entries(right)) {
    const both = merged.has(name) ? mergeChild(merged.get(name), schema) : schema;
    if (both === undefined) return undefined;
    merged.set(name, both);
  }
  return Object.fromEntries(merged);
}

function mergeChild(left: unknown, right: unknown): unknown {
  if (left === false || right === false) return false;
  if (left === true) return right;
  if (right === true) return left;
  return isObject(left) && isObject(right) ? mergeSchemas(left, right) : undefined;
}
