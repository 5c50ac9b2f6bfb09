/** For `sort`: the lower first. Unlike a difference it also puts infinities in order. */
export function rising<T extends number | string>(one: T, other: T): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
