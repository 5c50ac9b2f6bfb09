/** What the page says of a run as a whole; the cases come apart. */
import type { MetricMeaning, RunSummary } from '../run-summary.js';

export type ReportRun = Pick<
  RunSummary,
  | 'name'
  | 'startedAt'
  | 'endedAt'
  | 'interrupted'
  | 'model'
  | 'settings'
  | 'promptHashes'
  | 'currency'
  | 'planned'
  | 'metrics'
> & {
  readonly suites: readonly Pick<RunSummary['suites'][number], 'catalog' | 'tools'>[];
  /** What is in `scores` of a record, also where no case has it. */
  readonly scores: Readonly<Record<string, MetricMeaning>>;
};
