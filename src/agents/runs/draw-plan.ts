/** Exports of a plan: a flowchart for people (Mermaid), a workflow for other programs (Arazzo). */
import { mapLeaves } from '../../core/catalog/schema/json.js';
import { WinnowError } from '../../core/errors.js';
import { createIssues, type Issues, showNames } from '../../core/planning/issues.js';
import {
  findReferences,
  type Reference,
  type Root,
  renderPath,
  replaceReferences,
  textsIn,
} from '../../core/planning/references.js';
import type { ParsedPlan, ParsedStep, RunnablePlan } from './plan-run.js';
import { orderSteps, referencesOf, rootsOf } from './step-order.js';

/**
 * The plan as a flowchart of Mermaid: https://mermaid.js.org/syntax/flowchart.html. An arrow names the field that goes
 * along it; a dotted one is order alone.
 * @throws WinnowError `invalid_request` for a plan that can't be run
 * @example
 * console.log(toMermaid({ steps: [{ id: 's1', tool: 'list_rooms', arguments: {} }] }));
 */
export function toMermaid(given: RunnablePlan): string {
  const { plan, needs } = orderSteps(given);
  // Step ids may be keywords of Mermaid, such as `end`.
  const nodeOf = new Map(plan.steps.map(({ id }, place) => [id, `n${place + 1}`]));
  const lines = plan.steps.flatMap((step) => {
    const { id, tool, each, when } = step;
    const loop = each === undefined ? [] : [`for each ${each}`];
    const condition = when ? [`when ${when.value} is ${[when.is, JSON.stringify(when.to)].join(' ').trim()}`] : [];
    const label = [`${id}: ${tool}`, ...loop, ...condition].map(quoted).join('<br/>');
    const used = referencesOf(step);
    const arrows = [...(needs.get(id) ?? [])].map((other) => {
      const fields = used
        .filter((reference) => reference.step === other)
        .map(({ path }) => renderPath(path) || 'result');
      const arrow = fields.length === 0 ? '-.->' : `-- "${quoted([...new Set(fields)].join(', '))}" -->`;
      return `  ${nodeOf.get(other)} ${arrow} ${nodeOf.get(id)}`;
    });
    return [`  ${nodeOf.get(id)}["${label}"]`, ...arrows];
  });
  return ['flowchart TD', ...lines].join('\n');
}

/** Escapes all that could end the text or be markup. */
function quoted(text: string): string {
  return text.replace(/[^\p{L}\p{N} _.,:$]/gu, (character) => `#${character.codePointAt(0)};`);
}

// Arazzo 1.1.0, https://spec.openapis.org/arazzo/v1.1.0.html: each step calls Winnow's own HTTP interface, so the
// workflow passes the same gate.

export interface ArazzoOptions {
  /** Name of the workflow: letters, digits, "_" and "-". */
  readonly name: string;
  /** Version of the document, such as the hash of a kept plan. */
  readonly version: string;
  /** URL of Winnow's OpenAPI document. Default: `./openapi.json`. */
  readonly openapiUrl?: string | undefined;
}

/**
 * The plan as an Arazzo document. Its runs need a session id as the input `session`.
 * @throws WinnowError `invalid_request` for a plan that can't be run, or that Arazzo can't express: loops, conditions
 * @example
 * const document = toArazzo(plan, { name: 'morning', version: '1' });
 */
