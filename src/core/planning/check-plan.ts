/**
 * A plan that passes this check is valid: its tools were chosen, its arguments pass the tools' own schemas, and its references
 * point back to fields that exist and fit. The check reports all problems together, one per line, each with its path.
 */
import { isObject, sameJson, withoutUndefined } from '../catalog/schema/json.js';
import { fittedSchemas, withoutNulls } from '../catalog/schema/normalise.js';
import { fillDefaults, fits, type Subschema, subschemaAt } from '../catalog/schema/paths.js';
import { shownTexts } from '../catalog/shown.js';
import type { JsonSchema, Tool } from '../catalog/tool.js';
import { validatorFor } from '../catalog/validate.js';
import { runInSlices } from '../in-slices.js';
import { oncePer } from '../kept.js';
import type { SourceName, Step } from '../result.js';
import { splitIdentifier } from '../search/words.js';
import { weakest } from './ground.js';
import { createIssues, type Issues, showName, showNames } from './issues.js';
import { orderEffects } from './order-effects.js';
import {
  findBroken,
  findReferences,
  type Leaf,
  type Reference,
  type Root,
  referencesIn,
  renderPath,
  textsIn,
} from './references.js';

export interface DraftStep {
  id: string;
  tool: string;
  arguments: Record<string, unknown>;
  dependsOn?: readonly string[] | undefined;
  purpose?: string | undefined;
  from?: Readonly<Record<string, SourceName>> | undefined;
  /** A reference to a list: the step runs for each item. The planner itself writes no loops. */
  each?: string | undefined;
  /** A reference whose value decides whether the step runs. */
  when?: { readonly value: string } | undefined;
}

type CheckedPlan = { ok: true; steps: Step[] } | { ok: false; issues: string[] };

interface CheckOptions {
  /** Whether the defaults of the tool's schema fill omitted arguments. Default: false. */
  defaults?: boolean;
  /** Names of the inputs of a run. Default: a run has none. */
  inputs?: readonly string[] | undefined;
}

/** In slices, a step at a time: the check of a large schema takes a quarter of a second to compile, and a tenth to run. */
export function checkPlan(
  draft: readonly DraftStep[],
  tools: ReadonlyMap<string, Tool>,
  options: CheckOptions = {},
): Promise<CheckedPlan> {
  return runInSlices(checkSteps(draft, tools, options));
}

function* checkSteps(
  draft: readonly DraftStep[],
  tools: ReadonlyMap<string, Tool>,
  { defaults = false, inputs }: CheckOptions,
): Generator<void, CheckedPlan, void> {
  const tooMany = findTooManyReferences(draft);
  if (tooMany !== undefined) return { ok: false, issues: [tooMany] };
  const issues = createIssues();
  const earlier = new Map<string, Producer | undefined>(inputs ? [['input', toProducer(inputs)]] : []);
  const whole: Step[] = [];
  for (const [place, step] of draft.entries()) {
    if (issues.isFull) {
      issues.add(() => step.id);
      continue;
    }
    const id = `s${place + 1}`;
    if (step.id !== id) issues.add(() => `${step.id}.id: must be "${id}", since steps are numbered from s1 on`);
    const tool = tools.get(step.tool);
    if (tool) {
      const settled = settle(step, placeOf(step, tool, earlier), { defaults, issues });
      if (issues.lines().length === 0) whole.push(finish(settled, tool));
    } else issues.add(() => `${step.id}.tool: "${showName(step.tool)}" is not one of ${[...tools.keys()].join(', ')}`);
    earlier.set(step.id, step.each === undefined ? tool : tool && listOf(tool));
    yield;
  }
  const found = issues.lines();
  return found.length > 0 ? { ok: false, issues: found } : { ok: true, steps: orderEffects(whole, tools) };
}

/** The check looks each of them up in a schema, and a run in a result, for each item of a loop. */
const MOST_REFERENCES = 10_000;

/** An upper bound without parsing: counts every possible beginning of a reference. */
export function findTooManyReferences(steps: readonly Pick<DraftStep, 'arguments'>[]): string | undefined {
  const texts = steps.flatMap((step) => textsIn(step.arguments));
  const references = texts.reduce((sum, { text }) => sum + text.split('${').length - 1, 0);
  if (references <= MOST_REFERENCES) return undefined;
  return `steps: ${references} references, more than ${MOST_REFERENCES}; make several plans`;
}

