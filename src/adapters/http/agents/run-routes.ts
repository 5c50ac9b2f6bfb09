/** Plan runs over HTTP: run a plan, with a whole answer or a stream of step events, and read runs. */
import { z } from 'zod';
import type { Caller } from '../../../agents/contracts.js';
import { planRunEventSchema, planRunSchema } from '../../../agents/runs/plan-run.js';
import { type PlanRuns, resumePlanInputSchema, runPlanInputSchema } from '../../../agents/runs/plan-runs.js';
import { listedRunSchema, runQuerySchema, type ShownRun, shownRunSchema } from '../../../agents/runs/run-view.js';
import { WinnowError } from '../../../core/errors.js';
import { isOperator, visibleQuery } from '../caller.js';
import { type Route, route } from './route.js';

const BASE = '/v1/runs';
const ANSWER = { name: 'PlanRun', schema: planRunSchema };
const SHOWN = { name: 'ShownRun', schema: shownRunSchema };
const STREAMS = { event: 'change', data: { name: 'PlanRunEvent', schema: planRunEventSchema } };
const listSchema = z.object({ runs: z.array(listedRunSchema).describe('Newest first.') });

export function runRoutes(plans: PlanRuns): Route[] {
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
      summary: 'Resume a run that waited for an approval, failed, was cancelled or broke off',
      body: { name: 'ResumePlanRequest', schema: resumePlanInputSchema },
      answer: ANSWER,
      streams: STREAMS,
      handle: ({ id, body, ...ask }) => plans.resume(id, body, ask),
    }),
    route({
      method: 'POST',
      path: '/v1/plans/runs/:id/cancel',
      operationId: 'cancelRun',
      summary: 'Stop a run: its steps end, no more begin, and it can be resumed',
      description: 'If several servers share a store, only the one that runs it can cancel it; the others answer 409.',
      answer: SHOWN,
      handle: ({ id, ...ask }) => plans.cancel(id, ask),
    }),
    route({
      method: 'GET',
      path: BASE,
      operationId: 'listRuns',
      summary: 'Runs of plans: of all users for operators, else your own',
      query: runQuerySchema,
      answer: { name: 'RunList', schema: listSchema },
      async handle({ query, caller }) {
        const visible = visibleQuery(query, caller);
        return { runs: visible ? await plans.list(visible) : [] };
      },
    }),
    route({
      method: 'GET',
      path: `${BASE}/:id`,
      operationId: 'getRun',
      summary: 'A run with its plan, the state of each step, and what it waits for',
      description: 'Secrets in arguments and results are not kept, and are shown masked.',
      answer: SHOWN,
      async handle({ id, caller }) {
        const run = await plans.get(id);
        if (run && isVisible(run, caller)) return run;
        throw new WinnowError('not_found', `There is no plan run "${id.slice(0, 80)}".`);
      },
    }),
  ];
}

function isVisible({ user }: ShownRun, caller: Caller | undefined): boolean {
  return isOperator(caller) || (user !== undefined && user === caller?.user);
}
