/** The order of steps: what waits for what besides references, and which steps may run side by side. */
import type { Tool } from '../catalog/tool.js';
import type { Step } from '../result.js';

/**
 * What a step changes others may see, also where no reference says so: a debugger is asked before it is stopped. So a step
 * of high risk waits for all before it, and what follows waits for it; only steps between two such may run side by side.
 *
 * @returns the steps with what they wait for besides; nothing is added that another wait brings with it
 */
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

/** A step stands one level behind the last of those it depends on. Dependencies only go back (checked before). */
export function levelsOf(steps: readonly Pick<Step, 'id' | 'dependsOn'>[]): string[][] {
  const levelOf = new Map<string, number>();
  const levels: string[][] = [];
  for (const { id, dependsOn } of steps) {
    const level = Math.max(-1, ...dependsOn.map((other) => levelOf.get(other) ?? -1)) + 1;
    levelOf.set(id, level);
    levels[level] = [...(levels[level] ?? []), id];
  }
  return levels;
}
