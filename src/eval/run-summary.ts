/** `run.json`: with what a run was done, how far it came, and its metrics with their intervals. */
import { z } from 'zod';

const number = z.number().nullable();

const metricMeaningSchema = z.object({
  label: z.string().describe('For people, for example "Recall at 8".'),
  group: z.enum(['selection', 'plan', 'cost', 'time']),
  unit: z.enum(['fraction', 'count', 'tokens', 'currency', 'milliseconds']),
  better: z.enum(['higher', 'lower', 'none']).describe('none: it says what happened, not whether that is good.'),
});
export type MetricMeaning = Readonly<z.infer<typeof metricMeaningSchema>>;

export const runMetricSchema = z.object({
  name: z.string(),
  ...metricMeaningSchema.shape,
  mean: number.describe('Over cases, each the mean of its repeats. null: no case to which it applies.'),
  low: number.describe('Ends of the 95 % interval: bootstrap; Wilson where all cases agree at 0 or 1.'),
  high: number,
  count: z.int().describe('Cases to which it applies.'),
});
export type RunMetric = z.infer<typeof runMetricSchema>;

export const currencySchema = z.string().regex(/^[A-Z]{3}$/u, 'must be a code of three letters, such as USD');

const countsSchema = z.object({
  /** Cases and repeats that are done, and of these answered and failed. */
  done: z.int(),
  answered: z.int(),
  errors: z.int(),
  right: z.int(),
  wrong: z.int().describe('Of some answered ones neither can be said, for example of a selection that was skipped.'),
});
export type RunCounts = z.infer<typeof countsSchema>;

export const runSummarySchema = z.object({
  format: z.literal(1),
  name: z.string(),
  startedAt: z.iso.datetime({ offset: true }),
  endedAt: z.iso.datetime({ offset: true }).optional(),
  interrupted: z.boolean().describe('Cases are missing: continue with --resume.'),
  model: z.string(),
  settings: z.record(z.string(), z.unknown()).describe('All that changes results; a resumed run must have the same.'),
  promptHashes: z.record(z.string(), z.string()),
  currency: currencySchema.optional(),
  planned: z.int().describe('Cases times repeats.'),
  cases: z.int(),
  counts: countsSchema,
  commonestError: z
    .object({ code: z.string(), message: z.string().describe('Of the first case that has it.'), count: z.int() })
    .optional()
    .describe('Why most of the cases without an answer have none.'),
  causes: z.record(z.string(), z.int()).describe('Why cases are not right -> how many, most first.'),
  totalCost: z.number().optional().describe('Of all cases and repeats, with those that ended with an error.'),
  metrics: z.array(runMetricSchema),
  suites: z.array(
    z.object({
      name: z.string(),
      catalog: z.string(),
      tools: z.int(),
      caseHash: z.string(),
      counts: countsSchema,
      metrics: z.array(runMetricSchema),
    }),
  ),
});
export type RunSummary = z.infer<typeof runSummarySchema>;

/** What is known before the first case. */
export type RunStart = Pick<
  RunSummary,
  'name' | 'startedAt' | 'model' | 'settings' | 'promptHashes' | 'currency' | 'planned' | 'cases'
> & { suites: readonly Pick<RunSummary['suites'][number], 'name' | 'catalog' | 'tools' | 'caseHash'>[] };
