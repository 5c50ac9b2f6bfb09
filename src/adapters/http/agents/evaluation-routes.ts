/** Runs of `winnow eval` over HTTP. For operators: they hold requests, prompts and answers. */
import { z } from 'zod';
import { instantSchema } from '../../../agents/contracts.js';
import { type Route, route } from './route.js';

const listedSchema = z.object({
  id: z.string().describe('Name of its folder.'),
  name: z.string(),
  suites: z.string(),
  group: z.int().describe('Runs of one group have the same cases.'),
  model: z.string(),
  startedAt: instantSchema,
  endedAt: instantSchema.optional(),
  planned: z.int().describe('Cases times repeats.'),
  done: z.int(),
  metrics: z
    .array(z.object({ name: z.string(), label: z.string(), unit: z.string(), mean: z.number().nullable() }))
    .describe('The main ones.'),
});
export const evaluationListSchema = z.object({
  folder: z.string().describe('Where the server looks for runs.'),
  runs: z.array(listedSchema).describe('By group, oldest first.'),
  unreadable: z.array(z.string()).describe('Why other runs are left out.'),
});
export type EvaluationList = z.infer<typeof evaluationListSchema>;

const lines = z.array(z.string()).readonly();
const reportSchema = z.object({
  data: z.unknown().describe('Its runs, with settings and metrics, and how they compare.'),
  blocks: z
    .object({ cases: lines, rows: lines, prompts: lines })
    .describe('Lines of JSON, as gzip in base64: whole cases, a row for each, and stable parts of prompts.'),
});

/** The runs that a server shows. */
export interface Evaluations {
  list(): Promise<EvaluationList>;
  /** @param before an earlier run to compare with. @throws WinnowError `not_found` */
  report(id: string, before?: string): Promise<z.infer<typeof reportSchema>>;
}

const reportQuerySchema = z.strictObject({
  before: z.string().min(1).optional().describe('Id of an earlier run, to show beside it, case by case.'),
});

export function evaluationRoutes(evaluations: Evaluations): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/evaluations',
      operationId: 'listEvaluations',
      summary: 'Runs of winnow eval that the server finds; for operators',
      isForOperators: true,
      answer: { name: 'EvaluationList', schema: evaluationListSchema },
      handle: () => evaluations.list(),
    }),
    route({
      method: 'GET',
      path: '/v1/evaluations/:id',
      operationId: 'getEvaluation',
      summary: 'The report of a run, or of two compared, as the page of winnow eval holds it; for operators',
      isForOperators: true,
      takesPlace: true,
      query: reportQuerySchema,
      answer: { name: 'EvaluationReport', schema: reportSchema },
      handle: ({ id, query }) => evaluations.report(id, query.before),
    }),
  ];
}
