/** Helpers for JSON values, and two traversals of the schemas inside a schema. */
import equal from 'fast-deep-equal';

const JSON_TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
export type JsonType = (typeof JSON_TYPES)[number];

export function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object or a list. */
export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

export function objectOf(value: unknown): JsonSchema {
  return isObject(value) ? value : {};
}

export function isJsonType(word: unknown): word is JsonType {
  return typeof word === 'string' && (JSON_TYPES as readonly string[]).includes(word);
}

export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'boolean';
  return 'object';
}

export function isOfType(value: unknown, types: readonly JsonType[]): boolean {
  const type = jsonTypeOf(value);
  return types.includes(type) || (type === 'integer' && types.includes('number'));
}

export function typesOf(node: JsonSchema): JsonType[] {
  return listOf(node.type ?? []).filter(isJsonType);
}

type Given<Fields> = { [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name] } & {
  [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<Fields[Name], undefined>;
};

export function withoutUndefined<Fields extends object>(fields: Fields): Given<Fields>;
export function withoutUndefined(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

export function sameJson(left: unknown, right: unknown): boolean {
  return equal(left, right);
}

export function withoutRepeats(values: readonly unknown[]): unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value) ?? 'undefined', value])).values()];
}

const SHOWN_CHARACTERS = 60;

