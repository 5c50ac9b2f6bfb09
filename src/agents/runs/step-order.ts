/** Dependencies between steps: those that a plan states, and those of its references. Cycles are refused. */
import { WinnowError } from '../../core/errors.js';
import { parse } from '../../core/parse.js';
import { findTooManyReferences } from '../../core/planning/check-plan.js';
import { createIssues, type Issues, listNames, showName } from '../../core/planning/issues.js';
import { findReferences, type Reference, type Root, referencesIn } from '../../core/planning/references.js';
import { findArgumentProblem } from '../sandbox/prepare-arguments.js';
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
  // Before anything walks through the plan. Not in the schema: see `MOST_INPUTS`.
  const problem = findArgumentProblem({ inputs: plan.inputs, steps: plan.steps.map((step) => step.arguments) });
  if (problem !== undefined) throw unusable([problem]);
  const inputs = Object.keys(plan.inputs ?? {}).length;
  const tooMany = findTooManyReferences(plan.steps);
  if (tooMany !== undefined) throw unusable([tooMany]);
  if (inputs > MOST_INPUTS) throw unusable([`inputs: it has ${inputs}, and ${MOST_INPUTS} are read at most`]);
  const ids = new Set(plan.steps.map(({ id }) => id));
  const needs = needsOf(plan);
  const twice = plan.steps.filter(({ id }, place) => plan.steps.findIndex((other) => other.id === id) < place);
  const issues = createIssues();
  issues.addEach(twice, ({ id }) => `${id}: two steps have this id`);
  for (const [id, needed] of needs) {
    const unknown = [...needed].filter((other) => !ids.has(other));
    issues.addEach(unknown, (other) => `${id}: needs "${showName(other)}", which is no step of the plan`);
  }
  addControlIssues(plan, issues);
  const problems = issues.lines().length > 0 ? issues.lines() : findCircle(needs);
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

/** Not in the schema, since a stored plan that has more can still be shown. */
const MOST_INPUTS = 200;
const SHOWN_INPUTS = 10;

/** `each` and `when` must be one reference, and referenced inputs must exist. */
function addControlIssues(plan: ParsedPlan, issues: Issues): void {
  const inputs = new Set(Object.keys(plan.inputs ?? {}));
  const known = listNames([...inputs], SHOWN_INPUTS);
  for (const step of plan.steps) {
    const { id, each, when } = step;
    const roots = rootsOf(plan, step);
    const isOne = (text: string, own: readonly Root[]) => findReferences(text, own)[0]?.whole === true;
    const outside = roots.filter((root) => root !== 'item');
    if (each !== undefined && !isOne(each, outside)) issues.add(() => `${id}.each: ${ONE}`);
    if (when !== undefined && !isOne(when.value, roots)) issues.add(() => `${id}.when.value: ${ONE}`);
    const unknown = referencesIn([step.arguments, each, when?.value], roots).filter(
      ({ step: root, path: [name] }) => root === 'input' && !inputs.has(String(name)),
    );
    issues.addEach(unknown, ({ text }) => `${id}: "${showName(text)}" is no input of the plan; it has ${known}`);
  }
}

const ONE = 'must be one reference, such as "${s1.items}"';

const SHOWN_STEPS = 20;

function findCircle(needs: Needs): string[] {
  const sorted = new Set(sortByNeeds(needs));
  const left = [...needs.keys()].filter((id) => !sorted.has(id));
  return left.length === 0 ? [] : [`${listNames(left, SHOWN_STEPS)}: need each other in a circle`];
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
