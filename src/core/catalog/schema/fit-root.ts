/** Makes the root an object with `properties`, which is what tool calls are made of. */
import type { JsonSchema } from '../tool.js';
import { addNote, type FitContext } from './fit-context.js';
import { referenceTo } from './fit-reference.js';
import { addToDescription } from './fit-values.js';
import { type Draft, isObject, sameJson, typesOf } from './json.js';
import { inKeywordOrder } from './keywords.js';
import { mergeSchemas } from './merge.js';

export interface FittedRoot {
  readonly schema: JsonSchema;
  /** The author's root was of another type than object. */
  readonly forced: boolean;
}

export function fitRoot(fitted: JsonSchema, context: FitContext): FittedRoot {
  const draft: Draft = { ...expandReference(fitted, context) };
  const types = typesOf(draft);
  const forced = types.length > 0 && !types.includes('object');
  if (forced) {
    addNote(context, '', `the root is of type ${types.join(' or ')}: arguments are always an object, so taken as one`);
    const open = { ...textOf(draft), type: 'object', properties: {}, additionalProperties: true };
    return { schema: open, forced };
  }
  if (types.length > 1) addNote(context, '', `the root is of type ${types.join(' or ')}: taken as object`);
  draft.type = 'object';
  for (const keyword of ['enum', 'const', 'format']) {
    if (keyword in draft) addNote(context, '', `\`${keyword}\` at the root says nothing of an object: left out`);
    delete draft[keyword];
  }
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) flattenForms(draft, keyword, context);
  describeNothing(draft, context);
  return { schema: inKeywordOrder(draft), forced };
}

function textOf(draft: Draft): Draft {
  return typeof draft.description === 'string' ? { description: draft.description } : {};
}

/** A reference that comes back to itself says nothing, and goes. */
function expandReference(node: JsonSchema, context: FitContext): JsonSchema {
  const followed = new Set<unknown>();
  let root = node;
  while (root.$ref !== undefined) {
    const { $ref, ...siblings } = root;
    const isNew = !followed.has($ref);
    followed.add($ref);
    const definition = [...context.definitions.values()].find((known) => isNew && referenceTo(known) === $ref);
    root = mergeSchemas(siblings, definition?.schema ?? {}) ?? { ...definition?.schema };
    addNote(context, '', 'the reference at the root written out');
  }
  return root;
}

/** A root without `properties` takes anything; one with an empty `properties` takes nothing. */
function describeNothing(draft: Draft, context: FitContext): void {
  const names = isObject(draft.properties) ? Object.keys(draft.properties) : [];
  const opening = ['additionalProperties', 'patternProperties', 'unevaluatedProperties'];
  const isOpen = opening.some((keyword) => keyword in draft);
  if (names.length === 0 && !isOpen) {
    const declared = 'properties' in draft;
    draft.additionalProperties = !declared;
    addNote(context, '', declared ? '`properties` is empty: none is taken' : 'no `properties`: any is taken');
  }
  draft.properties ??= {};
}

/** Servers refuse combinations at the root: the arguments of all members are put side by side. */
function flattenForms(draft: Draft, keyword: string, context: FitContext): void {
  const members = draft[keyword];
  if (!Array.isArray(members)) return;
  delete draft[keyword];
  const forms = members
    .map((member) => expandReference(member, context))
    .filter((form) => typesOf(form).length === 0 || typesOf(form).includes('object'));
  const nodes = forms.flatMap((form) => nodesWithin(form, context, new Set()));
  const merged = new Map(Object.entries(isObject(draft.properties) ? draft.properties : {}));
  for (const name of new Set(nodes.flatMap((node) => Object.keys(propertiesOf(node))))) {
    merged.set(name, variantsOf(name, [{ properties: Object.fromEntries(merged) }, ...nodes]));
  }
  if (merged.size > 0 || 'properties' in draft) draft.properties = Object.fromEntries(merged);
  if (forms.length > 0 && forms.every((form) => form.additionalProperties === false))
    draft.additionalProperties = false;
  requireOf(draft, keyword, forms);
  addNote(context, '', `\`${keyword}\` at the root: the properties of its ${forms.length} members put side by side`);
}

function requireOf(draft: Draft, keyword: string, forms: readonly JsonSchema[]): void {
  const lists = forms.map((form) => namesIn(form.required));
  const named = keyword === 'allOf' ? lists.flat() : namesInAll(lists);
  const known = isObject(draft.properties) ? draft.properties : {};
  const always = named.filter((name) => Object.hasOwn(known, name));
  const required = [...new Set([...namesIn(draft.required), ...always])];
  if (required.length > 0) draft.required = required;
  if (keyword === 'allOf') return;
  const choices = [...new Set(lists.map((list) => list.filter((name) => !required.includes(name)).join(' + ')))];
  if (choices.length > 1)
    addToDescription(draft, `Give one of: ${choices.map((choice) => choice || 'none').join(' | ')}`);
}

function namesInAll(lists: readonly string[][]): string[] {
  return (lists[0] ?? []).filter((name) => lists.every((list) => list.includes(name)));
}

/** A form, and what it is made of in turn: so no argument of an inner form is lost. */
function nodesWithin(form: JsonSchema, context: FitContext, seen: Set<string>): JsonSchema[] {
  const key = JSON.stringify(form);
  if (seen.has(key)) return [];
  seen.add(key);
  const members = [form.allOf, form.anyOf, form.oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  return [form, ...members.flatMap((member) => nodesWithin(expandReference(member, context), context, seen))];
}

/** The schema of an argument that several forms describe. */
function variantsOf(name: string, forms: readonly JsonSchema[]): unknown {
  const distinct: unknown[] = [];
  for (const form of forms) {
    const properties = propertiesOf(form);
    if (!Object.hasOwn(properties, name)) continue;
    const schema = properties[name];
    const isEmpty = isObject(schema) && Object.keys(schema).length === 0;
    if (!isEmpty && !distinct.some((other) => sameJson(other, schema))) distinct.push(schema);
  }
  return distinct.length > 1 ? { anyOf: distinct } : (distinct[0] ?? {});
}

function propertiesOf(node: JsonSchema): JsonSchema {
  return isObject(node.properties) ? node.properties : {};
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
}
