/** What a report says of a run as a whole: its settings and its metrics with their intervals. The cases come apart. */
import { z } from 'zod';
import { parseAs } from '../../parse.js';

export const METRIC_GROUPS = ['selection', 'plan', 'cost', 'time'] as const;
export const METRIC_UNITS = ['fraction', 'count', 'tokens', 'currency', 'milliseconds'] as const;

export const reportMetricSchema = z.object({
  name: z.string().min(1).describe('As in `scores` of a record, for example `recall`.'),
  label: z.string().min(1).describe('For people, for example "Recall at 8".'),
  mean: z.number().nullable().describe('null: no case to which the metric applies.'),
  low: z.number().nullable().describe('Lower end of the 95 % interval.'),
  high: z.number().nullable().describe('Upper end of the 95 % interval.'),
  count: z.int().min(0).describe('Cases to which the metric applies.'),
  group: z.enum(METRIC_GROUPS),
  unit: z
    .enum(METRIC_UNITS)
    .optional()
    .describe('Default: fraction (0 to 1) for selection and plan, tokens for cost, milliseconds for time.'),
});
export type ReportMetric = z.infer<typeof reportMetricSchema>;

export const scoreMeaningSchema = z.object({
  label: z.string().min(1).describe('For people.'),
  better: z.enum(['higher', 'lower', 'none']).describe('none: it says what happened, not whether that is good.'),
});
export type ScoreMeaning = z.infer<typeof scoreMeaningSchema>;

export const reportRunSchema = z.object({
  name: z.string().min(1),
  startedAt: z.iso.datetime({ offset: true }),
  endedAt: z.iso.datetime({ offset: true }).optional(),
  model: z.string(),
  catalog: z.string(),
  cases: z.int().min(0).describe('Cases times repeats of the whole run; the page says when fewer records are there.'),
  settings: z.record(z.string(), z.unknown()),
  promptHashes: z.record(z.string(), z.string()).describe('Name of the prompt file -> its hash.'),
  metrics: z.array(reportMetricSchema),
  scores: z
    .record(z.string(), scoreMeaningSchema)
    .describe('What is in `scores` of a record, also where no case has it.'),
  interrupted: z.boolean(),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/u, 'not a currency code of three letters such as USD')
    .optional()
    .describe('Of the price table. Default: costs stand as bare numbers.'),
});
export type ReportRun = z.infer<typeof reportRunSchema>;

/** @throws WinnowError `invalid_request` with one issue a line, each with the path of the field. */
export function parseReportRun(input: unknown): ReportRun {
  const problem = 'The run cannot be reported';
  return parseAs(reportRunSchema, input, { code: 'invalid_request', problem, within: 'run' });
}
