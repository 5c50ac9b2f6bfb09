/** What an output schema says at a path, and whether a value of one schema can stand where another is wanted. */
import { isObject, isOfType, type JsonType, jsonTypeOf, sameJson, typesOf } from './schema/json.js';
import { resolveReference } from './schema/pointer.js';
import type { JsonSchema } from './tool.js';

/** `any`: open, untyped. `undefined`: no such field: closed, or not among the declared ones. */
export type Subschema = JsonSchema | 'any' | undefined;

const MAX_DEPTH = 16;

/**
 * Follows names and indexes through `$ref`, `allOf`, `anyOf`, `oneOf`, `items` and `prefixItems`. What is found
 * in several forms comes back as `anyOf`. The result carries the root's definitions where it refers to them.
 */
export function subschemaAt(schema: JsonSchema, path: readonly (string | number)[]): Subschema {
  let current: Subschema = isUntyped(schema) ? 'any' : schema;
  for (const step of path) {
    if (current === undefined || current === 'any') return current;
    current = combine(stepInto(current, step, { root: schema, depth: 0 }));
  }
  if (current === undefined || current === 'any' || current === schema) return current;
  return withDefinitions(current, schema);
}

interface Walk {
  root: JsonSchema;
  depth: number;
}

/** All that the node and its forms say of one field. */
function stepInto(node: JsonSchema, step: string | number, { root, depth }: Walk): Subschema[] {
  if (depth > MAX_DEPTH) return ['any'];
  const below = { root, depth: depth + 1 };
  const forms = formsOf(node, root).flatMap((form) => stepInto(form, step, below));
  // A node that only names its type leaves the word to its forms.
  const own = forms.length === 0 || FIELDS.some((keyword) => keyword in node);
  return own ? [toSubschema(ownStep(node, step)), ...forms] : forms;
}

const FIELDS = ['properties', 'additionalProperties', 'patternProperties', 'items', 'prefixItems'];

function toSubschema(said: unknown): Subschema {
  if (said === true || isUntyped(said)) return 'any';
  return isObject(said) ? said : undefined;
}

function ownStep(node: JsonSchema, step: string | number): unknown {
  const types = typesOf(node);
  const takes = (type: JsonType) => types.length === 0 || types.includes(type);
  const index = typeof step === 'number' || /^\d+$/.test(step) ? Number(step) : undefined;
  if (index !== undefined && takes('array') && !isObject(node.properties)) return elementAt(node, index);
  return takes('object') ? propertyAt(node, String(step)) : undefined;
}

function elementAt(node: JsonSchema, index: number): unknown {
  if (typeof node.maxItems === 'number' && index >= node.maxItems) return undefined;
  const isOldTuple = Array.isArray(node.items);
  const tuple = isOldTuple ? node.items : node.prefixItems;
  if (Array.isArray(tuple) && index < tuple.length) return tuple[index];
  const rest = isOldTuple ? node.additionalItems : node.items;
  return rest === undefined ? true : rest;
}

function propertyAt(node: JsonSchema, name: string): unknown {
  const properties = isObject(node.properties) ? node.properties : {};
  if (Object.hasOwn(properties, name)) return properties[name];
  const more = node.additionalProperties;
  if (more !== undefined) return more;
  if (isObject(node.patternProperties)) return true;
  return Object.keys(properties).length === 0 ? true : undefined;
}

