/** How long something took, as records tell it: in milliseconds, to a tenth. `startedAt`: of `performance.now()`. */
export function millisecondsSince(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 10) / 10;
}