export function toArazzo(given: RunnablePlan, { name, version, openapiUrl = './openapi.json' }: ArazzoOptions) {
  const { plan, needs } = orderSteps(given);
  const steps = inOrder(plan.steps, needs);
  const found = createIssues();
  found.addEach(
    steps.filter(({ each, when }) => each !== undefined || when),
    ({ id }) => `${id}: Arazzo has no loop or condition`,
  );
  if (plan.inputs && Object.hasOwn(plan.inputs, SESSION))
    found.add(() => `inputs: "${SESSION}" is the input for the session`);
  for (const step of steps) addExpressions(step, found);
  const issues = found.lines();
  if (issues.length > 0)
    throw new WinnowError('invalid_request', `The plan has no form in Arazzo: ${issues.join('; ')}.`, { issues });
  const taken = steps.flatMap(referencesOf);
  const workflow = {
    workflowId: name,
    ...(plan.goal === '' ? {} : { summary: plan.goal }),
    inputs: inputSchemaOf(plan),
    steps: steps.map((step) => ({
      stepId: step.id,
      ...(step.purpose === '' ? {} : { description: step.purpose }),
      operationId: 'callTool',
      parameters: [{ name: 'id', in: 'path', value: `$inputs.${SESSION}` }],
      requestBody: {
        contentType: 'application/json',
        payload: { tool: step.tool, arguments: withExpressions(step.arguments, rootsOf(plan, step)) },
      },
      successCriteria: [{ condition: '$statusCode == 200' }, { condition: '$response.body#/ok == true' }],
      outputs: Object.fromEntries(
        [{ path: [] }, ...taken.filter((reference) => reference.step === step.id)].map(({ path }) => [
          outputName(path),
          `$response.body#/output${pointerOf(path)}`,
        ]),
      ),
    })),
  };
  return {
    arazzo: '1.1.0',
    info: { title: plan.goal || name, version },
    sourceDescriptions: [{ name: 'winnow', url: openapiUrl, type: 'openapi' }],
    workflows: [workflow],
  };
}

const SESSION = 'session';

/** Arazzo runs steps in the order of the document. */
function inOrder(steps: readonly ParsedStep[], needs: ReadonlyMap<string, ReadonlySet<string>>): ParsedStep[] {
  const ordered = new Map<string, ParsedStep>();
  const add = (step: ParsedStep): void => {
    if (ordered.has(step.id)) return;
    for (const other of steps) if (needs.get(step.id)?.has(other.id)) add(other);
    ordered.set(step.id, step);
  };
  for (const step of steps) add(step);
  return [...ordered.values()];
}

function inputSchemaOf({ inputs = {} }: ParsedPlan) {
  const own = Object.entries(inputs).map(([name, { description, value }]) => [
    name,
    { ...(description === undefined ? {} : { description }), ...(value === undefined ? {} : { default: value }) },
  ]);
  const required = Object.entries(inputs).filter(([, { value }]) => value === undefined);
  return {
    type: 'object',
    properties: {
      [SESSION]: { type: 'string', description: 'In whose name the tools are called.' },
      ...Object.fromEntries(own),
    },
    required: [SESSION, ...required.map(([name]) => name)],
  };
}

/** A unique name for each path: dots join fields; other characters than letters and digits become their codes. */
function outputName(path: Reference['path']): string {
  const codeOf = (character: string) => (character === '.' ? '-' : `_${character.codePointAt(0)?.toString(16)}_`);
  return renderPath(path).replace(/[^A-Za-z0-9]/gu, codeOf) || 'result';
}

function withExpressions(given: unknown, roots: readonly Root[]): unknown {
  return mapLeaves(given, (value) => {
    if (typeof value !== 'string') return value;
    const references = findReferences(value, roots);
    if (references[0]?.whole) return toExpression(references[0]);
    return replaceReferences(value, references, (one) => `{${toExpression(one)}}`);
  });
}

const pointerOf = (path: Reference['path']) =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

function toExpression({ step, path }: Reference): string {
  if (step !== 'input') return `$steps.${step}.outputs.${outputName(path)}`;
  const [name, ...rest] = path;
  return `$inputs.${name}${rest.length > 0 ? `#${pointerOf(rest)}` : ''}`;
}

/** Texts that Arazzo would read as expressions; it has no escape for them. */
function addExpressions({ id, tool, arguments: given }: ParsedStep, issues: Issues): void {
  issues.addEach(
    textsIn({ tool, arguments: given }).filter(({ text }) => EXPRESSION.test(text)),
    ({ path }) => `${id}.${renderPath(showNames(path))}: Arazzo would read it as an expression`,
  );
}

const EXPRESSION =
  /^\$(?:url|method|statusCode|request|response|message|inputs|outputs|steps|workflows|sourceDescriptions|components|self)\b|\{\$(?!\{)/u;