/** The schemas that a node refers to or is made of. */
function formsOf(node: JsonSchema, root: JsonSchema): JsonSchema[] {
  const lists = [node.allOf, node.anyOf, node.oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  const target = typeof node.$ref === 'string' ? resolveReference(root, node.$ref) : undefined;
  return [...lists, target].filter(isObject);
}

function combine(found: readonly Subschema[]): Subschema {
  const schemas = found.filter((schema) => isObject(schema));
  const distinct = schemas.filter((schema, index) => schemas.findIndex((other) => sameJson(other, schema)) === index);
  if (distinct.length > 1) return { anyOf: distinct };
  return distinct[0] ?? (found.includes('any') ? 'any' : undefined);
}

const SAYING = ['type', 'enum', 'const', 'properties', 'items', 'prefixItems', 'anyOf', 'oneOf', 'allOf', '$ref'];

function isUntyped(node: unknown): boolean {
  return isObject(node) && !SAYING.some((keyword) => keyword in node);
}

function withDefinitions(node: JsonSchema, root: JsonSchema): JsonSchema {
  if (!JSON.stringify(node).includes('"$ref"')) return node;
  const holders = ['$defs', 'definitions'].filter((holder) => holder in root && !(holder in node));
  return { ...node, ...Object.fromEntries(holders.map((holder) => [holder, root[holder]])) };
}

interface Pair {
  produced: JsonSchema;
  wanted: JsonSchema;
  depth: number;
}

/**
 * Whether a value of `produced` can stand where `wanted` is asked for. `false` only when it surely can't:
 * what is unknown fits, `integer` and `number` fit each other, one common form, type or value is enough.
 */
export function fits(produced: JsonSchema, wanted: JsonSchema): boolean {
  return fitsAt(produced, wanted, { produced, wanted, depth: 0 });
}

function fitsAt(produced: unknown, wanted: unknown, roots: Pair): boolean {
  if (!isObject(produced) || !isObject(wanted) || roots.depth > MAX_DEPTH) return true;
  const below = { ...roots, depth: roots.depth + 1 };
  const producedForms = alternatives(produced, roots.produced);
  if (producedForms) return producedForms.some((form) => fitsAt(form, wanted, below));
  const wantedForms = alternatives(wanted, roots.wanted);
  if (wantedForms) return wantedForms.some((form) => fitsAt(produced, form, below));
  const parts = [wanted, ...(Array.isArray(wanted.allOf) ? wanted.allOf : [])];
  return parts.every((part) => !isObject(part) || plainFits(produced, part, below));
}

/** The forms of a node of which one must hold. */
function alternatives(node: JsonSchema, root: JsonSchema): unknown[] | undefined {
  if (typeof node.$ref === 'string') return [resolveReference(root, node.$ref)];
  return [node.anyOf, node.oneOf].find((list): list is unknown[] => Array.isArray(list) && list.length > 0);
}

function plainFits(produced: JsonSchema, wanted: JsonSchema, roots: Pair): boolean {
  const producedTypes = possibleTypes(produced);
  const wantedTypes = possibleTypes(wanted);
  if (producedTypes.length === 0 || wantedTypes.length === 0) return true;
  const common = producedTypes.filter((type) => wantedTypes.includes(type));
  if (!valuesFit(produced, wanted) || common.length === 0) return false;
  // Another common type than these needs no look inside.
  if (common.some((type) => type !== 'array' && type !== 'object')) return true;
  const asArray = common.includes('array') && fitsAt(produced.items, wanted.items, roots);
  return asArray || (common.includes('object') && objectsFit(produced, wanted, roots));
}

function possibleTypes(node: JsonSchema): JsonType[] {
  const values = valuesOf(node);
  const types = values ? values.map(jsonTypeOf) : typesOf(node);
  const implied: JsonType[] = isObject(node.properties) ? ['object'] : isObject(node.items) ? ['array'] : [];
  const all = types.length > 0 ? types : implied;
  return [...new Set(all.map((type) => (type === 'integer' ? 'number' : type)))];
}

function valuesOf(node: JsonSchema): readonly unknown[] | undefined {
  if ('const' in node) return [node.const];
  return Array.isArray(node.enum) && node.enum.length > 0 ? node.enum : undefined;
}

function valuesFit(produced: JsonSchema, wanted: JsonSchema): boolean {
  const left = valuesOf(produced);
  const right = valuesOf(wanted);
  if (left && right) return left.some((value) => right.some((other) => sameJson(value, other)));
  const types = typesOf(left ? wanted : produced);
  const values = left ?? right;
  const taken = types.includes('integer') ? [...types, 'number' as const] : types;
  return !values || types.length === 0 || values.some((value) => isOfType(value, taken));
}

function objectsFit(produced: JsonSchema, wanted: JsonSchema, roots: Pair): boolean {
  const has = isObject(produced.properties) ? produced.properties : {};
  const wants = isObject(wanted.properties) ? wanted.properties : {};
  const required = Array.isArray(wanted.required) ? wanted.required.map(String) : [];
  const missing = required.filter((name) => !Object.hasOwn(has, name));
  if (missing.length > 0 && produced.additionalProperties === false) return false;
  return required.every((name) => !Object.hasOwn(has, name) || fitsAt(has[name], wants[name], roots));
}
