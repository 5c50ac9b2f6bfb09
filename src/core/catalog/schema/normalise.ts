/**
 * Any schema as one dialect: draft 2020-12, with `$ref` to its own `$defs` only, and without the slips of its author.
 * One walk from the root down applies the rules to each node. Pure: nobody's object changes, and nothing is fetched.
 */
import type { JsonSchema } from '../tool.js';
import { DIALECT_RULES, type Rule } from './dialect-rules.js';
import { isObject, joinPath, listOf, mapChildren, type SchemaChild, sameJson, showJson, typesOf } from './json.js';
import { MENDING_RULES } from './mending-rules.js';
import { mergeSchemas } from './merge.js';
import { nameOfReference, resolveReference } from './paths.js';

export interface NormalisedSchema {
  readonly schema: JsonSchema;
  /** One change a line, each with its path: `filters.date: default "soon" does not fit: left out`. */
  readonly notes: readonly string[];
  /** A standard validator reads the original in another sense than its author's. */
  readonly isMisread: boolean;
}

/** Deeper nodes, and those beyond the number, take any value: some schemas unfold without end. */
const MAX_DEPTH = 40;
const MAX_NODES = 20_000;
/** Add conditions to the node that holds them. */
const CONDITIONS = new Set(['anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else', 'dependentSchemas']);
/** May be `true` or `false`. */
const BOOLEANS = new Set(['items', 'additionalProperties', 'unevaluatedProperties', 'unevaluatedItems']);
const ROOT: Place = { path: '', depth: 0, isCondition: false };

interface Place {
  /** In words: `filters.tags[]`; empty for the root. */
  readonly path: string;
  readonly depth: number;
  readonly isCondition: boolean;
}

interface Run {
  readonly root: JsonSchema;
  readonly rules: readonly Rule[];
  readonly notes: Set<string>;
  /** Reference -> its name below `$defs`. */
  readonly names: Map<string, string>;
  isMisread: boolean;
  nodesLeft: number;
}

/** The same schema in draft 2020-12, for a validator: the meaning, slips and references stay. */
export function upgradeSchema(schema: JsonSchema): JsonSchema {
  const run = createRun(schema, DIALECT_RULES);
  const upgrade = (node: JsonSchema, place: Place): JsonSchema =>
    mapChildren(applyRules(node, place, run), (child) =>
      isObject(child.value) && --run.nodesLeft > 0 && place.depth < MAX_DEPTH
        ? upgrade(child.value, placeBelow(child, place, node))
        : child.value,
    );
  return upgrade(schema, ROOT);
}

/** The schema of a result, or of any value. */
export function normaliseSchema(schema: JsonSchema): NormalisedSchema {
  return finish(schema, (node) => node);
}

/** The schema of arguments: the root is an object with `properties` and without combinations, as servers want it. */
export function normaliseArguments(schema: JsonSchema): NormalisedSchema {
  return finish(schema, objectRoot);
}

function createRun(root: JsonSchema, rules: readonly Rule[]): Run {
  return { root, rules, notes: new Set(), names: new Map(), isMisread: false, nodesLeft: MAX_NODES };
}

function finish(root: JsonSchema, finishRoot: (node: JsonSchema, run: Run) => JsonSchema): NormalisedSchema {
  const run = createRun(root, [...DIALECT_RULES, ...MENDING_RULES]);
  const { $defs: _, definitions: __, ...top } = root;
  const node = finishRoot(normaliseNode(top, ROOT, run), run);
  const definitions = new Map<string, JsonSchema>();
  // Definitions may name further ones, which come behind.
  for (const [reference, name] of run.names) {
    const target = reference === '#' ? top : targetOf(reference, root);
    definitions.set(name, normaliseNode(target, { ...ROOT, path: `(definition ${name})` }, run));
  }
  const $defs = reachable(node, definitions);
  const schema = Object.keys($defs).length === 0 ? node : { ...node, $defs };
  return { schema, notes: [...run.notes], isMisread: run.isMisread };
}

