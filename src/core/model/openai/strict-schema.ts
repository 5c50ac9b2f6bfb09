/**
 * A response schema in the subset that OpenAI's strict mode takes: the root is an object, every property is required
 * (an optional one may be null), no object is open. What the subset has no word for is left to the check of the answer.
 * Rules: OpenAI, "Structured model outputs", sections "Supported schemas" and "JSON Schema is supported".
 */
import {
  isObject,
  isOfType,
  type JsonType,
  jsonTypeOf,
  mergeSchemas,
  typesOf,
  withoutRepeats,
} from '../../catalog/schema/json.js';
import { resolveReference } from '../../catalog/schema/paths.js';
import type { JsonSchema } from '../../catalog/tool.js';
import { parseJson } from './failure.js';

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
      ...(isWrapped ? closedObject({ [WRAPPER]: root }) : root),
      ...(definitions.size > 0 ? { $defs: Object.fromEntries(definitions) } : {}),
    };
    return isTaken(strict) ? { schema: strict, unwrap: isWrapped ? unwrap : (text) => text } : undefined;
  } catch (error) {
    if (error instanceof InexpressibleError) return undefined;
    throw error;
  }
}

/** Only the beginning of a cut answer is taken away; a refusal in words stays as it is. */
function unwrap(text: string): string {
  const [start] = new RegExp(`^\\s*\\{\\s*"${WRAPPER}"\\s*:\\s*`).exec(text) ?? [''];
  const inner = text.slice(start.length);
  return start === '' || parseJson(text) === undefined ? inner : inner.trimEnd().slice(0, -1).trimEnd();
}

/** Internal: never leaves this file. */
class InexpressibleError extends Error {}

interface Build {
  readonly root: JsonSchema;
  /** The definitions that are referred to, converted. */
  readonly definitions: Map<string, JsonSchema>;
  /** Of the node in the schema. */
  readonly depth: number;
}

const MAX_DEPTH = 64;
const ANNOTATIONS = ['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', '$defs'];

function strictNode(node: unknown, above: Build): JsonSchema {
  if (!isObject(node) || above.depth > MAX_DEPTH) throw new InexpressibleError();
  const build = { ...above, depth: above.depth + 1 };
  const { $ref, allOf, ...beside } = node;
  const parts = [...($ref === undefined ? [] : [{ $ref }]), ...(Array.isArray(allOf) ? allOf : [])];
  if (typeof $ref === 'string' && parts.length === 1 && isBare(beside)) return referenceNode($ref, build);
  if (parts.length > 0) return strictNode(merged(beside, parts, build), build);
  const strict = union(formsOf(node, build));
  // A reference stands alone: the server refuses every word beside it.
  const takesWords = typeof node.description === 'string' && !('$ref' in strict) && !('description' in strict);
  return takesWords ? { ...strict, description: node.description } : strict;
}

function isBare(node: JsonSchema): boolean {
  return Object.keys(node).every((keyword) => ANNOTATIONS.includes(keyword));
}

function referenceNode(reference: string, build: Build): JsonSchema {
  const name = /^#\/\$defs\/([^/~%]+)$/.exec(reference)?.[1];
  if (name === undefined) throw new InexpressibleError();
  if (!build.definitions.has(name)) {
    // Its place is taken first: a definition may refer to itself.
    build.definitions.set(name, {});
    build.definitions.set(name, strictNode(resolveReference(build.root, reference), build));
  }
  return { $ref: reference };
}

function merged(node: JsonSchema, parts: readonly unknown[], { root }: Build): JsonSchema {
  return parts.reduce<JsonSchema>((sum, part) => {
    const target = isObject(part) && typeof part.$ref === 'string' ? resolveReference(root, part.$ref) : part;
    const both = isObject(target) ? mergeSchemas(sum, target) : undefined;
    if (!both) throw new InexpressibleError();
    return both;
  }, node);
}

/** One schema a form of the value. */
function formsOf(node: JsonSchema, build: Build): JsonSchema[] {
  if ('const' in node) return valueForms(node, [node.const]);
  if (Array.isArray(node.enum)) return valueForms(node, node.enum);
  const { anyOf, oneOf = anyOf, description: _, ...beside } = node;
  // "At least one of these is required": as forms the server can't tell them apart, so the check says it.
  const isRequired = (form: unknown) => isObject(form) && Object.keys(form).join() === 'required';
  if (Array.isArray(oneOf) && !(isObject(node.properties) && oneOf.every(isRequired))) {
    if (anyOf !== undefined && anyOf !== oneOf) throw new InexpressibleError();
    const forms = oneOf.filter((form) => form !== false);
    if (isBare(beside)) return forms.map((form) => strictNode(form, build));
    // A form that contradicts what stands beside it can't be written.
    const whole = forms.map((form) => mergeSchemas(beside, merged({}, [form], build)));
    return whole.filter((form) => form !== undefined).map((form) => strictNode(form, build));
  }
  const implied = isObject(node.properties) ? ['object' as const] : [];
  const types = typesOf(node);
  return (types.length > 0 ? types : implied).map((type) => typedNode(node, type, build));
}

function valueForms(node: JsonSchema, values: readonly unknown[]): JsonSchema[] {
  const taken = typesOf(node);
  const allowed = withoutRepeats(values).filter((value) => taken.length === 0 || isOfType(value, taken));
  if (allowed.some((value) => typeof value === 'object' && value !== null)) throw new InexpressibleError();
  return [...new Set(allowed.map(jsonTypeOf))].map((type) => {
    const all = allowed.filter((value) => jsonTypeOf(value) === type);
    if (type === 'null') return { type };
    return all.length === 1 ? { type, const: all[0] } : { type, enum: all };
  });
}

