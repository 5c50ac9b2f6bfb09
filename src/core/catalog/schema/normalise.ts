/**
 * Converts any schema to one dialect: draft 2020-12, with `$ref` to its own `$defs` only. Invalid parts are left out with a
 * note, so that validators accept the rest. Pure: it changes no input and fetches nothing.
 */

import { oncePer } from '../../kept.js';
import { createUniqueNames } from '../../unique-names.js';
import type { JsonSchema, Tool } from '../tool.js';
import {
  isJsonType,
  isObject,
  isOfType,
  type JsonType,
  joinPath,
  listOf,
  mapChildren,
  mergeSchemas,
  objectOf,
  type SchemaChild,
  sameJson,
  showJson,
  typesOf,
  withoutUndefined,
} from './json.js';
import { fits, type Subschema, subschemaAt } from './paths.js';
import { dereference, nameOfReference } from './references.js';
import { isPattern } from './safe-pattern.js';

interface NormalisedSchema {
  readonly schema: JsonSchema;
  /** One change per note, with its path: `filters.date: default "soon" does not fit: left out`. */
  readonly notes: readonly string[];
}

interface NormaliseOptions {
  readonly root?: JsonSchema;
  readonly hidden?: 'readOnly' | 'writeOnly';
  /** Nodes that it may have, each definition once, and how deep they may be nested. Default: any number. */
  readonly most?: { readonly nodes: number; readonly depth: number };
}

interface Run extends Required<Omit<NormaliseOptions, 'hidden'>>, Pick<NormaliseOptions, 'hidden'> {
  readonly notes: Set<string>;
  readonly names: Map<string, string>;
  readonly uniqueName: (name: string) => string;
  /** So far. */
  nodes: number;
  /** Of the current node. */
  depth: number;
}

/**
 * The form that values are validated against; it keeps the meaning of the schema.
 * @throws Error if it has more nodes than it may have, or deeper ones
 */
export function normaliseSchema(schema: JsonSchema, options: NormaliseOptions = {}): NormalisedSchema {
  return normalise(schema, createRun(schema, options));
}

/** The form of arguments that a model is shown: an object with `properties` and no combinations, as servers require. */
export function normaliseArguments(schema: JsonSchema): NormalisedSchema {
  const run = createRun(schema);
  return normalise(argumentsRoot(schema, run), run);
}

function createRun(schema: JsonSchema, options: NormaliseOptions = {}): Run {
  const begun = { notes: new Set<string>(), names: new Map(), uniqueName: createUniqueNames(), nodes: 0, depth: 0 };
  return { root: schema, most: { nodes: Infinity, depth: Infinity }, ...options, ...begun };
}

function normalise(top: JsonSchema, run: Run): NormalisedSchema {
  const node = normaliseNode(top, '', run);
  const definitions = new Map<string, JsonSchema>();
  // Definitions may refer to further ones, which are appended to the map.
  for (const [$ref, name] of run.names) {
    const target = dereference(run.root, { $ref });
    definitions.set(name, normaliseNode(target, `(definition ${name})`, run));
  }
  const $defs = Object.fromEntries(definitions);
  return { schema: definitions.size === 0 ? node : { ...node, $defs }, notes: [...run.notes] };
}

/** @param path of the node, for notes: `filters.tags[]`, empty for the root */
function normaliseNode(value: unknown, path: string, run: Run): JsonSchema {
  const note = (text: string) => run.notes.add(`${path || '(arguments)'}: ${text}`);
  const { most } = run;
  run.nodes += 1;
  if (run.nodes > most.nodes) throw new Error(`its schema has more than ${most.nodes} nodes`);
  if (run.depth > most.depth) throw new Error(`its schema is nested more than ${most.depth} levels deep`);
  if (value === true) return {};
  if (!isObject(value)) {
    note(`${showJson(value)} is no schema: any value is taken`);
    return {};
  }
  const node = mend(upgradeNode(withoutHidden(value, run.hidden)), note);
  run.depth += 1;
  const inner = mapChildren(node, (child) => {
    if (typeof child.value !== 'boolean') return normaliseNode(child.value, pathOf(child, path), run);
    if (child.step === undefined) return child.value;
    return child.value ? {} : undefined;
  });
  run.depth -= 1;
  return mergeAllOf(nameReference(inner, run, note));
}

