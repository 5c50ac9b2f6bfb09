/** Dependencies between steps: those that a plan states, and those of its references. Cycles are refused. */
import { leavesOf } from '../../core/catalog/schema/json.js';
import { WinnowError } from '../../core/errors.js';
import { parse } from '../../core/parse.js';
import { findReferences, type Reference, type Root, referencesIn } from '../../core/planning/references.js';
import { type ParsedPlan, type ParsedStep, type RunnablePlan, runnablePlanSchema } from './plan-run.js';

interface OrderedPlan {
  readonly plan: ParsedPlan;
  /** Step id -> the steps that it needs. */
  readonly needs: ReadonlyMap<string, ReadonlySet<string>>;
}

/** @throws WinnowError `invalid_request` with one issue a line, each with its step */
export function orderSteps(input: RunnablePlan): OrderedPlan {
  const parsed = parse(runnablePlanSchema, input, { within: 'plan' });
  if (!parsed.ok) throw unusable(parsed.issues);
  const plan = parsed.value;
  const ids = new Set(plan.steps.map(({ id }) => id));
  const needs = new Map(
    plan.steps.map((step) => [step.id, new Set([...step.dependsOn, ...referencesOf(step).map((one) => one.step)])]),
  );
  const twice = plan.steps.filter(({ id }, place) => plan.steps.findIndex((other) => other.id === id) < place);
  const unknown = [...needs].flatMap(([id, needed]) =>
    [...needed]
      .filter((other) => !ids.has(other))
      .map((other) => `${id}: needs "${other}", which is no step of the plan`),
  );
  const issues = [
    ...twice.map(({ id }) => `${id}: two steps have this id`),
    ...unknown,
    ...plan.steps.flatMap(controlIssues(plan)),
  ];
  const problems = issues.length > 0 ? issues : findCircle(needs);
  if (problems.length > 0) throw unusable(problems);
  return { plan, needs };
}

function unusable(issues: readonly string[]): WinnowError {
  return new WinnowError('invalid_request', `The plan can't be run: ${issues.join('; ')}.`, { issues });
}

/** References of a step to other steps' results. */
export function referencesOf({ arguments: given, each, when }: ParsedStep): Reference[] {
  return referencesIn([given, each, when?.value]);
}

/** Roots of a step's references besides step ids. */
export function rootsOf({ inputs }: Pick<ParsedPlan, 'inputs'>, { each }: Pick<ParsedStep, 'each'>): Root[] {
  return [...(inputs ? (['input'] as const) : []), ...(each === undefined ? [] : (['item'] as const))];
}

/** `each` and `when` must be one reference, and referenced inputs must exist. */
function controlIssues(plan: ParsedPlan): (step: ParsedStep) => string[] {
  const inputs = Object.keys(plan.inputs ?? {});
  return (step) => {
    const { id, each, when } = step;
    const roots = rootsOf(plan, step);
    const isOne = (text: string, own: readonly Root[]) => findReferences(text, own)[0]?.whole === true;
    const unknown = referencesIn([step.arguments, each, when?.value], roots).filter(
      ({ step: root, path: [name] }) => root === 'input' && !inputs.includes(String(name)),
    );
    return [
      ...(each === undefined ||
      isOne(
        each,
        roots.filter((root) => root !== 'item'),
      )
        ? []
        : [`${id}.each: ${ONE}`]),
      ...(when === undefined || isOne(when.value, roots) ? [] : [`${id}.when.value: ${ONE}`]),
      ...unknown.map(({ text }) => `${id}: "${text}" is no input of the plan; it has ${inputs.join(', ')}`),
    ];
  };
}

const ONE = 'must be one reference, such as "${s1.items}"';

/** Repeatedly removes steps without dependencies; the rest forms a cycle. */
function findCircle(needs: OrderedPlan['needs']): string[] {
  const left = new Map([...needs].map(([id, needed]) => [id, new Set(needed)]));
  for (let free = freeOf(left); free.length > 0; free = freeOf(left)) {
    for (const id of free) left.delete(id);
    for (const needed of left.values()) for (const id of free) needed.delete(id);
  }
  return left.size === 0 ? [] : [`${[...left.keys()].join(', ')}: need each other in a circle`];
}

function freeOf(left: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  return [...left].filter(([, needed]) => needed.size === 0).map(([id]) => id);
}

// Tools and argument values of a plan that an earlier plan did not have.

/** @returns one line for each new tool or value, for a person to review */
export function newReach(next: ParsedPlan, before: ParsedPlan): string[] {
  const tools = new Set(before.steps.map(({ tool }) => tool));
  const values = new Set(before.steps.flatMap((step) => targetsIn(step.arguments).map(({ value }) => value)));
  const controls = new Set(before.steps.map(({ tool, each, when }) => JSON.stringify([tool, each, when])));
  const isFree = (tool: string) => before.steps.every((step) => step.tool !== tool || !(step.each || step.when));
  return next.steps.flatMap(({ id, tool, arguments: given, each, when }) => {
    const isAsBefore = isFree(tool) || controls.has(JSON.stringify([tool, each, when]));
    const lost = isAsBefore ? [] : [`${id} calls ${tool} without its condition or loop`];
    const added = targetsIn(given).filter(({ value }) => !values.has(value));
    const lines = added.map(({ path, value }) => `${id}.${path.join('.')}: ${JSON.stringify(value)}`);
    return tools.has(tool) ? [...lost, ...lines] : [`${id} calls ${tool}`, ...lines];
  });
}

/** Strings and numbers, which can name a target; references count as written. */
function targetsIn(given: unknown) {
  return leavesOf(given).filter(({ value }) => typeof value === 'string' || typeof value === 'number');
}
