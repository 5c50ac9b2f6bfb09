/**
 * Arguments as whoever approves them sees them: all as it will run, but for what the tool's schema marks secret. That is
 * told by its length and a keyed digest, so that two that differ look different and none can be guessed.
 */
import { isObject } from '../../core/catalog/schema/json.js';
import { partsOf, type SchemaPart } from '../../core/catalog/schema/paths.js';
import { isMarkedSecret } from '../../core/catalog/schema/secrets.js';
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
  const partsOnce = oncePer((node: JsonSchema) => partsOf(node, schema));
  const joinedWith = oncePer((node: JsonSchema) => nodesHolding(node, partsOnce));
  const placesOf = oncePer((node: JsonSchema) => readPlaces(partsOnce(node)));
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

/** The node with all that holds, or may hold, for the same value. */
function nodesHolding(start: JsonSchema, partsOf: (node: JsonSchema) => readonly SchemaPart[]): JsonSchema[] {
  const found = new Set([start]);
  // The set grows while it is read.
  for (const node of found) for (const { about, node: part } of partsOf(node)) if (about === 'same') found.add(part);
  return [...found];
}

/** What a node alone says of the parts of a value. */
interface Places {
  readonly named: ReadonlyMap<unknown, JsonSchema>;
  /** Of names that are not in `named`. */
  readonly rest: readonly JsonSchema[];
  /** Whether a pattern is meant is not tried: a mark of any of them hides the value. */
  readonly fields: readonly JsonSchema[];
  readonly placed: ReadonlyMap<unknown, JsonSchema>;
  /** Of all places. */
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

function fieldNodes(places: readonly Places[], key: string): JsonSchema[] {
  return places.flatMap(({ named, rest, fields }) => [...[named.get(key) ?? rest].flat(), ...fields]);
}

function itemNodes(places: readonly Places[], index: number): JsonSchema[] {
  return places.flatMap(({ placed, items }) => [placed.get(index) ?? [], items].flat());
}