function pathOf({ keyword, step }: SchemaChild, path: string): string {
  const inner = keyword === 'properties' ? path : keyword === 'items' ? `${path}[]` : joinPath(path, keyword);
  return step === undefined ? inner : joinPath(inner, step);
}

function withoutHidden(node: JsonSchema, hidden: Run['hidden']): JsonSchema {
  if (!hidden || !isObject(node.properties)) return node;
  const isShown = (property: unknown) => Object(property)[hidden] !== true;
  const all: JsonSchema = node.properties;
  const properties = Object.fromEntries(Object.entries(all).filter(([, property]) => isShown(property)));
  const { required } = node;
  if (!Array.isArray(required)) return { ...node, properties };
  return { ...node, properties, required: required.filter((name) => isShown(all[name])) };
}

/** Rewrites one node of an older draft (04, 06, 07) or of OpenAPI 3.0 as 2020-12, with the same meaning. */
function upgradeNode(node: JsonSchema): JsonSchema {
  const { nullable, example, additionalItems, dependencies, ...next }: Record<string, unknown> = node;
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof next[exclusive] !== 'boolean') continue;
    [next[exclusive], next[bound]] = next[exclusive] ? [next[bound], undefined] : [undefined, next[bound]];
  }
  if (Array.isArray(next.items)) Object.assign(next, { prefixItems: next.items, items: additionalItems });
  if (example !== undefined) next.examples ??= [example];
  for (const [name, demanded] of Object.entries(objectOf(dependencies))) {
    const keyword = Array.isArray(demanded) ? 'dependentRequired' : 'dependentSchemas';
    next[keyword] = { [name]: demanded, ...objectOf(next[keyword]) };
  }
  const schema = withoutUndefined(next);
  return nullable === true ? withNull(schema) : schema;
}

function withNull(node: JsonSchema): JsonSchema {
  const types = listOf(node.type ?? []);
  if (types.includes('null') || Object.keys(node).length === 0) return node;
  const values = Array.isArray(node.enum) && !node.enum.includes(null) ? { enum: [...node.enum, null] } : {};
  if (types.length > 0) return { ...node, type: [...types, 'null'], ...values };
  const { description, title, ...schema } = node;
  return withoutUndefined({ anyOf: [schema, { type: 'null' }], title, description });
}

type Test = (value: unknown) => boolean;

const isText: Test = (value) => typeof value === 'string';
const isNumber: Test = (value) => typeof value === 'number';
const isFlag: Test = (value) => typeof value === 'boolean';
const isFilled: Test = (value) => Array.isArray(value) && value.length > 0;

/** The keywords that a normalised schema may have, each with a test of its value. */
const KEYWORDS: ReadonlyMap<string, Test> = new Map(
  (
    [
      ['title description format contentEncoding contentMediaType $ref', isText],
      ['pattern', (value) => typeof value === 'string' && isPattern(value)],
      ['minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength', isNumber],
      ['minItems maxItems minContains maxContains minProperties maxProperties', isNumber],
      ['uniqueItems deprecated readOnly writeOnly', isFlag],
      ['type', (value) => isFilled(listOf(value)) && listOf(value).every(isJsonType)],
      ['required', (value) => Array.isArray(value) && value.every(isText)],
      ['enum anyOf oneOf allOf prefixItems', isFilled],
      ['properties patternProperties dependentSchemas dependentRequired', isObject],
      ['items additionalProperties unevaluatedItems unevaluatedProperties contains', isSchema],
      ['propertyNames not if then else', isSchema],
      ['examples', Array.isArray],
      ['const default', () => true],
    ] satisfies [string, Test][]
  ).flatMap(([words, test]) => words.split(' ').map((word) => [word, test])),
);

function isSchema(value: unknown): boolean {
  return isFlag(value) || isObject(value);
}

/**
 * Of 6,900 tools of real servers and public sets, 14 have a malformed keyword (`minimum: "0"`, `enum: "1-100"`), 5 an enum
 * that contradicts its type, and 450 a default that does not fit (`default: "5"`). Unknown keywords are left out silently.
 */
