/**
 * Arguments as whoever approves them sees them: all as it will run, but for what the tool's schema marks secret. That is
 * told by its length and a keyed digest, so that two that differ look different and none can be guessed.
 */
import { childrenOf, isObject, type SchemaChild } from '../../core/catalog/schema/json.js';
import { isMarkedSecret, resolveReference } from '../../core/catalog/schema/paths.js';
import type { JsonSchema } from '../../core/catalog/tool.js';
import { oncePer } from '../../core/kept.js';
import { canonicalJson } from '../approvals/canonical-json.js';

export type SecretPath = readonly (string | number)[];

/**
 * @param digest keyed; its first digits are shown
 * @param kept what is shown at a path already, of a secret that is not there itself. Default: nothing
 */
export function hideSecrets(
  schema: JsonSchema,
  value: unknown,
  digest: (value: unknown) => string,
  kept: (path: SecretPath) => unknown = () => undefined,
): unknown {
  return mapSecrets(schema, value, (secret, path) =>
    kept(path) === secret && secret !== undefined ? secret : describe(secret, digest),
  );
}

/** Each node of the schema is read once, whatever the value holds, so that the work is that of checking the value. */
export function mapSecrets(
  schema: JsonSchema,
  value: unknown,
  map: (secret: unknown, path: SecretPath) => unknown,
): unknown {
  if (!mayMarkSecrets(schema)) return value;
  const joinedWith = oncePer((node: JsonSchema) => nodesHolding(schema, node));
  const placesOf = oncePer(readPlaces);
  const walk = (part: unknown, nodes: readonly JsonSchema[], path: SecretPath): unknown => {
    const holding = [...new Set(nodes.flatMap(joinedWith))];
    if (holding.some(isMarkedSecret)) return map(part, path);
    const places = holding.map(placesOf);
    if (Array.isArray(part)) return part.map((item, at) => walk(item, itemNodes(places, at), [...path, at]));
    if (!isObject(part)) return part;
    const fields = Object.entries(part);
    return Object.fromEntries(fields.map(([key, it]) => [key, walk(it, fieldNodes(places, key), [...path, key])]));
  };
  return walk(value, [schema], []);
}

/** Most schemas have no mark at all; a mark in a default or an example counts as one here. */
const mayMarkSecrets = oncePer((schema: JsonSchema) =>
  /"writeOnly":true|"format":"password"|"x-secret":true/u.test(JSON.stringify(schema)),
);

/** By these digits an approval binds a call to its secrets, so nobody may find two secrets that have them in common. */
const SHOWN_DIGITS = 16;
const SHOWN_FORM = new RegExp(String.raw`^\[secret: \d+ characters, [0-9a-f]{${SHOWN_DIGITS}}\]$`, 'u');

function describe(value: unknown, digest: (value: unknown) => string): string {
  const characters = [...(typeof value === 'string' ? value : canonicalJson(value))].length;
  return `[secret: ${characters} characters, ${digest(value).slice(0, SHOWN_DIGITS)}]`;
}

/**
 * Arguments as they are shown -> as they run, with the secrets of the call that was asked for. Where that puts a wrong
 * value in, the call is another one than that which was approved, and does not run.
 */
export function fillSecrets(shown: unknown, asked: unknown): unknown {
  if (typeof shown === 'string') return asked !== undefined && SHOWN_FORM.test(shown) ? asked : shown;
  if (Array.isArray(shown))
    return shown.map((item, at) => fillSecrets(item, Array.isArray(asked) ? asked[at] : undefined));
  if (!isObject(shown)) return shown;
  const before = isObject(asked) ? asked : {};
  const own = (key: string) => (Object.hasOwn(before, key) ? before[key] : undefined);
  return Object.fromEntries(Object.entries(shown).map(([key, part]) => [key, fillSecrets(part, own(key))]));
}

/** Keywords whose schemas are about the same value. */
const SAME_VALUE = new Set(['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'dependentSchemas']);

/** The node with all that holds, or may hold, for the same value. */
function nodesHolding(schema: JsonSchema, start: JsonSchema): JsonSchema[] {
  const found = new Set<JsonSchema>();
  const waiting: unknown[] = [start];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (!isObject(node) || found.has(node)) continue;
    found.add(node);
    if (typeof node.$ref === 'string') waiting.push(resolveReference(schema, node.$ref));
    for (const { keyword, value } of childrenOf(node)) if (SAME_VALUE.has(keyword)) waiting.push(value);
  }
  return [...found];
}

/** What a node alone says of the parts of a value. */
interface Places {
  readonly named: ReadonlyMap<string, readonly JsonSchema[]>;
  /** Of names that are not in `named`. */
  readonly rest: readonly JsonSchema[];
  /** Whether a pattern is meant is not tried: a mark of any of them hides the value. */
  readonly patterns: readonly JsonSchema[];
  readonly listed: ReadonlyMap<unknown, readonly JsonSchema[]>;
  /** Of all places. */
  readonly items: readonly JsonSchema[];
}

function readPlaces(node: JsonSchema): Places {
  const children = childrenOf(node);
  const of = (...keywords: string[]) => children.filter(({ keyword }) => keywords.includes(keyword));
  const nodeOf = ({ value }: SchemaChild) => (isObject(value) ? [value] : []);
  return {
    named: new Map(of('properties').map((child) => [String(child.step), nodeOf(child)])),
    rest: of('additionalProperties').flatMap(nodeOf),
    patterns: of('patternProperties').flatMap(nodeOf),
    listed: new Map(of('prefixItems', 'items').map((child) => [child.step, nodeOf(child)])),
    items: of('items')
      .filter(({ step }) => step === undefined)
      .flatMap(nodeOf),
  };
}

function fieldNodes(places: readonly Places[], key: string): JsonSchema[] {
  return places.flatMap(({ named, rest, patterns }) => [...(named.get(key) ?? rest), ...patterns]);
}

function itemNodes(places: readonly Places[], index: number): JsonSchema[] {
  return places.flatMap(({ listed, items }) => [...(listed.get(index) ?? []), ...items]);
}
