/** One node of a schema -> the same in the subset of OpenAI's strict mode, or `InexpressibleError`. */
import { isObject, isOfType, type JsonType, jsonTypeOf, typesOf, withoutRepeats } from '../../catalog/schema/json.js';
import { mergeSchemas } from '../../catalog/schema/merge.js';
import { resolveReference } from '../../catalog/schema/paths.js';
import type { JsonSchema } from '../../catalog/tool.js';

/** Internal: never leaves the room. */
export class InexpressibleError extends Error {}

export interface StrictBuild {
  readonly root: JsonSchema;
  /** The definitions that are referred to, converted. */
  readonly definitions: Map<string, JsonSchema>;
  /** Of the node in the schema. */
  readonly depth: number;
}

const MAX_DEPTH = 64;
const ANNOTATIONS = ['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', '$defs'];

export function strictNode(node: unknown, above: StrictBuild): JsonSchema {
  if (!isObject(node)) throw new InexpressibleError('a value of any form');
  if (above.depth > MAX_DEPTH) throw new InexpressibleError('a schema that is nested too deeply');
  const build = { ...above, depth: above.depth + 1 };
  if (typeof node.$ref === 'string') return referenceNode(node, node.$ref, build);
  if ('const' in node) return described(valuesNode(node, [node.const]), node);
  if (Array.isArray(node.enum)) return described(valuesNode(node, node.enum), node);
  if (Array.isArray(node.allOf)) return strictNode(mergedNode(node, node.allOf, build), build);
  const forms = node.anyOf ?? node.oneOf;
  if (Array.isArray(forms) && !saysOnlyWhatIsRequired(node, forms)) return formsNode(node, forms, build);
  const types = typesOf(node);
  const possible = types.length > 0 ? types : impliedTypes(node);
  return described(union(possible.map((type) => typedNode(node, type, build))), node);
}

/** Optional properties are there and null. */
export function nullable(node: JsonSchema): JsonSchema {
  return union([node, { type: 'null' }]);
}

function union(nodes: readonly JsonSchema[]): JsonSchema {
  const forms = withoutRepeats(nodes.flatMap(formsOf)).filter(isObject);
  const [only] = forms;
  if (only === undefined) throw new InexpressibleError('a value of any form');
  return forms.length === 1 ? only : { anyOf: forms };
}

function formsOf(node: JsonSchema): unknown[] {
  return Array.isArray(node.anyOf) && Object.keys(node).length === 1 ? node.anyOf : [node];
}

/** A reference stands alone: the server refuses every word beside it. */
function described(node: JsonSchema, { description }: JsonSchema): JsonSchema {
  const takesWords = typeof description === 'string' && !('$ref' in node) && !('description' in node);
  return takesWords ? { ...node, description } : node;
}

function withoutAnnotations(node: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(node).filter(([keyword]) => !ANNOTATIONS.includes(keyword)));
}

function referenceNode(node: JsonSchema, reference: string, build: StrictBuild): JsonSchema {
  const name = /^#\/\$defs\/([^/~%]+)$/.exec(reference)?.[1];
  const target = resolveReference(build.root, reference);
  if (name === undefined || !isObject(target)) throw new InexpressibleError(`a reference to ${reference}`);
  const { $ref: _, ...beside } = withoutAnnotations(node);
  if (Object.keys(beside).length > 0) {
    const merged = mergeSchemas(beside, target);
    if (!merged) throw new InexpressibleError('conditions beside a reference');
    return strictNode(merged, build);
  }
  if (!build.definitions.has(name)) {
    // Its place is taken first: a definition may refer to itself.
    build.definitions.set(name, {});
    build.definitions.set(name, strictNode(target, build));
  }
  return { $ref: reference };
}

function valuesNode(node: JsonSchema, values: readonly unknown[]): JsonSchema {
  const types = typesOf(node);
  const allowed = types.length === 0 ? values : values.filter((value) => isOfType(value, types));
  const byType = new Map<JsonType, unknown[]>();
  for (const value of allowed) byType.set(jsonTypeOf(value), [...(byType.get(jsonTypeOf(value)) ?? []), value]);
  if (byType.has('object') || byType.has('array')) throw new InexpressibleError('a constant that is no plain value');
  return union(
    [...byType].map(([type, all]) => {
      if (type === 'null') return { type };
      return all.length === 1 ? { type, const: all[0] } : { type, enum: withoutRepeats(all) };
    }),
  );
}

function mergedNode(node: JsonSchema, members: readonly unknown[], build: StrictBuild): JsonSchema {
  const { allOf: _, ...rest } = node;
  return members.reduce<JsonSchema>((sum, member) => {
    const merged = mergeSchemas(sum, resolved(member, build));
    if (!merged) throw new InexpressibleError('allOf that is no one node');
    return merged;
  }, rest);
}

