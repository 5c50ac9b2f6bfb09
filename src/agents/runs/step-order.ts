/** Dependencies between steps: those that a plan states, and those of its references. Cycles are refused. */
import { WinnowError } from '../../core/errors.js';
import { parse } from '../../core/parse.js';
import { findReferences, type Reference, type Root, referencesIn } from '../../core/planning/references.js';
import { type ParsedPlan, type ParsedStep, type RunnablePlan, runnablePlanSchema } from './plan-run.js';

/** Step id -> the steps that it needs. */
export type Needs = ReadonlyMap<string, ReadonlySet<string>>;

interface OrderedPlan {
  readonly plan: ParsedPlan;
  readonly needs: Needs;
}

/** @throws WinnowError `invalid_request` with one issue a line, each with its step */
export function orderSteps(input: RunnablePlan): OrderedPlan {
  const parsed = parse(runnablePlanSchema, input, { within: 'plan' });
  if (!parsed.ok) throw unusable(parsed.issues);
  const plan = parsed.value;
  const ids = new Set(plan.steps.map(({ id }) => id));
  const needs = needsOf(plan);
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

export function needsOf({ steps }: Pick<ParsedPlan, 'steps'>): Needs {
  return new Map(
    steps.map((step) => [step.id, new Set([...step.dependsOn, ...referencesOf(step).map((one) => one.step)])]),
  );
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

function findCircle(needs: Needs): string[] {
  const sorted = new Set(sortByNeeds(needs));
  const left = [...needs.keys()].filter((id) => !sorted.has(id));
  return left.length === 0 ? [] : [`${left.join(', ')}: need each other in a circle`];
}

/** Each step after those that it needs: repeatedly removes steps without dependencies. The rest forms a circle. */
export function sortByNeeds(needs: Needs): string[] {
  const left = new Map([...needs].map(([id, needed]) => [id, new Set(needed)]));
  const sorted: string[] = [];
  for (let free = freeOf(left); free.length > 0; free = freeOf(left)) {
    for (const id of free) left.delete(id);
    for (const needed of left.values()) for (const id of free) needed.delete(id);
    sorted.push(...free);
  }
  return sorted;
}

function freeOf(left: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  return [...left].filter(([, needed]) => needed.size === 0).map(([id]) => id);
}
