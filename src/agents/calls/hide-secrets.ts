/**
 * Arguments as whoever approves them sees them: all as it will run, but for what the tool's schema marks secret. That is
 * told by its length and a keyed digest, so that two that differ look different and none can be guessed.
 */
import { childrenOf, isObject, type SchemaChild } from '../../core/catalog/schema/json.js';
import { isMarkedSecret, resolveReference } from '../../core/catalog/schema/paths.js';
import type { JsonSchema } from '../../core/catalog/tool.js';
import { oncePer } from '../../core/kept.js';
import { canonicalJson } from '../approvals/canonical-json.js';

/**
 * Each node of the schema is read once, whatever the value holds, so that the work is that of checking the value.
 * @param digest keyed; its first digits are shown
 */
export function hideSecrets(schema: JsonSchema, value: unknown, digest: (value: unknown) => string): unknown {
  const joinedWith = oncePer((node: JsonSchema) => nodesHolding(schema, node));
  const placesOf = oncePer(readPlaces);
  const hide = (part: unknown, nodes: readonly JsonSchema[]): unknown => {
    const holding = [...new Set(nodes.flatMap(joinedWith))];
    if (holding.some(isMarkedSecret)) return describe(part, digest);
    const places = holding.map(placesOf);
    if (Array.isArray(part)) return part.map((item, index) => hide(item, itemNodes(places, index)));
    if (!isObject(part)) return part;
    return Object.fromEntries(Object.entries(part).map(([key, field]) => [key, hide(field, fieldNodes(places, key))]));
  };
  return hide(value, [schema]);
}

function describe(value: unknown, digest: (value: unknown) => string): string {
  const characters = [...(typeof value === 'string' ? value : canonicalJson(value))].length;
  return `[secret: ${characters} characters, ${digest(value).slice(0, 8)}]`;
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
