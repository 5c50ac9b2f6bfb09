/** Fits one schema node and all below it. Pure: the author's objects are never changed. */
import type { JsonSchema } from '../tool.js';
import { addNote, type FitContext, type Place, type Say } from './fit-context.js';
import { fitRequired, moveMisplacedProperties, namesOf, requiredNames } from './fit-object.js';
import { ENDLESS, fitReference } from './fit-reference.js';
import { dropForeignKeywords, fitFormat, fitPattern, fitTexts } from './fit-text.js';
import { inferType, rewriteType } from './fit-type.js';
import { fitBounds, fitDefault, fitEnum } from './fit-values.js';
import { type Draft, isObject, joinPath, showJson, typesOf } from './json.js';
import { CHILD_KEYWORDS, inKeywordOrder, LIST_KEYWORDS, MAP_KEYWORDS } from './keywords.js';
import { mergeSchemas } from './merge.js';
import { rewriteNullable, rewriteOldForms } from './old-forms.js';
import { readTypeWord } from './type-words.js';

const MAX_DEPTH = 40;
/** May be `true` or `false` in 2020-12. */
const BOOLEAN_CHILDREN = new Set(['items', 'additionalProperties', 'unevaluatedProperties', 'unevaluatedItems']);
/** Add conditions to the node that holds them. */
const CONDITIONS = new Set(['anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else', 'dependentSchemas']);

export function fitNode(value: unknown, at: Place, context: FitContext): JsonSchema {
  const say: Say = (text) => addNote(context, at.path, text);
  context.nodesLeft--;
  if (at.depth > MAX_DEPTH || context.nodesLeft < 0) {
    say('nested too deeply, or too large: taken as any value');
    return {};
  }
  const draft = openDraft(value, say);
  moveMisplacedProperties(draft, context, say);
  rewriteOldForms(draft, say);
  rewriteType(draft, say);
  rewriteNullable(draft, say);
  const required = requiredNames(draft, say);
  fitChildren(draft, at, context);
  fitRequired(draft, required, { at, say, context });
  fitBounds(draft, context, say);
  fitEnum(draft, context, say);
  if (at.partOf?.typed !== true) inferType(draft, say);
  fitTexts(draft, say);
  fitFormat(draft, say);
  fitPattern(draft, say);
  fitDefault(draft, say);
  dropForeignKeywords(draft, say);
  const finished = finishReference(draft, at, context);
  return finished === ENDLESS ? ENDLESS : inKeywordOrder(mergeAll(finished, say));
}

function openDraft(value: unknown, say: Say): Draft {
  if (isObject(value)) return { ...value };
  if (value === true) {
    say('the schema `true` written as an empty one: any value');
    return {};
  }
  if (typeof value === 'string' && readTypeWord(value)) {
    say(`the text ${showJson(value)} read as a type`);
    return { type: value };
  }
  say(`${showJson(value)} is no schema: any value is taken`);
  return typeof value === 'string' ? { description: value } : {};
}

function finishReference(node: JsonSchema, at: Place, context: FitContext): JsonSchema {
  const { $ref, ...siblings } = node;
  if ($ref === undefined) return node;
  return fitReference($ref, siblings, { at, context, fit: fitNode });
}

function fitChildren(draft: Draft, at: Place, context: FitContext): void {
  const isConditional = Object.keys(draft).some((keyword) => CONDITIONS.has(keyword));
  const names = isConditional ? namesOf(draft, at, context) : undefined;
  const partOf = names && { names, typed: isTyped(draft) || at.partOf?.typed === true };
  const below = (path: string, keyword: string): Place => {
    const open = CONDITIONS.has(keyword) ? (at.open ?? []) : [];
    return { path, depth: at.depth + 1, open, ...(CONDITIONS.has(keyword) && partOf ? { partOf } : {}) };
  };
  for (const keyword of MAP_KEYWORDS) {
    if (keyword in draft) draft[keyword] = fitMap(draft, keyword, { at, below, context });
  }
  for (const keyword of LIST_KEYWORDS) {
    if (keyword in draft) fitList(draft, keyword, { at, below, context });
  }
  for (const keyword of CHILD_KEYWORDS) {
    if (keyword in draft) fitChild(draft, keyword, { at, below, context });
  }
}