const NUMBER_WORDS = ['multipleOf', 'minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum'];
const FORMATS: readonly unknown[] = 'date-time time date duration email hostname ipv4 ipv6 uuid'.split(' ');
/** Lookaround is refused with the whole schema; back-references and the like are no better known to it. */
const BEYOND_ITS_PATTERNS = /\(\?(?!:)|\\[1-9bBkpP]/;

function typedNode(node: JsonSchema, type: JsonType, build: Build): JsonSchema {
  if (type === 'object') return objectNode(node, build);
  if (type === 'array') {
    // What stands at which place is left to the check.
    const places = Array.isArray(node.prefixItems) ? node.prefixItems : [];
    const rest = isObject(node.items) || places.length === 0 ? [node.items] : [];
    const items = union([...places, ...rest].map((item) => strictNode(item, build)));
    return { type, items, ...numbers(node, ['minItems', 'maxItems']) };
  }
  if (type !== 'string') return { type, ...(type === 'null' || type === 'boolean' ? {} : numbers(node, NUMBER_WORDS)) };
  const { format, pattern } = node;
  const isPattern = typeof pattern === 'string' && !BEYOND_ITS_PATTERNS.test(pattern);
  return { type, ...(FORMATS.includes(format) ? { format } : {}), ...(isPattern ? { pattern } : {}) };
}

function numbers(node: JsonSchema, words: readonly string[]): JsonSchema {
  return Object.fromEntries(words.filter((word) => typeof node[word] === 'number').map((word) => [word, node[word]]));
}

/** Names beyond those listed can't be written; an object without any is open. */
function objectNode(node: JsonSchema, build: Build): JsonSchema {
  const listed = isObject(node.properties) ? node.properties : {};
  const required = Array.isArray(node.required) ? node.required.map(String) : [];
  const names = [...new Set([...Object.keys(listed), ...required])];
  const isOpen = node.additionalProperties !== false && (!isObject(node.properties) || 'additionalProperties' in node);
  if (names.length === 0 && isOpen) throw new InexpressibleError();
  const properties = names
    .filter((name) => required.includes(name) || listed[name] !== false)
    .map((name) => {
      const property = strictNode(listed[name], build);
      return [name, required.includes(name) ? property : union([property, { type: 'null' }])] as const;
    });
  // The server tells the forms of an `anyOf` apart by their first key: constants go first.
  const ordered = properties.sort(([, one], [, other]) => Number('const' in other) - Number('const' in one));
  return closedObject(Object.fromEntries(ordered));
}

function closedObject(properties: JsonSchema): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

function union(nodes: readonly JsonSchema[]): JsonSchema {
  const inner = (node: JsonSchema) =>
    Array.isArray(node.anyOf) && Object.keys(node).length === 1 ? node.anyOf : [node];
  const forms = withoutRepeats(nodes.flatMap(inner)).filter(isObject);
  const [only] = forms;
  if (only === undefined) throw new InexpressibleError();
  return forms.length === 1 ? only : { anyOf: forms };
}

/** What the mode takes at most, in 2026: the figures have only ever been raised. */
const MOST = { nesting: 10, characters: 120_000, values: 1_000, shortEnum: 250, enumCharacters: 15_000 };

/** Whether it is small enough, and the forms of each `anyOf` differ in the first key or its constant. */
function isTaken(schema: JsonSchema): boolean {
  const nodes = [schema, ...Object.values(Object(schema.$defs))].flatMap((root) => nodesIn(root, 0));
  const enums = nodes.flatMap(({ enum: values }) => (Array.isArray(values) ? [values] : []));
  const lengthOf = (values: readonly unknown[]) => values.filter((value) => typeof value === 'string').join('').length;
  const names = nodes.flatMap(({ properties }) => Object.keys(Object(properties)));
  const firstKey = (form: unknown) => {
    const target = isObject(form) && typeof form.$ref === 'string' ? resolveReference(schema, form.$ref) : form;
    const [first] = Object.entries(Object(Object(target).properties));
    return first ? [`${first[0]} ${JSON.stringify(Object(first[1]).const)}`] : [];
  };
  return (
    nodes.every(({ nesting, anyOf }) => {
      const keys = Array.isArray(anyOf) ? anyOf.flatMap(firstKey) : [];
      return nesting <= MOST.nesting && new Set(keys).size === keys.length;
    }) &&
    lengthOf([...names, ...enums.flat(), ...nodes.map((node) => node.const)]) <= MOST.characters &&
    enums.flat().length <= MOST.values &&
    enums.every((values) => values.length <= MOST.shortEnum || lengthOf(values) <= MOST.enumCharacters)
  );
}

/** The schema and all schemas inside, each with the number of objects around it. */
function nodesIn(node: unknown, above: number): (JsonSchema & { nesting: number })[] {
  if (!isObject(node)) return [];
  const nesting = above + Number(node.type === 'object');
  const forms = Array.isArray(node.anyOf) ? node.anyOf : [];
  const below = [...Object.values(Object(node.properties)), ...forms, node.items];
  return [{ ...node, nesting }, ...below.flatMap((inner) => nodesIn(inner, nesting))];
}
