/** One way in which a unit may be meant. */
export interface Reading {
  /** Those that visible tools have. */
  readonly terms: readonly string[];
  /** Between 0 and 1, for each of the terms: how surely it is meant. The words of a phrase add up. */
  readonly weight: number;
}
