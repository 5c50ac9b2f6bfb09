/** Looks into schemas: the schema at a path, which values fit, and defaults. */
import { oncePer } from '../../kept.js';
import type { JsonSchema } from '../tool.js';
import {
  childrenOf,
  isObject,
  type JsonType,
  jsonTypeOf,
  listOf,
  objectOf,
  typesOf,
  weightOf,
  withoutRepeats,
  withoutUndefined,
} from './json.js';
import { resolveReference } from './references.js';

/** Stops at circular references, and at nesting deeper than people write. */
const MAX_DEPTH = 16;
/** Behind longer paths a schema says nothing. */
const MAX_STEPS = 64;

/** An empty schema allows any value. Undefined: no such field, since the node is closed or declares other fields. */
export type Subschema = JsonSchema | undefined;

/**
 * Follows names and indexes through `$ref`, `allOf`, `anyOf`, `oneOf`, `items` and `prefixItems`. Several matches are
 * returned as `anyOf`. The result includes the root's definitions if it refers to them.
 */
export function subschemaAt(schema: JsonSchema, path: readonly (string | number)[]): Subschema {
  if (path.length > MAX_STEPS) return {};
  let current: Subschema = schema;
  for (const step of path) {
    if (current === undefined) return undefined;
    current = combine(stepInto(current, step, { root: schema, depth: 0 }));
  }
  if (current === undefined || current === schema || !holdsReference(current)) return current;
  const { $id, $defs, definitions } = schema;
  return withoutUndefined({ $id, $defs, definitions, ...current });
}

const holdsReference = oncePer((schema: JsonSchema) => JSON.stringify(schema).includes('"$ref"'));

interface Walk {
  readonly root: JsonSchema;
  readonly depth: number;
}

const FIELDS = ['properties', 'additionalProperties', 'patternProperties', 'items', 'prefixItems'];

function stepInto(node: JsonSchema, step: string | number, { root, depth }: Walk): JsonSchema[] {
  if (depth > MAX_DEPTH) return [{}];
  const forms = formsOf(node, root);
  const said = forms.flatMap((form) => stepInto(form, step, { root, depth: depth + 1 }));
  if (forms.length > 0 && !FIELDS.some((keyword) => keyword in node)) return said;
  const own = ownStep(node, step);
  return [own === true ? {} : own, ...said].filter(isObject);
}

function ownStep(node: JsonSchema, step: string | number): unknown {
  const types = typesOf(node);
  const takes = (type: JsonType) => types.length === 0 || types.includes(type);
  if (/^\d+$/.test(String(step)) && takes('array') && !isObject(node.properties)) return elementAt(node, Number(step));
  return takes('object') ? propertyAt(node, String(step)) : undefined;
}

function elementAt(node: JsonSchema, index: number): unknown {
  if (typeof node.maxItems === 'number' && index >= node.maxItems) return undefined;
  const { prefixItems } = node;
  return Array.isArray(prefixItems) && index < prefixItems.length ? prefixItems[index] : (node.items ?? true);
}

function propertyAt(node: JsonSchema, name: string): unknown {
  const properties = objectOf(node.properties);
  if (Object.hasOwn(properties, name)) return properties[name];
  if (node.additionalProperties !== undefined) return node.additionalProperties;
  return isObject(node.patternProperties) || Object.keys(properties).length === 0 ? true : undefined;
}

function formsOf(node: JsonSchema, root: JsonSchema): JsonSchema[] {
  const target = typeof node.$ref === 'string' ? resolveReference(root, node.$ref) : undefined;
  return [target, node.allOf, node.anyOf, node.oneOf].flatMap(listOf).filter(isObject);
}

function combine(found: readonly JsonSchema[]): Subschema {
  const different = [...new Set(found)].filter((schema) => Object.keys(schema).length > 0);
  const distinct = different.length < 2 ? different : withoutRepeats(different).filter(isObject);
  return distinct.length > 1 ? { anyOf: distinct } : (distinct[0] ?? found[0]);
}

export interface Field {
  /** From the root, for example `['rooms', 0, 'id']`; a list is represented by its first element. */
  readonly path: readonly (string | number)[];
  readonly schema: JsonSchema;
}

/** The fields of a value, each path once, within the limits of `most`. A recursive definition is not entered again. */
export function fieldsOf(root: JsonSchema, most: { readonly steps: number; readonly fields: number }): Field[] {
  const found = new Map<string, Field>();
  const visited = new Map<JsonSchema, Set<string>>();
  const visit = (path: Field['path'], schema: unknown, around: readonly unknown[]): void => {
    if (!isObject(schema) || around.includes(schema) || path.length > most.steps || found.size >= most.fields) return;
    const key = JSON.stringify(path);
    const places = visited.get(schema) ?? new Set();
    if (places.has(key)) return;
    visited.set(schema, places.add(key));
    if (path.length > 0 && !found.has(key)) found.set(key, { path, schema });
    const inside = [...around, schema];
    for (const form of formsOf(schema, root)) visit(path, form, inside);
    for (const [name, property] of Object.entries(objectOf(schema.properties)))
      visit([...path, name], property, inside);
    for (const [place, item] of [schema.prefixItems ?? schema.items].flat().entries())
      visit([...path, place], item, inside);
  };
  visit([], root, []);
  return [...found.values()];
}

/**
 * Whether a value of `produced` can be used for `wanted`, by their types and the types of list elements. `false` only if it
 * surely can't: unknown types fit, `integer` and `number` fit each other, and one common type is enough.
 */
