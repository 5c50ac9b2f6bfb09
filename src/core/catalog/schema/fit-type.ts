/** Makes `type` one word, or a list of words, of JSON Schema; infers it where the other keywords say it. */
import type { Say } from './fit-context.js';
import { type Draft, isJsonType, isObject, type JsonType, jsonTypeOf, showJson, typeKeyword } from './json.js';
import { readTypeWord, type TypeReading } from './type-words.js';

export function rewriteType(draft: Draft, say: Say): void {
  const written = draft.type;
  if (written === undefined || isJsonType(written)) return;
  const words = Array.isArray(written) ? written : [written];
  const schemas = words.filter(isObject);
  const readings = words.filter((word) => !isObject(word)).map(readWord);
  const known = readings.filter((reading) => reading !== undefined);
  delete draft.type;
  if (schemas.length > 0) {
    const others = known.map((reading) => ({ type: typeKeyword(reading.types) }));
    draft.anyOf ??= [...schemas, ...others];
    say('schemas given as `type` written as `anyOf`');
    return;
  }
  const isAny = known.length < readings.length || known.some((reading) => reading.types.length === 0);
  const types = isAny ? [] : withoutNarrower(known.flatMap((reading) => reading.types));
  if (types.length > 0) draft.type = typeKeyword(types);
  for (const reading of known) addDetails(draft, reading);
  if (showJson(draft.type) !== showJson(written)) {
    say(`type ${showJson(written)} read as ${types.length === 0 ? 'any type' : showJson(draft.type)}`);
  }
}

function readWord(word: unknown): TypeReading | undefined {
  if (word === null) return { types: ['null'] };
  return typeof word === 'string' ? readTypeWord(word) : undefined;
}

function addDetails(draft: Draft, reading: TypeReading): void {
  if (reading.format !== undefined) draft.format ??= reading.format;
  if (reading.items !== undefined) draft.items ??= reading.items;
}

function withoutNarrower(types: readonly JsonType[]): JsonType[] {
  const all = new Set(types);
  if (all.has('number')) all.delete('integer');
  return [...all];
}

const IMPLIED: readonly (readonly [JsonType, readonly string[]])[] = [
  ['object', ['properties', 'required', 'patternProperties', 'additionalProperties', 'minProperties', 'maxProperties']],
  ['array', ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems']],
  ['string', ['pattern', 'minLength', 'maxLength', 'format']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];
const COMBINING = ['$ref', 'anyOf', 'oneOf', 'allOf', 'not', 'if'];

/** Leaves nodes alone that only say things through others, or that take anything. */
export function inferType(draft: Draft, say: Say): void {
  if (draft.type !== undefined || COMBINING.some((keyword) => keyword in draft)) return;
  const types = impliedTypes(draft);
  if (types.length === 0) return;
  draft.type = typeKeyword(types);
  say(`no type given: read as ${types.join(' or ')}`);
}

function impliedTypes(draft: Draft): JsonType[] {
  const values = 'const' in draft ? [draft.const] : draft.enum;
  if (Array.isArray(values)) return withoutNarrower(values.map(jsonTypeOf));
  return IMPLIED.filter(([, keywords]) => keywords.some((keyword) => keyword in draft)).map(([type]) => type);
}
