/** Which steps must be done before which: by what a plan says, and by its references. A circle is refused. */
import { WinnowError } from '../../core/errors.js';
import { parse } from '../../core/parse.js';
import { referencesIn } from '../../core/planning/references.js';
import { type ParsedPlan, type RunnablePlan, runnablePlanSchema } from './plan-run.js';

export interface OrderedPlan {
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
    plan.steps.map((step) => [step.id, new Set([...step.dependsOn, ...referredIn(step.arguments)])]),
  );
  const twice = plan.steps.filter(({ id }, place) => plan.steps.findIndex((other) => other.id === id) < place);
  const unknown = [...needs].flatMap(([id, needed]) =>
    [...needed]
      .filter((other) => !ids.has(other))
      .map((other) => `${id}: needs "${other}", which is no step of the plan`),
  );
  const issues = [...twice.map(({ id }) => `${id}: two steps have this id`), ...unknown];
  const problems = issues.length > 0 ? issues : findCircle(needs);
  if (problems.length > 0) throw unusable(problems);
  return { plan, needs };
}

function unusable(issues: readonly string[]): WinnowError {
  return new WinnowError('invalid_request', `The plan can't be run: ${issues.join('; ')}.`, { issues });
}

function referredIn(values: unknown): string[] {
  return referencesIn(values).map(({ step }) => step);
}

/** Takes away, again and again, the steps that need no other; what is left goes round in a circle. */
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
