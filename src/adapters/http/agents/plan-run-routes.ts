/** Plans run over HTTP, whole or as a stream of what happens to each step. */
import { planRunEventSchema, planRunSchema } from '../../../agents/runs/plan-run.js';
import { type PlanRuns, resumePlanInputSchema, runPlanInputSchema } from './plan-runs.js';
import { type Route, route } from './route.js';

const ANSWER = { name: 'PlanRun', schema: planRunSchema };
const STREAMS = { event: 'change', data: { name: 'PlanRunEvent', schema: planRunEventSchema } };

export function planRunRoutes(plans: PlanRuns): Route[] {
  return [
    route({
      method: 'POST',
      path: '/v1/plans/run',
      operationId: 'runPlan',
      summary: 'Run a plan step by step; each step passes the same gate as a call',
      body: { name: 'RunPlanRequest', schema: runPlanInputSchema },
      answer: ANSWER,
      streams: STREAMS,
      handle: ({ body, ...ask }) => plans.run(body, ask),
    }),
    route({
      method: 'POST',
      path: '/v1/plans/runs/:id/resume',
      operationId: 'resumePlan',
      summary: 'Go on with a run that waited for an approval, was cancelled or broke off',
      body: { name: 'ResumePlanRequest', schema: resumePlanInputSchema },
      answer: ANSWER,
      streams: STREAMS,
      handle: ({ id, body, ...ask }) => plans.resume(id, body, ask),
    }),
  ];
}