/** Fills in defaults. Many generated schemas do not allow their own defaults; the step then stays without them. */
function settle(
  draft: DraftStep,
  place: StepPlace,
  { defaults, issues }: { defaults: boolean; issues: Issues },
): DraftStep {
  const step = { ...draft, arguments: withoutNulls(draft.arguments, fittedSchemas(place.tool).input) };
  const filled = defaults ? fillDefaults(place.tool.inputSchema, step.arguments) : undefined;
  if (isObject(filled)) {
    const whole = { ...step, arguments: filled, from: withDefaults(step.from, step.arguments, filled) };
    const ofWhole = createIssues();
    checkStep(whole, place, ofWhole);
    if (ofWhole.lines().length === 0) return whole;
  }
  checkStep(step, place, issues);
  return step;
}

/** Adds the source `default` for arguments that were filled in, whole or in part. */
function withDefaults(from: DraftStep['from'], given: Arguments, filled: Arguments): Record<string, SourceName> {
  const known = new Map(Object.entries(from ?? {}));
  const added = Object.keys(filled).flatMap((name): [string, SourceName][] => {
    const source = known.get(name);
    if (!Object.hasOwn(given, name)) return [[name, 'default']];
    return source === undefined || sameJson(given[name], filled[name]) ? [] : [[name, weakest([source, 'default'])]];
  });
  return { ...from, ...Object.fromEntries(added) };
}

type Arguments = Readonly<Record<string, unknown>>;

/** The target of a reference: a tool, an item of a list, or the inputs of the run. */
type Producer = Pick<Tool, 'name' | 'outputSchema'> & { readonly what?: string };
type Earlier = ReadonlyMap<string, Producer | undefined>;

interface StepPlace {
  tool: Tool;
  earlier: Earlier;
  /** Further roots of references at this step. */
  roots: readonly Root[];
}

function placeOf({ each }: DraftStep, tool: Tool, earlier: Map<string, Producer | undefined>): StepPlace {
  const inputs: Root[] = earlier.has('input') ? ['input'] : [];
  if (each === undefined) return { tool, earlier, roots: inputs };
  const [list] = findReferences(each, inputs);
  const lists = list && earlier.get(list.step)?.outputSchema;
  const found = lists && list && subschemaAt(lists, list.path);
  const schema = found && subschemaAt(found, [0]);
  const item = { name: 'item', what: 'an item', ...(schema ? { outputSchema: schema } : {}) };
  return { tool, earlier: new Map([...earlier, ['item', item]]), roots: [...inputs, 'item'] };
}

function toProducer(inputs: readonly string[]): Producer {
  const properties = Object.fromEntries(inputs.map((name) => [name, {}]));
  return { name: 'input', outputSchema: { type: 'object', properties, additionalProperties: false } };
}

/** The result of a step with `each`: a list of the results of its items. */
function listOf({ name, outputSchema }: Tool): Producer {
  if (!outputSchema) return { name, outputSchema: { type: 'array' } };
  const { $defs, definitions } = outputSchema;
  return { name, outputSchema: withoutUndefined({ type: 'array', items: outputSchema, $defs, definitions }) };
}

