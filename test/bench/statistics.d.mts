/** Types of `statistics.mjs`, for those that are checked. */
export interface Spread {
  median: number;
  least: number;
  most: number;
}
export function median(values: readonly number[]): number;
export function spread(values: readonly number[]): Spread;
export function renderNumber(value: number): string;
export function renderSpread(spread: Spread): string;
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string;