export function fits(produced: JsonSchema, wanted: JsonSchema): boolean {
  const known = new Map<unknown, Map<unknown, boolean>>();
  const fitsAt = (given: unknown, asked: unknown, depth: number): boolean => {
    const [has, wants] = [kindsOf(given, produced), kindsOf(asked, wanted)];
    if (has.length === 0 || wants.length === 0 || depth > MAX_DEPTH) return true;
    const ofGiven = known.get(given) ?? new Map<unknown, boolean>();
    known.set(given, ofGiven);
    const isFit = (one: Kind, other: Kind) =>
      one.type === other.type && (one.type !== 'array' || fitsAt(one.items, other.items, depth + 1));
    // A recursive list is assumed to fit while its own check is running.
    const fit = ofGiven.get(asked);
    if (fit !== undefined) return fit;
    ofGiven.set(asked, true);
    const isFitting = has.some((one) => wants.some((other) => isFit(one, other)));
    ofGiven.set(asked, isFitting);
    return isFitting;
  };
  return fitsAt(produced, wanted, 0);
}

interface Kind {
  readonly type: JsonType;
  readonly items: unknown;
}

function kindsOf(node: unknown, root: JsonSchema, depth = 0): Kind[] {
  if (!isObject(node) || depth > MAX_DEPTH) return [];
  const values = 'const' in node ? [node.const] : Array.isArray(node.enum) ? node.enum : undefined;
  const types = new Set(values?.map(jsonTypeOf) ?? typesOf(node));
  if (types.size > 0)
    return [...types].map((type) => ({ type: type === 'integer' ? 'number' : type, items: node.items }));
  return formsOf(node, root).flatMap((form) => kindsOf(form, root, depth + 1));
}

/** Limits visited properties plus added parts of defaults, since each element of a list may have them all. */
const MOST_FILLING = 2 ** 18;
/** Copying a default, and looking into it, takes longer than a property. */
const COPY_STEPS = 8;

/**
 * A copy of the value with the schema's defaults for missing fields, except defaults of `null`, which add nothing. As ajv's
 * `useDefaults`: in `properties`, `items` and `allOf`, also inside defaults, not in conditional parts (`anyOf`, `if`). Each
 * node fills a value once, and a filled value gets no more defaults. Undefined when that takes too many steps.
 */
export function fillDefaults(schema: JsonSchema, value: unknown): unknown {
  let steps = 0;
  const fill = (nodes: readonly unknown[], given: unknown, depth: number): unknown => {
    const own = depth > 2 * MAX_DEPTH || steps > MOST_FILLING ? [] : withJoined(nodes, schema);
    steps += own.length;
    if (Array.isArray(given)) {
      const items = own.map((node) => node.items).filter(isObject);
      return items.length === 0 ? given : given.map((item) => fill(items, item, depth + 1));
    }
    if (!isObject(given)) return given;
    const fields = new Map(Object.entries(given));
    const properties = new Map<string, unknown[]>();
    for (const node of own)
      for (const [name, property] of Object.entries(objectOf(node.properties))) {
        steps += 1;
        const inner = properties.get(name) ?? [];
        inner.push(property);
        properties.set(name, inner);
        if (fields.has(name) || !isObject(property) || (property.default ?? null) === null) continue;
        if (steps > MOST_FILLING) break;
        steps += COPY_STEPS + weightOf(property.default);
        fields.set(name, structuredClone(property.default));
      }
    // After all nodes, since a later one may have the default that an earlier one fills in.
    for (const [name, inner] of properties)
      if (fields.has(name)) fields.set(name, fill(inner, fields.get(name), depth + 1));
    return Object.fromEntries(fields);
  };
  const filled = fill([schema], value, 0);
  return steps > MOST_FILLING ? undefined : filled;
}

/** The nodes with all that they include by `$ref` and `allOf`, each once; included nodes come first. */
function withJoined(nodes: readonly unknown[], root: JsonSchema): JsonSchema[] {
  const joined = new Set<JsonSchema>();
  const open = new Set<JsonSchema>();
  const visit = (node: unknown): void => {
    if (!isObject(node) || open.has(node)) return;
    open.add(node);
    const target = typeof node.$ref === 'string' ? resolveReference(root, node.$ref) : undefined;
    for (const part of [target, node.allOf].flatMap(listOf)) visit(part);
    joined.add(node);
  };
  for (const node of nodes) visit(node);
  return [...joined];
}

/** Which values the schemas under a keyword describe; under all other keywords, the same value. */
const ABOUT = new Map<string, SchemaPart['about']>([
  ['properties', 'named'],
  ['patternProperties', 'fields'],
  ['propertyNames', 'fields'],
  ['additionalProperties', 'rest'],
  ['unevaluatedProperties', 'rest'],
  ['prefixItems', 'placed'],
  ['items', 'items'],
  ['additionalItems', 'items'],
  ['unevaluatedItems', 'items'],
  ['contains', 'items'],
  ['$defs', 'definition'],
  ['definitions', 'definition'],
]);

export interface SchemaPart {
  /** `named` and `placed`: the field or item at `step`. `rest`: fields that are not named. */
  readonly about: 'same' | 'named' | 'fields' | 'rest' | 'placed' | 'items' | 'definition';
  readonly step?: string | number | undefined;
  readonly node: JsonSchema;
}

/** The schemas inside a node, and the targets of its references. */
export function partsOf(node: JsonSchema, root: JsonSchema): SchemaPart[] {
  const references = [node.$ref, node.$dynamicRef].filter((word) => typeof word === 'string');
  const parts = childrenOf(node).map(({ keyword, step, value }) => {
    const about = ABOUT.get(keyword) ?? 'same';
    return { about: about === 'items' && step !== undefined ? 'placed' : about, step, node: value } as const;
  });
  const targets = references.map((one) => ({ about: 'same', node: resolveReference(root, one) }) as const);
  return [...targets, ...parts].flatMap(({ node: inner, ...part }) =>
    isObject(inner) ? [{ ...part, node: inner }] : [],
  );
}