function mend(written: JsonSchema, note: (text: string) => void): JsonSchema {
  const node: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(written)) {
    const test = KEYWORDS.get(keyword);
    if (test?.(value)) node[keyword] = value;
    else if (test === isNumber && isNumber(convert(value, ['number']))) node[keyword] = Number(value);
    else if (test) note(`${keyword} ${showJson(value)} is not of JSON Schema: left out`);
  }
  const types = typesOf(node);
  if (Array.isArray(node.enum) && types.length > 0 && !node.enum.some((value) => isOfType(value, types))) {
    note('the type contradicts the enum: left out');
    delete node.type;
  }
  if (!('default' in node)) return node;
  const value = convert(node.default, typesOf(node));
  const kept = !Array.isArray(node.enum) || node.enum.some((one) => sameJson(one, value)) ? value : undefined;
  if (sameJson(kept, node.default)) return node;
  const fate = kept === undefined ? 'left out' : `written as ${showJson(kept)}`;
  note(`default ${showJson(node.default)} does not fit: ${fate}`);
  return withoutUndefined({ ...node, default: kept });
}

function convert(value: unknown, types: readonly JsonType[]): unknown {
  if (types.length === 0 || isOfType(value, types)) return value;
  const isPlain = typeof value === 'string' && /^(?:-?(?:0|[1-9]\d{0,14})(?:\.\d{1,10})?|true|false)$/i.test(value);
  const parsed: unknown = isPlain ? JSON.parse(value.toLowerCase()) : undefined;
  return isOfType(parsed, types) ? parsed : undefined;
}

/** Rewrites a reference to point into `$defs`. One that leads nowhere, or only to itself, allows any value. */
function nameReference(node: JsonSchema, { root, names, uniqueName }: Run, note: (text: string) => void): JsonSchema {
  const { $ref, ...beside } = node;
  if (typeof $ref !== 'string') return node;
  if (!dereference(root, { $ref })) {
    note(`$ref ${showJson($ref)} leads nowhere in the document (bundle other files into it): any value is taken`);
    return beside;
  }
  const name = names.get($ref) ?? uniqueName(nameOfReference($ref));
  names.set($ref, name);
  return { ...beside, $ref: `#/$defs/${name}` };
}

/** Model servers accept no combinations at the root; of 7,310 tools of real servers and public sets none has one. */
function argumentsRoot(schema: JsonSchema, run: Run): JsonSchema {
  const note = (text: string) => run.notes.add(`(arguments): ${text}`);
  const followed = dereference(schema, schema) ?? {};
  const { $ref: _, allOf, anyOf, oneOf, enum: listed, const: only, nullable: __, ...root } = followed;
  const types = typesOf(root);
  if (types.length > 0 && !types.includes('object')) {
    note(`the root is of type ${types.join(' or ')}, but arguments are always an object: any is taken`);
    const { description } = root;
    return withoutUndefined({ description, type: 'object', properties: {}, additionalProperties: true });
  }
  if (root.type !== undefined && types.length === 0)
    note(`the root is of type ${showJson(root.type)}, but arguments are always an object: taken as one`);
  if ((listed ?? only) !== undefined)
    note('the values that the root lists are not shown to a model; they are checked all the same');
  const hasForms = (allOf ?? anyOf ?? oneOf) !== undefined;
  if (hasForms) note('the forms of the root are not shown to a model; they are checked all the same');
  const { properties = {} } = root;
  const isNamed = Object.keys(Object(properties)).length > 0;
  const isOpen = ['additionalProperties', 'patternProperties', 'unevaluatedProperties'].some((word) => word in root);
  // Without `properties` any argument is accepted; with empty `properties`, none.
  const rest = isNamed || isOpen ? {} : { additionalProperties: hasForms || !('properties' in root) };
  return { ...root, type: 'object', properties, ...rest };
}

function mergeAllOf(node: JsonSchema): JsonSchema {
  const { allOf, ...rest } = node;
  if (!Array.isArray(allOf)) return node;
  return allOf.reduce<JsonSchema | undefined>((sum, member) => sum && mergeSchemas(sum, member), rest) ?? node;
}

interface Fitted {
  readonly input: JsonSchema;
  readonly output: JsonSchema | undefined;
  /** One change per note, with its path; notes on results begin with `returns`. */
  readonly notes: readonly string[];
}

export const fittedSchemas = oncePer((tool: Tool): Fitted => {
  const input = normaliseArguments(tool.inputSchema);
  const output = tool.outputSchema && normaliseSchema(tool.outputSchema);
  const notes = [...input.notes, ...(output?.notes ?? []).map((note) => `returns ${note}`)];
  return { input: input.schema, output: output?.schema, notes };
});

/**
 * A copy of arguments without the `null` by which models under strict schemas mark omitted fields, at every depth. It stays
 * where the tool accepts `null`, and as a list element.
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
