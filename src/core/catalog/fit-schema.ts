/**
 * Makes a schema found in the wild fit for a model, a model server and a grammar, and says what it changed.
 * The result has `type: "object"` and `properties` at the root, holds only keywords of JSON Schema 2020-12 in
 * a fixed order, refers to nothing but its own `$defs`, and is its own fitted form.
 */
import { addNote, createFitContext, type FitContext } from './schema/fit-context.js';
import { fitNode } from './schema/fit-node.js';
import { referenceTo } from './schema/fit-reference.js';
import { fitRoot } from './schema/fit-root.js';
import { isObject } from './schema/json.js';
import type { JsonSchema } from './tool.js';

export interface FittedSchema {
  readonly schema: JsonSchema;
  /**
   * One change a line, each with its path: `filters.date: default "soon" is not of type integer: left out`.
   * Keywords that say nothing about a value (`$schema`, `$id`, `$comment`) go without a note. The only note
   * that stands for no change, and so comes again, is the one about a very long description.
   */
  readonly notes: readonly string[];
}

export interface FitReport extends FittedSchema {
  /** A standard validator reads the original in another sense than its author's (arguments outside `properties`). */
  readonly misread: boolean;
  /** The root was of another type than object. */
  readonly forcedRoot: boolean;
}

const MAX_PASSES = 6;

/** Pure and deterministic. Not cached: the caller keeps the result with the tool. */
export function fitSchema(schema: JsonSchema): FittedSchema {
  const { schema: fitted, notes } = fitWithReport(schema);
  return { schema: fitted, notes };
}

/** What one pass merges or writes out may itself need mending: it ends when a pass changes nothing. */
export function fitWithReport(schema: JsonSchema): FitReport {
  const first = fitOnce(schema);
  const notes = new Set(first.notes);
  let fitted = first.schema;
  for (let pass = 2; pass <= MAX_PASSES; pass++) {
    const next = fitOnce(fitted);
    for (const note of next.notes) notes.add(note);
    if (JSON.stringify(next.schema) === JSON.stringify(fitted)) break;
    fitted = next.schema;
  }
  return { ...first, schema: fitted, notes: [...notes] };
}

function fitOnce(schema: JsonSchema): FitReport {
  const context = createFitContext(schema);
  const node = fitNode(schema, { path: '', depth: 0, open: ['#'] }, context);
  const root = fitRoot(node, context);
  const definitions = collectDefinitions(root.schema, context);
  noteDefinitions(definitions, context);
  const $defs = Object.fromEntries(definitions);
  return {
    schema: definitions.size === 0 ? root.schema : { ...root.schema, $defs },
    notes: context.notes,
    misread: context.misread,
    forcedRoot: root.forced,
  };
}

/** What the fitted root refers to, directly or through other definitions, in the order of first use. */
function collectDefinitions(root: JsonSchema, context: FitContext): Map<string, JsonSchema> {
  const byReference = new Map([...context.definitions.values()].map((known) => [referenceTo(known), known]));
  const found = new Map<string, JsonSchema>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isObject(value)) return;
    const definition = typeof value.$ref === 'string' ? byReference.get(value.$ref) : undefined;
    if (definition && !found.has(definition.name)) {
      found.set(definition.name, definition.schema);
      visit(definition.schema);
    }
    Object.values(value).forEach(visit);
  };
  visit(root);
  return found;
}

function noteDefinitions(kept: ReadonlyMap<string, JsonSchema>, context: FitContext): void {
  for (const [reference, { name, inlined }] of context.definitions) {
    const path = `(definition ${name})`;
    if (inlined > 0) addNote(context, path, `written out where it is used, ${inlined} times`);
    else if (kept.has(name) && reference !== `#/$defs/${name}`)
      addNote(context, path, `moved to \`$defs\` from ${reference}`);
  }
  const holders = [context.root.$defs, context.root.definitions].filter(isObject);
  const declared = holders.reduce((sum, holder) => sum + Object.keys(holder).length, 0);
  const used = [...context.definitions.keys()].filter((reference) =>
    /^#\/(\$defs|definitions)\/[^/]+$/.test(reference),
  );
  if (declared > used.length) {
    addNote(context, '', `${declared - used.length} definitions that nothing refers to: left out`);
  }
}
