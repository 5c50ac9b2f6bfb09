/** @param weights natural logarithms. @returns what each is beside the greatest; none is a number where all are impossible */
export function massesOf(weights: readonly number[]): number[] {
  const highest = Math.max(...weights);
  return weights.map((weight) => Math.exp(weight - highest));
}
