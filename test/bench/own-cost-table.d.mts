/** Types of `own-cost-table.mjs`, for those that are checked. */
import type { Failures } from './rounds.mjs';
import type { Spread } from './statistics.mjs';

export interface Sent {
  bytes: number;
  tokens: number;
}
export interface CatalogResult {
  label: string;
  contestants: readonly {
    name: string;
    rung?: string;
    failures: Failures;
    ms?: Spread | undefined;
    cpuMs?: Spread | undefined;
    perSecond?: Spread | undefined;
  }[];
  sent: Record<'winnow' | 'langchain', { first: Sent; second: Sent }>;
  timesFaster?: Spread | undefined;
}
export function renderResults(
  all: readonly CatalogResult[],
  options: { rounds: number; requests: number; concurrency: number },
): string;
