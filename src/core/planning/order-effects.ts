/**
 * What a step changes others may see, also where no reference says so: a debugger is asked before it is stopped. So a step of
 * high risk waits for all before it, and what follows waits for it; only steps between two such may run side by side.
 */
import type { Tool } from '../catalog/tool.js';
import type { Step } from '../result.js';

/** The steps with what they wait for besides; nothing is added that another wait brings with it. */
export function orderEffects(steps: readonly Step[], tools: ReadonlyMap<string, Tool>): Step[] {
  const behind = new Map<string, ReadonlySet<string>>();
  let effect: string[] = [];
  let since: string[] = [];
  return steps.map((step, place) => {
    const isEffect = tools.get(step.tool)?.risk === 'high';
    const dependsOn = new Set(step.dependsOn);
    // The latest first, since it may wait for the others.
    for (const id of (isEffect ? [...effect, ...since] : effect).toReversed())
      if (![...dependsOn].some((other) => behind.get(other)?.has(id))) dependsOn.add(id);
    behind.set(step.id, new Set([...dependsOn].flatMap((id) => [id, ...(behind.get(id) ?? [])])));
    if (isEffect) [effect, since] = [[step.id], []];
    else since.push(step.id);
    const inOrder = steps.slice(0, place).filter(({ id }) => dependsOn.has(id));
    return { ...step, dependsOn: inOrder.map(({ id }) => id) };
  });
}
