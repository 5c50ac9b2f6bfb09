/** Two runs on the disk as one page, side by side, case by case. */
import type { Comparison } from '../compare.js';
import { METRICS } from '../metrics.js';
import { readPrompt, readRecords } from '../run-folder.js';
import { type ReportedRun, type ReportFacts, renderReport } from './render-report.js';

export interface ComparisonPage {
  comparison: Comparison;
  /** Folders of the runs. */
  first: string;
  second: string;
  /** Path of the file to write. */
  out: string;
}

/** @throws WinnowError `invalid_option` when the file cannot be written. */
export function renderComparisonPage({ comparison, first, second, out }: ComparisonPage): Promise<ReportFacts> {
  const reported = (path: string, run: Comparison['first']): ReportedRun => ({
    run: { ...run, scores: Object.fromEntries(METRICS) },
    records: readRecords(path),
    promptText: (hash) => readPrompt(path, hash),
  });
  const { metrics, settings } = comparison;
  return renderReport({
    ...reported(second, comparison.second),
    before: { ...reported(first, comparison.first), comparison: { metrics, settings } },
    out,
  });
}
