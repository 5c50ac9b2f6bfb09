/** The order of steps beyond their references: effects keep theirs, and what is free may run side by side. */
import type { Tool } from '../catalog/tool.js';
import type { Step } from '../result.js';

/**
 * Steps may depend on an effect without a reference: a debugger must be queried before it is stopped. So a step of high risk
 * waits for all steps before it, and all later ones wait for it; only steps between two such steps may run in parallel.
 *
 * @returns the steps with these dependencies in `dependsOn`, without transitive ones
 */
export function orderEffects(steps: readonly Step[], tools: ReadonlyMap<string, Tool>): Step[] {
  // A bit for each step: a plan may have thousands of dependencies.
  const placeOf = new Map(steps.map(({ id }, place) => [id, place]));
  const behind = new Map<string, Uint32Array>();
  const isBehind = (bits: Uint32Array | undefined, id: string) => {
    const place = placeOf.get(id) ?? -1;
    return place >= 0 && bits !== undefined && ((bits[place >> 5] ?? 0) & (1 << (place & 31))) !== 0;
  };
  let effect: string[] = [];
  let since: string[] = [];
  return steps.map((step, place) => {
    const isEffect = tools.get(step.tool)?.risk === 'high';
    const dependsOn = new Set(step.dependsOn);
    // The latest comes first, since it may already wait for the others.
    for (const id of (isEffect ? [...effect, ...since] : effect).toReversed())
      if (![...dependsOn].some((other) => isBehind(behind.get(other), id))) dependsOn.add(id);
    const all = new Uint32Array((steps.length >> 5) + 1);
    for (const id of dependsOn) {
      const at = placeOf.get(id) ?? -1;
      for (const [word, bits] of behind.get(id)?.entries() ?? []) all[word] = (all[word] ?? 0) | bits;
      if (at >= 0) all[at >> 5] = (all[at >> 5] ?? 0) | (1 << (at & 31));
    }
    behind.set(step.id, all);
    if (isEffect) [effect, since] = [[step.id], []];
    else since.push(step.id);
    const inOrder = steps.slice(0, place).filter(({ id }) => dependsOn.has(id));
    return { ...step, dependsOn: inOrder.map(({ id }) => id) };
  });
}

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