/** A value for a message, cut with an ellipsis; reads no more of it than it shows. */
export function showJson(value: unknown): string {
  const text = startOfJson(value, SHOWN_CHARACTERS + 1);
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`;
}

/** At least the first `characters` of the value as JSON, or all of it. */
function startOfJson(value: unknown, characters: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, characters));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined';
  const isList = Array.isArray(value);
  let text = isList ? '[' : '{';
  for (const key of isList ? value.keys() : Object.keys(value)) {
    if (text.length > characters) return text;
    const name = isList ? '' : `${JSON.stringify(String(key).slice(0, characters))}:`;
    const comma = text.length > 1 ? ',' : '';
    text += comma + name + startOfJson(Reflect.get(value, key), characters - text.length);
  }
  return text + (isList ? ']' : '}');
}

type Path = readonly (string | number)[];

/** A copy with each part changed that is no object or list. */
export function mapLeaves(value: unknown, change: (leaf: unknown, path: Path) => unknown, path: Path = []): unknown {
  if (Array.isArray(value)) return value.map((item, index) => mapLeaves(item, change, [...path, index]));
  if (!isObject(value)) return change(value, path);
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapLeaves(part, change, [...path, key])]));
}

/** The parts that are no object or list, each with its path. */
export function leavesOf(value: unknown): { readonly path: Path; readonly value: unknown }[] {
  const leaves: { path: Path; value: unknown }[] = [];
  mapLeaves(value, (leaf, path) => leaves.push({ path, value: leaf }));
  return leaves;
}

/** `filters`, `tags[0]` -> `filters.tags[0]`. Quotes names that are not plain words. */
export function joinPath(path: string, step: string | number): string {
  if (typeof step === 'number') return `${path}[${step}]`;
  const word = /^[\p{L}\p{N}_$-]+$/u.test(step) ? step : JSON.stringify(step);
  return path === '' ? word : `${path}.${word}`;
}

const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']);
const SINGLES = new Set([
  ...['items', 'additionalItems', 'unevaluatedItems', 'contains', 'additionalProperties', 'unevaluatedProperties'],
  ...['propertyNames', 'not', 'if', 'then', 'else'],
]);

/** A schema inside another: `{keyword: 'properties', step: 'city'}`, `{keyword: 'anyOf', step: 0}`, `{keyword: 'items'}`. */
export interface SchemaChild {
  readonly keyword: string;
  readonly step?: string | number;
  readonly value: unknown;
}

/** A copy with each child changed. `undefined` removes the child, and a list without children loses its keyword. */
export function mapChildren(node: JsonSchema, change: (child: SchemaChild) => unknown): JsonSchema {
  const entries = Object.entries(node).map(([keyword, value]): [string, unknown] => {
    if (MAPS.has(keyword) && isObject(value)) {
      const children = Object.entries(value).map(([step, child]) => [step, change({ keyword, step, value: child })]);
      return [keyword, withoutUndefined(Object.fromEntries(children))];
    }
    if (Array.isArray(value) && LISTS.has(keyword)) {
      const children = value.map((child, step) => change({ keyword, step, value: child }));
      const kept = children.filter((child) => child !== undefined);
      return [keyword, kept.length === 0 ? undefined : kept];
    }
    return [keyword, SINGLES.has(keyword) ? change({ keyword, value }) : value];
  });
  return withoutUndefined(Object.fromEntries(entries));
}

/** Children in the order of `mapChildren`. Copies nothing, since each schema of a catalogue is traversed at the start. */
export function childrenOf(node: JsonSchema): SchemaChild[] {
  const children: SchemaChild[] = [];
  for (const [keyword, value] of Object.entries(node)) {
    if (MAPS.has(keyword) && isObject(value))
      for (const [step, child] of Object.entries(value)) children.push({ keyword, step, value: child });
    else if (Array.isArray(value) && LISTS.has(keyword))
      for (const [step, child] of value.entries()) children.push({ keyword, step, value: child });
    else if (SINGLES.has(keyword)) children.push({ keyword, value });
  }
  return children;
}

const ANNOTATIONS = new Set(['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly']);

/** Merges two schemas that must both hold; annotations of `first` win. `undefined`: one node can't express both. */
export function mergeSchemas(first: JsonSchema, second: JsonSchema): JsonSchema | undefined {
  const merged = new Map(Object.entries(first));
  for (const [keyword, value] of Object.entries(second)) {
    if (merged.has(keyword) && ANNOTATIONS.has(keyword)) continue;
    const both = merged.has(keyword) ? mergeValues(keyword, merged.get(keyword), value) : value;
    if (both === undefined) return undefined;
    merged.set(keyword, both);
  }
  return Object.fromEntries(merged);
}

function mergeValues(keyword: string, left: unknown, right: unknown): unknown {
  if (sameJson(left, right)) return left;
  if (keyword === 'required') return [...new Set([...listOf(left), ...listOf(right)])];
  if (keyword === 'type') {
    const common = listOf(left).filter((type) => listOf(right).includes(type));
    return common.length > 1 ? common : common[0];
  }
  if (keyword !== 'properties' || !isObject(left) || !isObject(right)) return undefined;
  const both = Object.keys(right).filter((name) => Object.hasOwn(left, name));
  const merged = both.map((name) => [name, mergeSchemas(Object(left[name]), Object(right[name]))] as const);
  if (merged.some(([, schema]) => schema === undefined)) return undefined;
  return { ...left, ...right, ...Object.fromEntries(merged) };
}

/** Deeper nesting is a mistake or an attack, and would overflow the stack in a later step. */
const MAX_DEPTH = 200;

/** Cycles (YAML aliases, objects from code) and big integers can't be written as JSON. */
export function findJsonProblem(value: unknown): string | undefined {
  const done = new Set<unknown>();
  const isJson = (part: unknown, depth: number): boolean => {
    if (typeof part !== 'object' || part === null || done.has(part)) return typeof part !== 'bigint';
    if (depth > MAX_DEPTH || !Object.values(part).every((child) => isJson(child, depth + 1))) return false;
    done.add(part);
    return true;
  };
  return isJson(value, 0) ? undefined : `not JSON: refers to itself, or is nested deeper than ${MAX_DEPTH}`;
}

export type JsonSchema = { readonly [key: string]: unknown };

/** Parts of a value, at any depth; a long text counts for several. */
export function weightOf(value: unknown): number {
  if (typeof value === 'string') return 1 + value.length / 100;
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, part) => sum + weightOf(part), 1);
}

/** Whether a value of the schema may be a number. */
export function isNumber(schema: JsonSchema): boolean {
  const types = typesOf(schema);
  return types.includes('number') || types.includes('integer');
}
