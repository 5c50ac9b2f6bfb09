/** Two runs on the disk as one page, side by side, case by case. */
import type { Comparison } from '../compare.js';
import { METRICS } from '../metrics.js';
import { type RunStore, withRun } from '../run-store.js';
import { type ReportedRun, type ReportFacts, renderReport } from './render-report.js';

export interface ComparisonPage {
  comparison: Comparison;
  /** Folders of the runs. */
  first: string;
  second: string;
  /** Path of the file to write. */
  out: string;
}

/** @throws WinnowError `not_found` where there is no run; `invalid_option` when the file cannot be written */
export function renderComparisonPage({ comparison, first, second, out }: ComparisonPage): Promise<ReportFacts> {
  const { metrics, settings } = comparison;
  return withRun(first, (before) =>
    withRun(second, async (last) =>
      renderReport({
        ...(await reported(last, comparison.second)),
        before: { ...(await reported(before, comparison.first)), comparison: { metrics, settings } },
        out,
      }),
    ),
  );
}

async function reported(store: RunStore, run: Comparison['first']): Promise<ReportedRun> {
  const prompts = await store.prompts();
  return {
    run: { ...run, scores: Object.fromEntries(METRICS) },
    records: store.records(),
    promptText: (hash) => prompts.get(hash),
  };
}