interface Below {
  at: Place;
  below: (path: string, keyword: string) => Place;
  context: FitContext;
}

function isTyped(draft: Draft): boolean {
  return typesOf(draft).length > 0 || 'properties' in draft;
}

function fitMap(draft: Draft, keyword: string, { at, below, context }: Below): Record<string, unknown> {
  const children = isObject(draft[keyword]) ? draft[keyword] : {};
  const fitted: [string, unknown][] = [];
  for (const [name, child] of Object.entries(children)) {
    const path = keyword === 'properties' ? joinPath(at.path, name) : joinPath(at.path, `(${keyword} ${name})`);
    if (child === false) addNote(context, path, 'the schema `false` allows nothing: left out');
    else fitted.push([name, fitNode(child, below(path, keyword), context)]);
  }
  return Object.fromEntries(fitted);
}

function fitList(draft: Draft, keyword: string, { at, below, context }: Below): void {
  const written = draft[keyword];
  const members: readonly unknown[] = Array.isArray(written) ? written : [written];
  const usable = members.filter((member) => typeof member === 'boolean' || isObject(member));
  const possible = keyword === 'prefixItems' ? usable : usable.filter((member) => member !== false);
  if (possible.length < members.length || !Array.isArray(written)) {
    addNote(context, at.path, `\`${keyword}\`: members that are no schema, or allow nothing, left out`);
  }
  const word = keyword === 'prefixItems' ? 'item' : `${keyword}`;
  const fitted = possible.map((member, index) => {
    const path = joinPath(at.path, `(${word} ${index + 1})`);
    return fitNode(member === false ? {} : member, below(path, keyword), context);
  });
  const kept = fitted.filter((member) => member !== ENDLESS);
  draft[keyword] = kept;
  if (kept.length > 0) return;
  delete draft[keyword];
  addNote(context, at.path, `an empty \`${keyword}\`: left out`);
}

function fitChild(draft: Draft, keyword: string, { at, below, context }: Below): void {
  const written = draft[keyword];
  const text = typeof written === 'string' ? written.trim().toLowerCase() : undefined;
  const child = BOOLEAN_CHILDREN.has(keyword) && (text === 'true' || text === 'false') ? text === 'true' : written;
  if (child !== written) addNote(context, at.path, `\`${keyword}: ${showJson(written)}\` written as a boolean`);
  const mayBeBoolean = BOOLEAN_CHILDREN.has(keyword) || keyword === 'not';
  if (typeof child === 'boolean' && mayBeBoolean) draft[keyword] = child;
  else if (isObject(child) || typeof child === 'boolean' || (keyword === 'items' && typeof child === 'string')) {
    const path = keyword === 'items' ? `${at.path}[]` : joinPath(at.path, `(${keyword})`);
    draft[keyword] = fitNode(child, below(path, keyword), context);
  } else {
    delete draft[keyword];
    addNote(context, at.path, `\`${keyword}: ${showJson(written)}\` is no schema: left out`);
  }
}

/** `allOf`, and `anyOf` or `oneOf` of one member, become part of the node where that is plain. */
function mergeAll(unmerged: JsonSchema, say: Say): JsonSchema {
  let node = unmerged;
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const members = node[keyword];
    if (!Array.isArray(members) || (keyword !== 'allOf' && members.length > 1)) continue;
    const { [keyword]: _, ...rest } = node;
    const merged = members.reduce<JsonSchema | undefined>(
      (sum, member) => (sum === undefined ? undefined : mergeSchemas(sum, member)),
      rest,
    );
    if (merged === undefined) continue;
    node = merged;
    say(`\`${keyword}\` merged`);
  }
  return node;
}
