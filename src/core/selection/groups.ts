/** In their order, `size` to a group; the last has what is left. */
export function inGroups<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, place) => items.slice(place * size, (place + 1) * size));
}
