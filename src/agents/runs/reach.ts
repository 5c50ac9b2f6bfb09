/** What a plan reaches that another one did not: tools, and values that stand in its arguments. */
import type { ParsedPlan } from './plan-run.js';

/** @returns one line for each tool or value that is new, as a person should look at it; none: it reaches no further */
export function newReach(next: ParsedPlan, before: ParsedPlan): string[] {
  const tools = new Set(before.steps.map(({ tool }) => tool));
  const values = new Set(before.steps.flatMap((step) => leavesOf(step.arguments).map(({ value }) => value)));
  return next.steps.flatMap(({ id, tool, arguments: given }) => {
    const added = leavesOf(given).filter(({ value }) => !values.has(value));
    const lines = added.map(({ path, value }) => `${id}.${path}: ${JSON.stringify(value)}`);
    return tools.has(tool) ? lines : [`${id} calls ${tool}`, ...lines];
  });
}

interface Leaf {
  readonly path: string;
  readonly value: string | number;
}

/** Texts and numbers, which can name a target; a reference is one as it is written. */
function leavesOf(value: unknown, path = ''): Leaf[] {
  if (typeof value === 'string' || typeof value === 'number') return [{ path, value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => leavesOf(part, path === '' ? key : `${path}.${key}`));
}
