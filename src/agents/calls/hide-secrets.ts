/**
 * Arguments as approvers see them: exactly as they will run, except for values that the tool's schema marks secret.
 * These show as length and keyed digest, so that different secrets look different and none can be guessed.
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
 * @param kept the masked form at a path whose secret itself is not in `value`. Default: none
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

/** Reads each schema node once, whatever the value holds, so that it costs no more than validation. */
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

/** A quick check, since most schemas mark nothing. It may match a default or an example, which is harmless. */
const mayMarkSecrets = oncePer((schema: JsonSchema) =>
  /"writeOnly":true|"format":"password"|"x-secret":true/u.test(JSON.stringify(schema)),
);

/** Long enough to prevent collisions: by these digits an approval binds a call to its secrets. */
const SHOWN_DIGITS = 16;
const SHOWN_FORM = new RegExp(String.raw`^\[secret: \d+ characters, [0-9a-f]{${SHOWN_DIGITS}}\]$`, 'u');

function describe(value: unknown, digest: (value: unknown) => string): string {
  const characters = [...(typeof value === 'string' ? value : canonicalJson(value))].length;
  return `[secret: ${characters} characters, ${digest(value).slice(0, SHOWN_DIGITS)}]`;
}

/**
 * Masked arguments -> arguments to run, with the secrets of the original call. Where that fills in a wrong value, the
 * call no longer matches its approval and does not run.
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

function fieldNodes(places: readonly Places[], key: string): JsonSchema[] {
  return places.flatMap(({ named, rest, fields }) => [...[named.get(key) ?? rest].flat(), ...fields]);
}

function itemNodes(places: readonly Places[], index: number): JsonSchema[] {
  return places.flatMap(({ placed, items }) => [placed.get(index) ?? [], items].flat());
}
