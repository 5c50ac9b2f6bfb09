/**
 * A plan that passes here is valid: its tools were chosen, its arguments pass the tools' own schemas, its references
 * go back to fields that exist and fit. All problems are found in one go, one a line, each with its path.
 */

import { isObject, joinPath } from '../catalog/schema/json.js';
import { fillDefaults, fits, type Subschema, subschemaAt } from '../catalog/schema/paths.js';
import type { JsonSchema, Tool } from '../catalog/tool.js';
import { validatorFor } from '../catalog/validate.js';
import type { SourceName, Step } from '../result.js';
import { fittedSchemas } from './fitted.js';
import { orderEffects } from './order.js';
import {
  findBroken,
  findReferences,
  type Leaf,
  type Reference,
  renameReferences,
  renderPath,
  textsIn,
} from './references.js';
import { sampleValue } from './sample-value.js';
import { withoutNulls } from './without-nulls.js';

export interface DraftStep {
  id: string;
  tool: string;
  arguments: Record<string, unknown>;
  dependsOn?: readonly string[] | undefined;
  purpose?: string | undefined;
  from?: Readonly<Record<string, SourceName>> | undefined;
}

export type CheckedPlan = { ok: true; steps: Step[] } | { ok: false; issues: string[] };

export interface CheckOptions {
  /** Whether what was left out is written down where the tool's schema has a default for it. Default: false. */
  defaults?: boolean;
}

export function checkPlan(
  draft: readonly DraftStep[],
  tools: ReadonlyMap<string, Tool>,
  { defaults = false }: CheckOptions = {},
): CheckedPlan {
  const steps = renumber(
    draft.map((step) => ({ ...step, arguments: withoutNulls(step.arguments, inputOf(tools.get(step.tool))) })),
  );
  const names = new Set([...draft, ...steps].flatMap(({ id, tool }) => [id, tool]));
  const issues: string[] = [];
  const earlier = new Map<string, Tool | undefined>();
  const whole: Step[] = [];
  for (const step of steps) {
    if (earlier.has(step.id)) issues.push(`${step.id}: two steps have this id`);
    const tool = tools.get(step.tool);
    if (tool) {
      const settled = settle(step, { tool, earlier, names }, { defaults });
      issues.push(...settled.issues);
      whole.push(finish(settled.step, tool));
    } else issues.push(`${step.id}.tool: "${step.tool}" is not one of ${[...tools.keys()].join(', ')}`);
    earlier.set(step.id, tool);
  }
  return issues.length > 0 ? { ok: false, issues } : { ok: true, steps: orderEffects(whole, tools) };
}

/** Many generated schemas have defaults that they themselves do not allow: then the step stays as it was written. */
function settle(step: DraftStep, place: StepPlace, { defaults }: CheckOptions) {
  const filled = defaults ? fillDefaults(place.tool.inputSchema, step.arguments, { nulls: false }) : undefined;
  const whole = isObject(filled) ? { ...step, arguments: filled } : step;
  const checked = checkStep(whole, place);
  return whole === step || checked.issues.length === 0
    ? { step: whole, ...checked }
    : { step, ...checkStep(step, place) };
}

/** Ids as they should be, `s1`, `s2`, …; references follow. Only where the model's own ids are unique, and it refers to no other. */
function renumber(draft: readonly DraftStep[]): readonly DraftStep[] {
  const names = new Map(draft.map((step, place) => [step.id, `s${place + 1}`]));
  if (names.size !== draft.length || refersElsewhere(draft, names)) return draft;
  return draft.map((step, place) => ({
    ...step,
    id: `s${place + 1}`,
    arguments: renameReferences(step.arguments, names),
    dependsOn: step.dependsOn?.map((id) => names.get(id) ?? id),
  }));
}

/** A model that counts from s2 means no step by s1: with new ids, its reference would become right by chance. */
function refersElsewhere(draft: readonly DraftStep[], names: ReadonlyMap<string, string>): boolean {
  if (!draft.some(({ id }) => /^s\d+$/u.test(id))) return false;
  const references = textsIn(draft.map((step) => step.arguments)).flatMap(({ text }) =>
    findReferences(text).map(({ step }) => step),
  );
  return [...references, ...draft.flatMap(({ dependsOn = [] }) => dependsOn)].some((id) => !names.has(id));
}

function inputOf(tool: Tool | undefined): Subschema {
  return tool && fittedSchemas(tool).input;
}

type Earlier = ReadonlyMap<string, Tool | undefined>;

interface StepPlace {
  tool: Tool;
  earlier: Earlier;
  /** Of all steps and their tools, in the model's words too. */
  names: ReadonlySet<string>;
}

/** `s1.code` where the result of s1 has a field `code`: nobody writes that for its own sake. */
function findBare(text: string, earlier: Earlier): string[] {
  const [reference] = findReferences(`\${${text}}`);
  const schema = reference?.whole && reference.path.length > 0 ? earlier.get(reference.step)?.outputSchema : undefined;
  const field = schema && reference ? subschemaAt(schema, reference.path) : undefined;
  return field === undefined || field === 'any' ? [] : [text];
}

