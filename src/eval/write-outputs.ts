/** What a run leaves besides its two files: a table, a file for build servers, and the page. The one place that knows the page. */
import { join } from 'node:path';
import type { BarResult } from './gate.js';
import { METRICS } from './metrics.js';
import { renderReport } from './report/render-report.js';
import { readPrompt, readRecords } from './run-folder.js';
import type { RunSummary } from './run-summary.js';
import { writeCsv } from './write-csv.js';
import { writeJUnit } from './write-junit.js';

export interface OutputPaths {
  csv: string;
  junit: string;
  report: string;
}

/** Below the folder of the run. */
export function outputPaths(path: string): OutputPaths {
  return { csv: join(path, 'cases.csv'), junit: join(path, 'junit.xml'), report: join(path, 'report.html') };
}

/** @throws WinnowError `invalid_option` when the page can't be written */
export async function writeOutputs(
  path: string,
  summary: RunSummary,
  gate: readonly BarResult[],
): Promise<OutputPaths> {
  const paths = outputPaths(path);
  const records = () => readRecords(path);
  await writeCsv(
    records(),
    summary.metrics.filter(({ count }) => count > 0).map(({ name }) => name),
    paths.csv,
  );
  await writeJUnit({ summary, records, gate, out: paths.junit });
  await renderReport({
    run: { ...summary, scores: Object.fromEntries(METRICS) },
    records: records(),
    promptText: (hash) => readPrompt(path, hash),
    out: paths.report,
  });
  return paths;
}