/** The definitions that the node refers to, directly or by way of others, in the order of use. */
function reachable(node: JsonSchema, definitions: ReadonlyMap<string, JsonSchema>): Record<string, JsonSchema> {
  const found = new Map<string, JsonSchema>();
  const visit = (part: JsonSchema): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"\$ref":"#\/\$defs\/([^"]+)"/g)) {
      const definition = definitions.get(name);
      if (!definition || found.has(name)) continue;
      found.set(name, definition);
      visit(definition);
    }
  };
  visit(node);
  return Object.fromEntries(found);
}

function normaliseNode(value: unknown, place: Place, run: Run): JsonSchema {
  if (place.depth > MAX_DEPTH || --run.nodesLeft < 0) {
    note(run, place, 'nested too deeply, or too large: taken as any value');
    return {};
  }
  const node = applyRules(toNode(value, place, run), place, run);
  const inner = mapChildren(node, (child) => normaliseChild(child, placeBelow(child, place, node), run));
  return mergeAllOf(nameReference(inner, place, run));
}

function normaliseChild(child: SchemaChild, place: Place, run: Run): unknown {
  const { keyword, value } = child;
  if (typeof value === 'boolean' && BOOLEANS.has(keyword)) return value;
  return value === false ? undefined : normaliseNode(value, place, run);
}

function toNode(value: unknown, place: Place, run: Run): JsonSchema {
  if (isObject(value)) return value;
  if (value !== true) note(run, place, `${showJson(value)} is no schema`);
  return typeof value === 'string' ? { type: value } : {};
}

function applyRules(node: JsonSchema, place: Place, run: Run): JsonSchema {
  return run.rules.reduce((before, rule) => {
    const changed = rule.apply(before, { root: run.root, isCondition: place.isCondition });
    if (!changed) return before;
    if (rule.isMisread) run.isMisread = true;
    const text = changed.note ?? rule.name;
    if (text !== '') note(run, place, text);
    return changed.schema;
  }, node);
}

function placeBelow({ keyword, step }: SchemaChild, place: Place, node: JsonSchema): Place {
  const isCondition = CONDITIONS.has(keyword) && (place.isCondition || 'type' in node || 'properties' in node);
  const inner =
    keyword === 'properties' ? place.path : keyword === 'items' ? `${place.path}[]` : joinPath(place.path, keyword);
  const path = step === undefined || keyword === 'items' ? inner : joinPath(inner, step);
  return { path, depth: place.depth + 1, isCondition };
}

function note(run: Run, { path }: Place, text: string): void {
  run.notes.add(`${path || '(arguments)'}: ${text}`);
}

/** The reference as one to `$defs`. One that leads nowhere, or only to itself, stands for any value. */
function nameReference(node: JsonSchema, place: Place, run: Run): JsonSchema {
  const { $ref, ...beside } = node;
  if ($ref === undefined) return node;
  const reference = typeof $ref === 'string' ? $ref : '';
  if (targetOf(reference, run.root) === undefined) {
    note(run, place, `$ref ${showJson($ref)} leads nowhere in the document: any value is taken`);
    return beside;
  }
  const known = run.names.get(reference) ?? freeName(nameOfReference(reference), new Set(run.names.values()));
  run.names.set(reference, known);
  return { ...beside, $ref: `#/$defs/${known}` };
}

/** Follows references that point at nothing but another reference. */
function targetOf(reference: string, root: JsonSchema, seen: readonly string[] = []): unknown {
  const target = reference === '' || seen.includes(reference) ? undefined : resolveReference(root, reference);
  if (!isObject(target)) return typeof target === 'boolean' ? target : undefined;
  const isAlias = typeof target.$ref === 'string' && Object.keys(target).length === 1;
  return isAlias ? targetOf(String(target.$ref), root, [...seen, reference]) : target;
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let count = 2; taken.has(name); count++) name = `${wanted}_${count}`;
  return name;
}