function checkStep(step: DraftStep, { tool, earlier, names }: StepPlace) {
  const texts = textsIn(step.arguments);
  const input = fittedSchemas(tool).input;
  const references = texts.flatMap((leaf) => findReferences(leaf.text).map((reference) => ({ leaf, reference })));
  const broken = texts.flatMap((leaf) =>
    [...findBroken(leaf.text, names), ...findBare(leaf.text, earlier)].map(
      (text) => `${at(step, leaf)}: "${text}" is no reference; write \${s1.field}`,
    ),
  );
  const wrong = references.flatMap(({ leaf, reference }) => {
    const problem = referenceProblem(reference, { wanted: subschemaAt(input, leaf.path), earlier });
    return problem ? [`${at(step, leaf)}: ${problem}`] : [];
  });
  const unknownOrder = (step.dependsOn ?? [])
    .filter((id) => !earlier.has(id))
    .map((id) => `${step.id}.dependsOn: "${id}" is not an earlier step`);
  return {
    issues: [
      ...unknownArguments(step, tool),
      ...checkArguments(step, { tool, input, texts }),
      ...broken,
      ...wrong,
      ...unknownOrder,
    ],
  };
}

/**
 * JSON Schema lets unknown properties pass where nothing is said about them. A model that writes one has made it up:
 * it is refused unless the tool says that it takes more.
 */
function unknownArguments(step: DraftStep, tool: Tool): string[] {
  const { properties, additionalProperties, patternProperties } = tool.inputSchema;
  const isOpen = additionalProperties !== undefined || patternProperties !== undefined || !isObject(properties);
  const fitted = fittedSchemas(tool).input.properties;
  if (isOpen || !isObject(fitted)) return [];
  const known = Object.keys(fitted);
  return Object.keys(step.arguments)
    .filter((name) => !known.includes(name))
    .map((name) => `${step.id}.arguments: unknown argument "${name}"; known: ${known.join(', ') || 'none'}`);
}

/** The tool's own schema judges; a reference that stands alone is replaced by a value of the right type meanwhile. */
function checkArguments(
  step: DraftStep,
  { tool, input, texts }: { tool: Tool; input: JsonSchema; texts: readonly Leaf[] },
): string[] {
  const whole = texts.filter((leaf) => findReferences(leaf.text).some((reference) => reference.whole));
  let values: unknown = step.arguments;
  for (const leaf of whole) values = replaceAt(values, leaf.path, sampleValue(subschemaAt(input, leaf.path)));
  const result = validatorFor(tool).check(values);
  if (result.ok) return [];
  const referring = texts.filter((leaf) => findReferences(leaf.text).length > 0);
  return result.issues
    .filter((issue) => !referring.some((leaf) => isUnknowable(issue, leaf, whole.includes(leaf))))
    .map((issue) => `${step.id}.arguments.${issue}`.replace('arguments.(arguments)', 'arguments'));
}

/** What depends on the value that a reference will have: all below one that stands alone, the form of a text around one. */
function isUnknowable(issue: string, { path }: Leaf, isWhole: boolean): boolean {
  const place = path.reduce<string>(joinPath, '');
  const list = path.slice(0, -1).reduce<string>(joinPath, '');
  if (issue.startsWith(`${list}: must not have duplicate items`)) return true;
  return (
    issue.startsWith(place) && (isWhole ? /^[:.[]/u : /^: must (?:match|not have)/u).test(issue.slice(place.length))
  );
}

function referenceProblem(
  reference: Reference,
  { wanted, earlier }: { wanted: JsonSchema | 'any' | undefined; earlier: Earlier },
): string | undefined {
  if (!earlier.has(reference.step))
    return `"${reference.text}" refers to ${reference.step}, which is not an earlier step`;
  const producer = earlier.get(reference.step);
  if (!producer?.outputSchema) return undefined;
  const found = subschemaAt(producer.outputSchema, reference.path);
  if (found === undefined) {
    const fields = fieldsOf(producer.outputSchema);
    return `"${reference.text}": the result of ${producer.name} has no field ${renderPath(reference.path)}${fields ? `; it has ${fields}` : ''}`;
  }
  if (reference.whole && found !== 'any' && wanted !== undefined && wanted !== 'any' && !fits(found, wanted)) {
    return `"${reference.text}" is ${typeName(found)}, and ${typeName(wanted)} is asked for`;
  }
  return undefined;
}

function finish(step: DraftStep, tool: Tool): Step {
  const referred = textsIn(step.arguments).flatMap((leaf) =>
    findReferences(leaf.text).map((reference) => reference.step),
  );
  return {
    id: step.id,
    tool: step.tool,
    arguments: step.arguments,
    from: { ...step.from },
    purpose: step.purpose ?? tool.title ?? '',
    dependsOn: [...new Set([...referred, ...(step.dependsOn ?? [])])],
  };
}

function at(step: DraftStep, leaf: Leaf): string {
  return `${step.id}.arguments.${renderPath(leaf.path)}`;
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

function replaceAt(value: unknown, path: readonly (string | number)[], replacement: unknown): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return replacement;
  if (Array.isArray(value))
    return value.map((item, index) => (index === head ? replaceAt(item, rest, replacement) : item));
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, key === head ? replaceAt(inner, rest, replacement) : inner]),
    );
  return value;
}