/** Finds references without `${}`: `s1.code` if s1's result has a field `code`, `{{station.code}}` after `find_station`. */
function bareCheck(earlier: Earlier): (text: string) => boolean {
  let names: ReadonlySet<string> | undefined;
  return (text) => {
    const named = splitIdentifier(/^\{\{([^{}.[]+)[.[][^{}]*\}\}$/u.exec(text)?.[1] ?? '');
    if (named.length > 0) {
      names ??= new Set([...earlier.values()].flatMap((producer) => (producer ? wordsOfName(producer) : [])));
      if (named.every((word) => names?.has(word))) return true;
    }
    const [reference] = findReferences(`\${${text}}`);
    const schema =
      reference?.whole && reference.path.length > 0 ? earlier.get(reference.step)?.outputSchema : undefined;
    const field = schema && reference ? subschemaAt(schema, reference.path) : undefined;
    return field !== undefined && Object.keys(field).length > 0;
  };
}

const wordsOfName = oncePer(({ name }: Producer) => splitIdentifier(name));

function checkStep(step: DraftStep, { tool, earlier, roots }: StepPlace, issues: Issues): void {
  const { input } = fittedSchemas(tool);
  const references = referencesIn(step.arguments, roots);
  addUnknownArguments(step, tool, issues);
  const open = references.map(({ leaf, whole }) => ({ path: leaf.path, isWhole: whole }));
  const judged = validatorFor(tool)(step.arguments, open);
  issues.addEach(judged.ok ? [] : judged.issues, (issue) =>
    `${step.id}.arguments.${issue}`.replace('arguments.(arguments)', 'arguments'),
  );
  const isBare = bareCheck(earlier);
  for (const leaf of textsIn(step.arguments))
    issues.addEach(
      [...findBroken(leaf.text, roots), ...(isBare(leaf.text) ? [leaf.text] : [])],
      (text) => `${at(step, leaf)}: "${showName(text)}" is no reference; write \${s1.field}`,
    );
  const addProblem = (place: () => string, reference: Reference, wanted: Subschema) => {
    const problem = referenceProblem(reference, { wanted, earlier });
    if (problem) issues.add(() => `${place()}: ${problem()}`);
  };
  for (const reference of references)
    addProblem(() => at(step, reference.leaf), reference, subschemaAt(input, reference.leaf.path));
  for (const reference of referencesIn(step.each, roots))
    addProblem(() => `${step.id}.each`, reference, { type: 'array' });
  for (const reference of referencesIn(step.when?.value, roots))
    addProblem(() => `${step.id}.when.value`, reference, {});
  const unknownOrder = (step.dependsOn ?? []).filter((id) => !earlier.has(id));
  issues.addEach(unknownOrder, (id) => `${step.id}.dependsOn: "${id}" is not an earlier step`);
}

/**
 * JSON Schema allows unknown properties by default. A model that writes one has invented it, so the check refuses it unless
 * the schema explicitly allows more.
 */
function addUnknownArguments(step: DraftStep, tool: Tool, issues: Issues): void {
  const { properties, additionalProperties, patternProperties } = tool.inputSchema;
  const isOpen = additionalProperties !== undefined || patternProperties !== undefined || !isObject(properties);
  const fitted = fittedSchemas(tool).input.properties;
  if (isOpen || !isObject(fitted)) return;
  const unknown = Object.keys(step.arguments).filter((name) => !Object.hasOwn(fitted, name));
  const known = () => Object.keys(fitted).join(', ') || 'none';
  issues.addEach(unknown, (name) => `${step.id}.arguments: unknown argument "${showName(name)}"; known: ${known()}`);
}

/** @returns what is wrong, written where it is shown */
function referenceProblem(
  { text, step, path, whole }: Reference,
  { wanted, earlier }: { wanted: Subschema; earlier: Earlier },
): (() => string) | undefined {
  const shown = showName(text);
  if (!earlier.has(step)) return () => `"${shown}" refers to ${showName(step)}, which is not an earlier step`;
  const producer = earlier.get(step);
  const schema = producer?.outputSchema;
  if (!schema) return undefined;
  const found = subschemaAt(schema, path);
  if (found === undefined)
    return () => {
      const fields = fieldsOf(schema);
      const what = producer.what ?? `the result of ${producer.name}`;
      return `"${shown}": ${what} has no field ${renderPath(showNames(path))}${fields ? `; it has ${fields}` : ''}`;
    };
  if (whole && wanted !== undefined && !fits(found, wanted))
    return () => `"${shown}" is ${typeName(found)}, and ${typeName(wanted)} is asked for`;
  return undefined;
}

function finish(step: DraftStep, tool: Tool): Step {
  const referred = referencesIn([step.arguments, step.each, step.when?.value]).map((reference) => reference.step);
  return {
    id: step.id,
    tool: step.tool,
    arguments: step.arguments,
    from: { ...step.from },
    purpose: step.purpose ?? shownTexts(tool).title ?? '',
    dependsOn: [...new Set([...referred, ...(step.dependsOn ?? [])])],
  };
}

function at(step: DraftStep, leaf: Leaf): string {
  return `${step.id}.arguments.${renderPath(showNames(leaf.path))}`;
}

function fieldsOf(schema: JsonSchema): string {
  const items = schema.type === 'array' && isObject(schema.items) ? schema.items : undefined;
  const { properties } = items ?? schema;
  const fields = isObject(properties) ? Object.keys(properties).slice(0, 20) : [];
  return fields.map((field) => renderPath(items ? [0, field] : [field])).join(', ');
}

function typeName(schema: JsonSchema): string {
  if (schema.type === 'array' && isObject(schema.items)) return `array of ${typeName(schema.items)}`;
  const type = schema.type ?? (Array.isArray(schema.enum) ? 'one of a list of values' : 'another type');
  return Array.isArray(type) ? type.join(' or ') : String(type);
}
