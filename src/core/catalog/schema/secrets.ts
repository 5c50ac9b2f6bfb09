/** Finds what a tool's schema marks as secret: the names of arguments, and the parts of a value. */
import { oncePer } from '../../kept.js';
import type { JsonSchema, Tool } from '../tool.js';
import { isObject } from './json.js';
import { partsOf, type SchemaPart } from './paths.js';

export const secretNamesOf = oncePer((tools: readonly Tool[]): readonly string[] => {
  return [...new Set(tools.flatMap(({ inputSchema }) => secretArgumentNames(inputSchema)))];
});

export function isMarkedSecret(node: JsonSchema): boolean {
  return node.writeOnly === true || node.format === 'password' || node['x-secret'] === true;
}

/**
 * Arguments marked by `writeOnly: true`, `format: "password"` or `x-secret: true`, at any depth. A mark inside `anyOf` or
 * `oneOf`, on list items or behind a reference also counts for the argument.
 */
export function secretArgumentNames(schema: JsonSchema): string[] {
  const names = new Set<string>();
  const visited = new Map<JsonSchema, Set<string | undefined>>();
  const partsOnce = oncePer((node: JsonSchema) => partsOf(node, schema));
  const visit = (node: JsonSchema, argument: string | undefined): void => {
    const visits = visited.get(node) ?? new Set();
    if (visits.has(argument)) return;
    visited.set(node, visits.add(argument));
    if (argument !== undefined && isMarkedSecret(node)) names.add(argument);
    // A definition belongs to the arguments that refer to it.
    for (const { about, step, node: part } of partsOnce(node))
      visit(part, about === 'definition' ? undefined : about === 'named' ? String(step) : argument);
  };
  visit(schema, undefined);
  return [...names];
}

export type SecretPath = readonly (string | number)[];

/**
 * The value with each marked part changed. Reads each schema node once, whatever the value holds, so that it costs no more
 * than validation. Parts of which the schema says nothing stay as they are.
 */
export function mapSecrets(
  schema: JsonSchema,
  value: unknown,
  map: (secret: unknown, path: SecretPath) => unknown,
): unknown {
  if (!mayMarkSecrets(schema)) return value;
  const partsOnce = oncePer((node: JsonSchema) => partsOf(node, schema));
  const joinedWith = oncePer((node: JsonSchema) => nodesHolding(node, partsOnce));
  const placesOf = oncePer((node: JsonSchema) => readPlaces(partsOnce(node)));
  // Parts of one name share their nodes, so those of thousands of items are looked up once.
  const placeOf = oncePer((nodes: readonly JsonSchema[]) => {
    const holding = [...new Set(nodes.flatMap(joinedWith))];
    const places = holding.map(placesOf);
    const names = new Set(places.flatMap(({ named }) => [...named.keys()]));
    const indexes = new Set(places.flatMap(({ placed }) => [...placed.keys()]));
    const nodesAt = keptNodes((key) => fieldNodes(places, key));
    const nodesOf = keptNodes((index) => itemNodes(places, index));
    return {
      isSecret: holding.some(isMarkedSecret),
      fieldNodes: (key: string) => nodesAt(names.has(key) ? key : undefined),
      itemNodes: (index: number) => nodesOf(indexes.has(index) ? index : undefined),
    };
  });
  const walk = (part: unknown, nodes: readonly JsonSchema[], path: SecretPath): unknown => {
    if (nodes.length === 0) return part;
    const place = placeOf(nodes);
    if (place.isSecret) return map(part, path);
    if (Array.isArray(part)) return part.map((item, at) => walk(item, place.itemNodes(at), [...path, at]));
    if (!isObject(part)) return part;
    const fields = Object.entries(part);
    return Object.fromEntries(fields.map(([key, it]) => [key, walk(it, place.fieldNodes(key), [...path, key])]));
  };
  return walk(value, [schema], []);
}

/** A quick check, since most schemas mark nothing. It may match a default or an example, which is harmless. */
const mayMarkSecrets = oncePer((schema: JsonSchema) =>
  /"writeOnly":true|"format":"password"|"x-secret":true/u.test(JSON.stringify(schema)),
);

/** The node with all subschemas that apply, or may apply, to the same value. */
function nodesHolding(start: JsonSchema, partsOf: (node: JsonSchema) => readonly SchemaPart[]): JsonSchema[] {
  const found = new Set([start]);
  // The set grows during the loop.
  for (const node of found) for (const { about, node: part } of partsOf(node)) if (about === 'same') found.add(part);
  return [...found];
}

/** What a single node says about the parts of a value. */
interface Places {
  readonly named: ReadonlyMap<unknown, JsonSchema>;
  /** For names that are not in `named`. */
  readonly rest: readonly JsonSchema[];
  /** Patterns are not matched: a mark in any of them hides the value. */
  readonly fields: readonly JsonSchema[];
  readonly placed: ReadonlyMap<unknown, JsonSchema>;
  /** For all indexes. */
  readonly items: readonly JsonSchema[];
}

function readPlaces(parts: readonly SchemaPart[]): Places {
  const of = (wanted: SchemaPart['about']) => parts.filter(({ about }) => about === wanted);
  const nodes = (about: SchemaPart['about']) => of(about).map(({ node }) => node);
  const byStep = (about: SchemaPart['about']) => new Map(of(about).map(({ step, node }) => [step, node]));
  return {
    named: byStep('named'),
    rest: nodes('rest'),
    fields: nodes('fields'),
    placed: byStep('placed'),
    items: nodes('items'),
  };
}

type NodesAt = (key: unknown) => readonly JsonSchema[];

/** @param key undefined: a part that no schema names */
function keptNodes(make: NodesAt): NodesAt {
  const kept = new Map<unknown, readonly JsonSchema[]>();
  return (key) => {
    const nodes = kept.get(key) ?? make(key);
    kept.set(key, nodes);
    return nodes;
  };
}

function fieldNodes(places: readonly Places[], key: unknown): JsonSchema[] {
  return places.flatMap(({ named, rest, fields }) => [...[named.get(key) ?? rest].flat(), ...fields]);
}

function itemNodes(places: readonly Places[], index: unknown): JsonSchema[] {
  return places.flatMap(({ placed, items }) => [placed.get(index) ?? [], items].flat());
}
