/**
 * Slips of the pen between two words: a letter too much, too few, wrong, or two swapped (Damerau, "A technique for computer
 * detection and correction of spelling errors", 1964), in the form without moves of more than two letters (optimal string
 * alignment).
 */
export function slipsBetween(one: string, other: string): number {
  let older: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let row = 1; row <= one.length; row++) {
    const next = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      let slips = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isSwap = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (isSwap) slips = Math.min(slips, (older[column - 2] ?? 0) + 1);
      next.push(slips);
    }
    older = last;
    last = next;
  }
  return last[other.length] ?? 0;
}

/** Whether both have the same letters, in whatever order. */
export function isSwapped(one: string, other: string): boolean {
  return [...one].sort().join('') === [...other].sort().join('');
}
