/** Plans that a user keeps under a name, over HTTP. Like private tools they are always the caller's own. */
import { z } from 'zod';
import type { Agents } from '../../../agents/agents.js';
import { keepPlanSchema, keptPlanSchema, listedPlanSchema } from '../../../agents/kept-plans.js';
import { approvalOutputSchema } from '../../../agents/records.js';
import { toArazzo, toMermaid } from '../../../agents/runs/draw-plan.js';
import { planApprovalInputSchema } from '../../../agents/runs/plan-runs.js';
import { ofUserSchema, ownerOf } from './owner.js';
import { type Route, route } from './route.js';

const BASE = '/v1/kept-plans';
const KEPT = { name: 'KeptPlan', schema: keptPlanSchema };

export function keptPlanRoutes({ keptPlans, plans }: Pick<Agents, 'keptPlans' | 'plans'>): Route[] {
  return [
    route({
      method: 'GET',
      path: BASE,
      operationId: 'listKeptPlans',
      summary: 'Your kept plans, by name; one of them is whole under its name',
      query: ofUserSchema,
      answer: { name: 'KeptPlanList', schema: z.object({ plans: z.array(listedPlanSchema) }) },
      handle: async ({ query, caller }) => ({ plans: await keptPlans.list(ownerOf(caller, query.user)) }),
    }),
    route({
      method: 'POST',
      path: BASE,
      operationId: 'keepPlan',
      summary: 'Keep a plan under a name, or replace the version that you read',
      description:
        'Winnow checks it against the tools that you see today. A secret argument must be an input: no secret is kept. ' +
        'POST /v1/plans/run runs it by its name, with the inputs of that run.',
      body: { name: 'KeepPlanRequest', schema: keepPlanSchema.extend(ofUserSchema.shape) },
      answer: KEPT,
      status: 201,
      handle: ({ body: { user, ...plan }, caller }) => keptPlans.keep(ownerOf(caller, user), plan, caller?.roles),
    }),
    route({
      method: 'GET',
      path: `${BASE}/:id`,
      operationId: 'getKeptPlan',
      summary: 'A kept plan, by its name',
      query: ofUserSchema,
      answer: KEPT,
      handle: ({ id, query, caller }) => keptPlans.get(ownerOf(caller, query.user), id),
    }),
    route({
      method: 'POST',
      path: `${BASE}/:id/approval`,
      operationId: 'requestPlanApproval',
      summary: 'Ask for the approval of a kept plan as a whole, with these inputs',
      description:
        'POST /v1/plans/run takes its id as `approval`, once. Steps whose arguments are all shown then need no approval; those ' +
        'that use results ask once these are known. After a change of plan, input, policy or definition all steps ask.',
      body: { name: 'PlanApprovalRequest', schema: planApprovalInputSchema },
      answer: { name: 'ApprovalResult', schema: approvalOutputSchema },
      status: 201,
      refusedStatus: 200,
      handle: ({ id, body, ...ask }) => plans.requestApproval(id, body, ask),
    }),
    route({
      method: 'GET',
      path: `${BASE}/:id/mermaid`,
      operationId: 'drawKeptPlan',
      summary: 'The plan as a flowchart of Mermaid',
      query: ofUserSchema,
      answer: { name: 'MermaidPlan', schema: z.object({ mermaid: z.string() }) },
      async handle({ id, query, caller }) {
        const { plan } = await keptPlans.get(ownerOf(caller, query.user), id);
        return { mermaid: toMermaid(plan) };
      },
    }),
    route({
      method: 'GET',
      path: `${BASE}/:id/arazzo`,
      operationId: 'exportKeptPlan',
      summary: 'The plan as an Arazzo workflow over this interface',
      query: ofUserSchema,
      answer: { name: 'ArazzoDocument', schema: z.looseObject({ arazzo: z.string() }) },
      async handle({ id, query, caller }) {
        const { plan, name, hash } = await keptPlans.get(ownerOf(caller, query.user), id);
        return toArazzo(plan, { name, version: hash });
      },
    }),
    route({
      method: 'DELETE',
      path: `${BASE}/:id`,
      operationId: 'removeKeptPlan',
      summary: 'Remove a kept plan, by its name',
      query: ofUserSchema,
      answer: { name: 'RemovedKeptPlan', schema: z.object({ removed: z.string() }) },
      async handle({ id, query, caller }) {
        await keptPlans.remove(ownerOf(caller, query.user), id);
        return { removed: id };
      },
    }),
  ];
}
