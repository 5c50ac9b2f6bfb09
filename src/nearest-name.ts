/** The known name nearest to a wrong one: it is suggested to people and never used. */

const MAX_DISTANCE = 0.4;

export function nearestName(wrong: string, known: readonly string[]): string | undefined {
  if (wrong.length === 0 || wrong.length > 100) return undefined;
  let best: { name: string; distance: number } | undefined;
  for (const name of known) {
    if (Math.abs(name.length - wrong.length) > MAX_DISTANCE * wrong.length) continue;
    const distance = editDistance(wrong.toLowerCase(), name.toLowerCase());
    if (distance <= MAX_DISTANCE * wrong.length && (!best || distance < best.distance)) best = { name, distance };
  }
  return best?.name;
}

/** Levenshtein, "Binary codes capable of correcting deletions, insertions and reversals", 1966. */
function editDistance(one: string, other: string): number {
  let previous = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const cost = one[row - 1] === other[column - 1] ? 0 : 1;
      current.push(
        Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (previous[column - 1] ?? 0) + cost),
      );
    }
    previous = current;
  }
  return previous[other.length] ?? Number.POSITIVE_INFINITY;
}
