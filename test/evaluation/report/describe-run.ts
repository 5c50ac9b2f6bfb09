/** The run around generated records: its settings, and its metrics over a sample of the records. */
import type { CaseRecord } from '../../../src/evaluation/record.js';
import type { ReportMetric, ReportRun } from '../../../src/evaluation/report/report-run.js';

const LABELS: readonly [string, string, ReportMetric['group']][] = [
  ['recall', 'Recall at 8', 'selection'],
  ['precision', 'Precision', 'selection'],
  ['all@3', 'All needed in first 3', 'selection'],
  ['all@5', 'All needed in first 5', 'selection'],
  ['all@8', 'All needed in first 8', 'selection'],
  ['top-1', 'First is needed', 'selection'],
  ['abstention', 'Right to pick nothing', 'selection'],
  ['node-f1', 'Steps (node F1)', 'plan'],
  ['plan-exact', 'Plan exact', 'plan'],
];

export function describeRun(records: readonly CaseRecord[], more: Partial<ReportRun> = {}): ReportRun {
  const scored = LABELS.map(([name, label, group]) =>
    estimate(name, label, { group, values: records.map(({ scores }) => scores[name] ?? null) }),
  );
  return {
    name: 'Hydrology, producers on',
    startedAt: '2026-07-21T08:30:00Z',
    endedAt: '2026-07-21T09:12:40Z',
    model: 'Qwen2.5-Coder-1.5B-Instruct',
    catalog: 'hydrology (49 tools)',
    cases: records.length,
    settings: { answer: 'rank', maxTools: 8, producers: true, fill: true, repeat: 1 },
    promptHashes: { 'select-tools': '4f1c09b2a7de', 'plan-steps': '93be10c7720a' },
    metrics: [
      ...scored,
      estimate('tokens', 'Tokens a case', {
        group: 'cost',
        values: records.map(
          ({ usage }) =>
            usage.selection.read +
            usage.selection.cached +
            usage.selection.written +
            usage.planning.read +
            usage.planning.cached +
            usage.planning.written,
        ),
      }),
      estimate('schema-tokens', 'Schema tokens loaded', {
        group: 'cost',
        values: records.map(({ usage }) => usage.schemaTokens.loaded),
      }),
      {
        ...estimate('cost', 'Cost a case', { group: 'cost', values: records.map(({ cost }) => cost ?? null) }),
        unit: 'currency',
      },
      estimate('time', 'Time a case', { group: 'time', values: records.map(({ milliseconds }) => milliseconds.total) }),
      estimate('selection-time', 'Time of selection', {
        group: 'time',
        values: records.map(({ milliseconds }) => milliseconds.selection),
      }),
    ],
    interrupted: false,
    currency: 'USD',
    ...more,
  };
}

function estimate(
  name: string,
  label: string,
  { group, values }: { group: ReportMetric['group']; values: readonly (number | null)[] },
): ReportMetric {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return { name, label, group, mean: null, low: null, high: null, count: 0 };
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  const spread = known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / known.length;
  const margin = 1.96 * Math.sqrt(spread / known.length);
  return { name, label, group, mean, low: mean - margin, high: mean + margin, count: known.length };
}
