/** Ways into a schema: what a `$ref` points at, what stands at a path, what fits there, which defaults it gives. */
import type { JsonSchema } from '../tool.js';
import { isObject, isOfType, type JsonType, jsonTypeOf, listOf, sameJson, typesOf } from './json.js';

/** Ends circles of references, and what is nested deeper than people write. */
const MAX_DEPTH = 16;

/** The node behind `#`, `#/a/b`, `#anchor` or the document's own `$id`; `undefined` outside it. Nothing is fetched. */
export function resolveReference(root: JsonSchema, reference: string): unknown {
  const own = [root.$id, root.id].find((id) => typeof id === 'string' && id !== '' && reference.startsWith(id));
  const fragment = typeof own === 'string' ? reference.slice(own.length) || '#' : reference;
  if (fragment === '#' || fragment === '#/') return root;
  if (fragment.startsWith('#/')) return followPointer(root, fragment);
  return fragment.startsWith('#') ? findAnchor(root, fragment.slice(1)) : undefined;
}

/** Last word of a reference, as a name for a definition: `#/$defs/Node` -> `Node`. */
export function nameOfReference(reference: string): string {
  const last = reference.split(/[/#]/).pop() ?? '';
  return unescapePart(last).replace(/[^\p{L}\p{N}_.-]+/gu, '_') || 'root';
}

/** What `#/a/b` points at in any JSON document. */
export function followPointer(root: unknown, pointer: string): unknown {
  let node = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = unescapePart(part);
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined;
    node = Reflect.get(node, key);
  }
  return node;
}

function unescapePart(part: string): string {
  const plain = part.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

function findAnchor(root: JsonSchema, anchor: string): unknown {
  const definitions = [root.$defs, root.definitions].filter(isObject).flatMap((holder) => Object.values(holder));
  return definitions.find((node) => isObject(node) && [node.$anchor, node.$dynamicAnchor].includes(anchor));
}

/** `any`: open or untyped. `undefined`: no such field, since the node is closed or declares other fields. */
export type Subschema = JsonSchema | 'any' | undefined;

/**
 * Follows names and indexes through `$ref`, `allOf`, `anyOf`, `oneOf`, `items` and `prefixItems`. Several forms come
 * back as `anyOf`. The result carries the root's definitions where it refers to them.
 */
export function subschemaAt(schema: JsonSchema, path: readonly (string | number)[]): Subschema {
  let current = toSubschema(schema);
  for (const step of path) {
    if (current === undefined || current === 'any') return current;
    current = combine(stepInto(current, step, { root: schema, depth: 0 }));
  }
  if (current === undefined || current === 'any' || current === schema) return current;
  if (!JSON.stringify(current).includes('"$ref"')) return current;
  const { $defs, definitions } = schema;
  return {
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
    ...current,
  };
}

interface Walk {
  readonly root: JsonSchema;
  readonly depth: number;
}

const SAYING = ['type', 'enum', 'const', 'properties', 'items', 'prefixItems', 'anyOf', 'oneOf', 'allOf', '$ref'];
const FIELDS = ['properties', 'additionalProperties', 'patternProperties', 'items', 'prefixItems'];

function toSubschema(said: unknown): Subschema {
  if (said === true || (isObject(said) && !SAYING.some((keyword) => keyword in said))) return 'any';
  return isObject(said) ? said : undefined;
}

/** All that the node and its forms say of one field. A node that only names its type leaves the word to its forms. */
function stepInto(node: JsonSchema, step: string | number, { root, depth }: Walk): Subschema[] {
  if (depth > MAX_DEPTH) return ['any'];
  const forms = formsOf(node, root).flatMap((form) => stepInto(form, step, { root, depth: depth + 1 }));
  const speaks = forms.length === 0 || FIELDS.some((keyword) => keyword in node);
  return speaks ? [toSubschema(ownStep(node, step)), ...forms] : forms;
}

function ownStep(node: JsonSchema, step: string | number): unknown {
  const types = typesOf(node);
  const takes = (type: JsonType) => types.length === 0 || types.includes(type);
  if (/^\d+$/.test(String(step)) && takes('array') && !isObject(node.properties)) return elementAt(node, Number(step));
  return takes('object') ? propertyAt(node, String(step)) : undefined;
}

function elementAt(node: JsonSchema, index: number): unknown {
  if (typeof node.maxItems === 'number' && index >= node.maxItems) return undefined;
  const isOldTuple = Array.isArray(node.items);
  const tuple = isOldTuple ? node.items : node.prefixItems;
  if (Array.isArray(tuple) && index < tuple.length) return tuple[index];
  return (isOldTuple ? node.additionalItems : node.items) ?? true;
}

function propertyAt(node: JsonSchema, name: string): unknown {
  const properties = isObject(node.properties) ? node.properties : {};
  if (Object.hasOwn(properties, name)) return properties[name];
  if (node.additionalProperties !== undefined) return node.additionalProperties;
  return isObject(node.patternProperties) || Object.keys(properties).length === 0 ? true : undefined;
}

/** The schemas that a node refers to or is made of. */
function formsOf(node: JsonSchema, root: JsonSchema): JsonSchema[] {
  const target = typeof node.$ref === 'string' ? resolveReference(root, node.$ref) : undefined;
  return [node.allOf, node.anyOf, node.oneOf, target].flatMap(listOf).filter(isObject);
}

function combine(found: readonly Subschema[]): Subschema {
  const schemas = found.filter(isObject);
  const distinct = schemas.filter((schema, index) => schemas.findIndex((other) => sameJson(other, schema)) === index);
  if (distinct.length > 1) return { anyOf: distinct };
  return distinct[0] ?? (found.includes('any') ? 'any' : undefined);
}

interface Roots {
  readonly produced: JsonSchema;
  readonly wanted: JsonSchema;
  readonly depth: number;
}

/**
 * Whether a value of `produced` can stand where `wanted` is asked for. `false` only when it surely can't: what is
 * unknown fits, `integer` and `number` fit each other, one common form, type or value is enough.
 */
export function fits(produced: JsonSchema, wanted: JsonSchema): boolean {
  return fitsAt(produced, wanted, { produced, wanted, depth: 0 });
}

function fitsAt(produced: unknown, wanted: unknown, roots: Roots): boolean {
  if (!isObject(produced) || !isObject(wanted) || roots.depth > MAX_DEPTH) return true;
  const below = { ...roots, depth: roots.depth + 1 };
  const given = alternatives(produced, roots.produced);
  if (given) return given.some((form) => fitsAt(form, wanted, below));
  const asked = alternatives(wanted, roots.wanted);
  if (asked) return asked.some((form) => fitsAt(produced, form, below));
  const parts = [wanted, ...(Array.isArray(wanted.allOf) ? wanted.allOf : [])].filter(isObject);
  return parts.every((part) => plainFits(produced, part, below));
}

/** The forms of a node of which one must hold. */
function alternatives(node: JsonSchema, root: JsonSchema): readonly unknown[] | undefined {
  if (typeof node.$ref === 'string') return [resolveReference(root, node.$ref)];
  return [node.anyOf, node.oneOf].find((list): list is unknown[] => Array.isArray(list) && list.length > 0);
}

function plainFits(produced: JsonSchema, wanted: JsonSchema, roots: Roots): boolean {
  const has = possibleTypes(produced);
  const wants = possibleTypes(wanted);
  if (has.length === 0 || wants.length === 0) return true;
  const common = has.filter((type) => wants.includes(type));
  if (common.length === 0 || !valuesFit(produced, wanted)) return false;
  return common.some((type) => {
    if (type === 'array') return fitsAt(produced.items, wanted.items, roots);
    return type !== 'object' || objectsFit(produced, wanted, roots);
  });
}

function possibleTypes(node: JsonSchema): JsonType[] {
  const types = valuesOf(node)?.map(jsonTypeOf) ?? typesOf(node);
  const implied: JsonType[] = isObject(node.properties) ? ['object'] : isObject(node.items) ? ['array'] : [];
  return (types.length > 0 ? types : implied).map((type) => (type === 'integer' ? 'number' : type));
}

function valuesOf(node: JsonSchema): readonly unknown[] | undefined {
  if ('const' in node) return [node.const];
  return Array.isArray(node.enum) && node.enum.length > 0 ? node.enum : undefined;
}

function valuesFit(produced: JsonSchema, wanted: JsonSchema): boolean {
  const [left, right] = [valuesOf(produced), valuesOf(wanted)];
  if (left && right) return left.some((value) => right.some((other) => sameJson(value, other)));
  const types = typesOf(left ? wanted : produced);
  const taken: JsonType[] = types.includes('integer') ? [...types, 'number'] : types;
  return types.length === 0 || ((left ?? right)?.some((value) => isOfType(value, taken)) ?? true);
}

function objectsFit(produced: JsonSchema, wanted: JsonSchema, roots: Roots): boolean {
  const has = isObject(produced.properties) ? produced.properties : {};
  const wants = isObject(wanted.properties) ? wanted.properties : {};
  const required = Array.isArray(wanted.required) ? wanted.required.map(String) : [];
  return required.every((name) =>
    Object.hasOwn(has, name) ? fitsAt(has[name], wants[name], roots) : produced.additionalProperties !== false,
  );
}

export interface FillOptions {
  /** Whether to fill in `null`, too, which says no more than nothing. Default: true. */
  nulls?: boolean;
}

/**
 * A copy of the value with the schema's defaults for what is missing. As ajv's `useDefaults`: in `properties`, `items`
 * and `allOf`, not in forms that may or may not hold (`anyOf`, `if`).
 */
export function fillDefaults(schema: JsonSchema, value: unknown, { nulls = true }: FillOptions = {}): unknown {
  const fill = (node: unknown, given: unknown, depth: number): unknown => {
    if (!isObject(node) || depth > 2 * MAX_DEPTH) return given;
    const parts = [typeof node.$ref === 'string' ? resolveReference(schema, node.$ref) : undefined, node.allOf];
    const filled = parts.flatMap(listOf).reduce((sum, part) => fill(part, sum, depth + 1), given);
    if (Array.isArray(filled)) return filled.map((item) => fill(node.items, item, depth + 1));
    if (!isObject(filled) || !isObject(node.properties)) return filled;
    const fields = new Map(Object.entries(filled));
    for (const [name, property] of Object.entries(node.properties)) {
      if (fields.has(name)) fields.set(name, fill(property, fields.get(name), depth + 1));
      else if (isObject(property) && 'default' in property && (nulls || property.default !== null))
        fields.set(name, structuredClone(property.default));
    }
    return Object.fromEntries(fields);
  };
  return fill(schema, value, 0);
}