/** `allOf`, and `anyOf` or `oneOf` of one member, become part of the node where that is plain. */
function mergeAllOf(node: JsonSchema): JsonSchema {
  return ['allOf', 'anyOf', 'oneOf'].reduce((before, keyword) => {
    const { [keyword]: members, ...rest } = before;
    if (!Array.isArray(members) || (keyword !== 'allOf' && members.length > 1)) return before;
    const merged = members.reduce<JsonSchema | undefined>((sum, member) => sum && mergeSchemas(sum, member), rest);
    return merged ?? before;
  }, node);
}

function objectRoot(node: JsonSchema, run: Run): JsonSchema {
  const types = typesOf(node);
  if (types.length > 0 && !types.includes('object')) {
    note(run, ROOT, `the root is of type ${types.join(' or ')}, but arguments are always an object: any is taken`);
    const { description } = node;
    const text = description === undefined ? {} : { description };
    return { ...text, type: 'object', properties: {}, additionalProperties: true };
  }
  const forms = ['allOf', 'anyOf', 'oneOf', '$ref'].reduce((before, keyword) => flatten(before, keyword, run), node);
  const { enum: _, const: __, format: ___, ...root } = forms;
  const isNamed = isObject(root.properties) && Object.keys(root.properties).length > 0;
  const isOpen = ['additionalProperties', 'patternProperties', 'unevaluatedProperties'].some((word) => word in root);
  // Without `properties` any argument is taken; with an empty one, none.
  const rest = isNamed || isOpen ? {} : { additionalProperties: !('properties' in root) };
  return { ...root, type: 'object', properties: root.properties ?? {}, ...rest };
}

/** Servers refuse combinations at the root: the arguments of all members stand side by side. */
function flatten(node: JsonSchema, keyword: string, run: Run): JsonSchema {
  const { [keyword]: written, ...root } = node;
  if (written === undefined) return node;
  const members = listOf(keyword === '$ref' ? node : written).map((member) => expand(member, run));
  const forms = keyword === '$ref' ? members.map(({ $ref: _, ...form }) => form) : members;
  const properties = new Map(Object.entries(isObject(root.properties) ? root.properties : {}));
  for (const [name, schema] of forms.flatMap((form) => Object.entries(Object(form.properties)))) {
    const before = properties.get(name);
    const isSame = before === undefined || sameJson(before, schema) || sameJson(before, {});
    const known = isObject(before) && Array.isArray(before.anyOf) ? before.anyOf : [before];
    properties.set(name, isSame ? schema : { anyOf: [...known, schema] });
  }
  const lists = forms.map((form) => listOf(form.required ?? []));
  const isAll = keyword === 'allOf' || keyword === '$ref';
  const always = isAll ? lists.flat() : (lists[0] ?? []).filter((name) => lists.every((list) => list.includes(name)));
  const required = [...new Set([...listOf(root.required ?? []), ...always])];
  if (keyword !== '$ref')
    note(run, ROOT, `\`${keyword}\` of the root: the arguments of its ${forms.length} members stand side by side`);
  const text = forms.map(({ description }) => description).find((one) => typeof one === 'string');
  return {
    ...(text === undefined || isObject(node.properties) ? {} : { description: text }),
    ...root,
    ...(properties.size > 0 ? { properties: Object.fromEntries(properties) } : {}),
    ...(required.length > 0 ? { required } : {}),
    ...(forms.every((form) => form.additionalProperties === false) ? { additionalProperties: false } : {}),
  };
}

/** A member of the root with what its references say, normalised. */
function expand(member: unknown, run: Run): JsonSchema {
  let node = isObject(member) ? member : {};
  for (let hops = 0; typeof node.$ref === 'string' && hops < MAX_DEPTH; hops++) {
    const { $ref, ...beside } = node;
    const reference = [...run.names].find(([, name]) => $ref === `#/$defs/${name}`)?.[0] ?? '';
    const { $defs: _, definitions: __, ...target } = Object(targetOf(reference, run.root));
    const found = normaliseNode(target, { ...ROOT, depth: hops }, run);
    node = mergeSchemas(beside, found) ?? { ...found, ...beside, $ref: undefined };
  }
  return node;
}
