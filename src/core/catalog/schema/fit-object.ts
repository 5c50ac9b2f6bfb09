/** Finds arguments that stand in the wrong place, and makes `required` a list of names that exist. */
import type { JsonSchema } from '../tool.js';
import type { FitContext, Place, Say } from './fit-context.js';
import { type Draft, isObject, typesOf } from './json.js';
import { FOREIGN_KEYWORDS, isKeyword, SILENT_KEYWORDS } from './keywords.js';
import { readTypeWord } from './type-words.js';

/** Keywords that hold text: an object there is an argument of that name. */
const TEXT_KEYWORDS = new Set(['title', 'description', 'format', 'type', 'pattern', 'id']);

/** Arguments given as `{city: {type: "string"}}` without `properties`, as a list, or as `{city: "string"}`. */
export function moveMisplacedProperties(draft: Draft, context: FitContext, say: Say): void {
  if (Array.isArray(draft.properties)) namesFromList(draft, context, say);
  if ('properties' in draft && !isObject(draft.properties)) {
    delete draft.properties;
    say('`properties` is no object: left out');
  }
  const types = typeof draft.type === 'string' ? readTypeWord(draft.type)?.types : undefined;
  if (types !== undefined && !types.includes('object')) return;
  const misplaced = Object.entries(draft).filter(([name, value]) => isMisplaced(name, value));
  const found = misplaced.length > 0 ? misplaced : shorthand(draft);
  if (found.length === 0) return;
  for (const [name] of found) delete draft[name];
  const declared = isObject(draft.properties) ? draft.properties : {};
  draft.properties = { ...Object.fromEntries(found), ...declared };
  draft.type ??= 'object';
  context.misread = true;
  say(`arguments found outside of \`properties\`: ${found.map(([name]) => name).join(', ')}`);
}

function isMisplaced(name: string, value: unknown): boolean {
  if (!looksLikeSchema(value) || name.startsWith('x-')) return false;
  if (TEXT_KEYWORDS.has(name)) return true;
  return !isKeyword(name) && !FOREIGN_KEYWORDS.has(name) && !SILENT_KEYWORDS.has(name);
}

function looksLikeSchema(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { type, $ref, properties } = value;
  if (typeof type === 'string' || Array.isArray(type) || typeof $ref === 'string' || isObject(properties)) return true;
  return [value.anyOf, value.oneOf, value.allOf, value.enum].some(Array.isArray);
}

/** `{city: "string", days: "int"}`: only where no keyword stands beside. */
function shorthand(draft: Draft): [string, unknown][] {
  const entries = Object.entries(draft);
  const isWord = ([name, value]: [string, unknown]) =>
    !isKeyword(name) &&
    !FOREIGN_KEYWORDS.has(name) &&
    !SILENT_KEYWORDS.has(name) &&
    typeof value === 'string' &&
    readTypeWord(value) !== undefined;
  return entries.every(isWord) ? entries : [];
}

function namesFromList(draft: Draft, context: FitContext, say: Say): void {
  const list = Array.isArray(draft.properties) ? draft.properties : [];
  const entries = list.filter(isObject).flatMap((item) => {
    const { name, ...schema } = item;
    return typeof name === 'string' ? [[name, schema] as const] : [];
  });
  draft.properties = Object.fromEntries(entries);
  draft.type ??= 'object';
  context.misread = true;
  say(`\`properties\` given as a list: ${entries.length} of ${list.length} have a name`);
}

/** Before the children are fitted: names that `required` lists, and properties that say it of themselves. */
export function requiredNames(draft: Draft, say: Say): string[] {
  const written = draft.required;
  const names: unknown[] = typeof written === 'string' ? written.split(',').map((name) => name.trim()) : [];
  if (Array.isArray(written)) names.push(...written);
  else if (typeof written === 'string') say('`required` given as text: read as a list of names');
  else if (written !== undefined && typeof written !== 'boolean') say('`required` is no list: left out');
  const usable = new Set(names.filter((name) => typeof name === 'string' && name !== '').map(String));
  if (Array.isArray(written) && usable.size < names.length) say('repeated or unusable names in `required` left out');
  const selfDeclared = Object.entries(isObject(draft.properties) ? draft.properties : {})
    .filter(([, property]) => isObject(property) && isRequiredMark(property.required))
    .map(([name]) => name);
  if (selfDeclared.length > 0) {
    say(`\`required: true\` of ${selfDeclared.join(', ')} written as a list in the object`);
  }
  return [...new Set([...usable, ...selfDeclared])];
}

function isRequiredMark(value: unknown): boolean {
  return value === true || value === 'true';
}

interface Required {
  at: Place;
  say: Say;
  context: FitContext;
}

/** After the children are fitted: a name that nothing describes becomes an argument that takes anything. */
export function fitRequired(draft: Draft, names: readonly string[], { at, say, context }: Required): void {
  delete draft.required;
  if (names.length === 0) return;
  const known = namesOf(draft, at, context);
  const unknown = names.filter((name) => !known.has(name));
  const types = typesOf(draft);
  const isClosed = draft.additionalProperties === false || (types.length > 0 && !types.includes('object'));
  if (unknown.length > 0) {
    const fate = isClosed ? 'taken off the list' : 'described as taking any value';
    say(`required names that are not described: ${unknown.join(', ')}: ${fate}`);
  }
  if (unknown.length > 0 && !isClosed) {
    const declared = isObject(draft.properties) ? draft.properties : {};
    draft.properties = { ...declared, ...Object.fromEntries(unknown.map((name) => [name, {}])) };
  }
  const kept = isClosed ? names.filter((name) => known.has(name)) : names;
  if (kept.length > 0) draft.required = kept;
}

/** Names described here, in members of combinations, or by the node that surrounds this one. */
export function namesOf(draft: Draft, at: Place, context: FitContext): Set<string> {
  const members = [draft.anyOf, draft.oneOf, draft.allOf].flatMap((list) => (Array.isArray(list) ? list : []));
  const nodes = [draft, ...members].filter(isObject).flatMap((node) => [node, definitionOf(node, context)]);
  const own = nodes.flatMap((node) => (isObject(node?.properties) ? Object.keys(node.properties) : []));
  return new Set([...own, ...(at.partOf?.names ?? [])]);
}

function definitionOf(node: JsonSchema, context: FitContext): JsonSchema | undefined {
  if (node.$ref === undefined) return undefined;
  const known = [...context.definitions.values()];
  return known.find((definition) => node.$ref === `#/$defs/${definition.name}`)?.schema;
}
