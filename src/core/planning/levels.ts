/** Which steps may run side by side: a step stands one level behind the last of those it depends on. */
import type { Step } from '../result.js';

/** The steps' dependencies only go back (checked before). */
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