function resolved(member: unknown, build: StrictBuild): JsonSchema {
  const target =
    isObject(member) && typeof member.$ref === 'string' ? resolveReference(build.root, member.$ref) : member;
  if (!isObject(target)) throw new InexpressibleError('a form of any value');
  return target;
}

/** "At least one of these": to write it out would give forms that the server can't tell apart, so the check says it. */
function saysOnlyWhatIsRequired(node: JsonSchema, forms: readonly unknown[]): boolean {
  const isCondition = (form: unknown) => isObject(form) && Object.keys(withoutAnnotations(form)).join() === 'required';
  return isObject(node.properties) && forms.every(isCondition);
}

/** Each form together with what stands beside it; one that contradicts it can't be written. */
function formsNode(node: JsonSchema, forms: readonly unknown[], build: StrictBuild): JsonSchema {
  if (node.anyOf !== undefined && node.oneOf !== undefined) throw new InexpressibleError('oneOf beside anyOf');
  const { anyOf: _anyOf, oneOf: _oneOf, ...beside } = withoutAnnotations(node);
  const isAlone = Object.keys(beside).length === 0;
  const whole = forms.flatMap((form) => {
    if (form === false) return [];
    const merged = isAlone ? form : mergeSchemas(beside, resolved(form, build));
    return merged === undefined ? [] : [strictNode(merged, build)];
  });
  return described(union(whole), node);
}

function impliedTypes(node: JsonSchema): JsonType[] {
  if (isObject(node.properties)) return ['object'];
  return isObject(node.items) || Array.isArray(node.prefixItems) ? ['array'] : [];
}

function typedNode(node: JsonSchema, type: JsonType, build: StrictBuild): JsonSchema {
  switch (type) {
    case 'null':
    case 'boolean':
      return { type };
    case 'integer':
    case 'number':
      return { type, ...pick(node, NUMBER_WORDS) };
    case 'string':
      return { type, ...formatOf(node), ...patternOf(node) };
    case 'array':
      return { type, items: itemsOf(node, build), ...pick(node, ['minItems', 'maxItems']) };
    case 'object':
      return objectNode(node, build);
  }
}

const NUMBER_WORDS = ['multipleOf', 'minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum'];
const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];
/** Lookaround is refused with the whole schema; back-references and the like are no better known to it. */
const BEYOND_ITS_PATTERNS = /\(\?(?!:)|\\[1-9bBkpP]/;

function pick(node: JsonSchema, words: readonly string[]): JsonSchema {
  return Object.fromEntries(words.filter((word) => typeof node[word] === 'number').map((word) => [word, node[word]]));
}

function formatOf({ format }: JsonSchema): JsonSchema {
  return typeof format === 'string' && FORMATS.includes(format) ? { format } : {};
}

function patternOf({ pattern }: JsonSchema): JsonSchema {
  return typeof pattern === 'string' && !BEYOND_ITS_PATTERNS.test(pattern) ? { pattern } : {};
}

/** What stands at which place is left to the check. */
function itemsOf(node: JsonSchema, build: StrictBuild): JsonSchema {
  const places = Array.isArray(node.prefixItems) ? node.prefixItems : [];
  const rest = isObject(node.items) || places.length === 0 ? [node.items] : [];
  return union([...places, ...rest].map((item) => strictNode(item, build)));
}

/** Other names than those listed can't be written; an object without any is open. */
function objectNode(node: JsonSchema, build: StrictBuild): JsonSchema {
  const listed = isObject(node.properties) ? node.properties : {};
  const required = Array.isArray(node.required) ? node.required.map(String) : [];
  const names = [...new Set([...Object.keys(listed), ...required])];
  const isOpen = node.additionalProperties !== false && (!isObject(node.properties) || 'additionalProperties' in node);
  if (names.length === 0 && isOpen) throw new InexpressibleError('an open object');
  const properties = names
    .filter((name) => required.includes(name) || listed[name] !== false)
    .map((name) => {
      const property = strictNode(listed[name], build);
      return [name, required.includes(name) ? property : nullable(property)] as const;
    });
  // The server tells the forms of an `anyOf` apart by their first key.
  const ordered = [...properties.filter(isConstant), ...properties.filter((property) => !isConstant(property))];
  return {
    type: 'object',
    properties: Object.fromEntries(ordered),
    required: ordered.map(([name]) => name),
    additionalProperties: false,
  };
}

function isConstant([, property]: readonly [string, JsonSchema]): boolean {
  return 'const' in property;
}
