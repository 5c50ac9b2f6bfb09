/**
 * References: a small definition is written out where it is used; a large or recursive one is kept under the
 * root's `$defs`; what can't be found is eased to any value. Nothing is fetched.
 */
import type { JsonSchema } from '../tool.js';
import { addNote, type Definition, type FitContext, type Place } from './fit-context.js';
import { isObject, showJson } from './json.js';
import { mergeSchemas } from './merge.js';
import { isRemote, nameOfReference, resolveReference } from './pointer.js';

/** Definitions of at most so many characters are written out: a model reads them better than a reference. */
const INLINE_CHARACTERS = 400;

/** Stands for a node that is nothing but a reference to itself: no condition, and no form of its own. */
export const ENDLESS: JsonSchema = Object.freeze({});

interface Surroundings {
  at: Place;
  context: FitContext;
  fit: (value: unknown, at: Place, context: FitContext) => JsonSchema;
}

/** The node that stands for `{$ref, ...siblings}`; the siblings are fitted already. */
export function fitReference(reference: unknown, siblings: JsonSchema, surroundings: Surroundings): JsonSchema {
  const { at, context } = surroundings;
  const target = typeof reference === 'string' ? resolveReference(context.root, reference) : undefined;
  if (typeof reference !== 'string' || (!isObject(target) && typeof target !== 'boolean')) {
    const remote = typeof reference === 'string' && isRemote(reference);
    const reason = remote ? 'leads out of the document, and is never fetched' : 'leads nowhere';
    addNote(context, at.path, `$ref ${showJson(reference)} ${reason}: any value is taken`);
    return siblings;
  }
  if (at.open?.includes(reference)) {
    addNote(context, at.path, `$ref ${showJson(reference)} comes back to itself without end: left out`);
    return Object.keys(siblings).length === 0 ? ENDLESS : siblings;
  }
  const definition = context.definitions.get(reference) ?? openDefinition(reference, target, surroundings);
  const kept: JsonSchema = { $ref: referenceTo(definition), ...siblings };
  if (definition.state === 'open') {
    definition.recursive = true;
    return kept;
  }
  if (definition.recursive || JSON.stringify(definition.schema).length > INLINE_CHARACTERS) return kept;
  definition.inlined++;
  return mergeSchemas(siblings, definition.schema) ?? { ...siblings, allOf: [...listOf(siblings), definition.schema] };
}

function listOf(siblings: JsonSchema): readonly unknown[] {
  return Array.isArray(siblings.allOf) ? siblings.allOf : [];
}

function openDefinition(reference: string, target: unknown, { at, context, fit }: Surroundings): Definition {
  const name = freeName(nameOfReference(reference), context);
  const definition: Definition = { name, state: 'open', recursive: false, schema: {}, inlined: 0 };
  context.definitions.set(reference, definition);
  const place = { path: `(definition ${name})`, depth: 0, open: [...(at.open ?? []), reference] };
  const fitted = fit(target === context.root ? withoutDefinitions(context.root) : target, place, context);
  definition.schema = fitted === ENDLESS ? {} : fitted;
  definition.state = 'done';
  return definition;
}

export function referenceTo(definition: Definition): string {
  return `#/$defs/${definition.name}`;
}

function freeName(wanted: string, context: FitContext): string {
  const taken = new Set([...context.definitions.values()].map((definition) => definition.name));
  for (let count = 1; ; count++) {
    const name = count === 1 ? wanted : `${wanted}_${count}`;
    if (!taken.has(name)) return name;
  }
}

function withoutDefinitions(root: JsonSchema): JsonSchema {
  const { $defs: _defs, definitions: _definitions, ...rest } = root;
  return rest;
}
