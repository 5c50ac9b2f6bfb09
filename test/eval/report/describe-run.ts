/** The run around generated records: its settings, and the metrics that a real run would have of them. */
import { createTally, METRICS } from '../../../src/eval/metrics.js';
import type { CaseRecord } from '../../../src/eval/record.js';
import type { ReportRun } from '../../../src/eval/report/report-data.js';

export function describeRun(records: readonly CaseRecord[], more: Partial<ReportRun> = {}): ReportRun {
  const tally = createTally();
  for (const record of records) tally.add(record);
  return {
    name: 'Hydrology, producers on',
    startedAt: '2026-07-21T08:30:00Z',
    endedAt: '2026-07-21T09:12:40Z',
    model: 'Qwen2.5-Coder-1.5B-Instruct',
    suites: [{ catalog: 'hydrology', tools: 49 }],
    planned: records.length,
    settings: { answer: 'rank', maxTools: 8, producers: true, fill: true, repeat: 1 },
    promptHashes: { 'select-tools': '4f1c09b2a7de', 'plan-steps': '93be10c7720a' },
    metrics: tally.facts().metrics,
    scores: Object.fromEntries(METRICS),
    interrupted: false,
    ...more,
  };
}
