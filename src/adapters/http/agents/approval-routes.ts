/** Approvals over HTTP. Deciding needs a proven identity; a caller sees what they requested or may decide on. */
import { z } from 'zod';
import type { Agents } from '../../../agents/agents.js';
import { isApprover } from '../../../agents/approvals/deciding.js';
import { nothingToDecide } from '../../../agents/approvals/refusals.js';
import { type Caller, OPERATOR_ROLE } from '../../../agents/contracts.js';
import {
  type Approval,
  approvalOutputSchema,
  approvalPageSchema,
  approvalQuerySchema,
  approvalSchema,
  grantInputSchema,
  refuseInputSchema,
  requestApprovalInputSchema,
} from '../../../agents/records.js';
import { WinnowError } from '../../../core/errors.js';
import { isFields, isOperator, visibleQuery } from '../caller.js';
import { type Route, route } from './route.js';

const BASE = '/v1/approvals';
const requestSchema = requestApprovalInputSchema.extend({
  session: z.string().min(1).max(128).describe('The session of the later call.'),
});
const OUTCOME = { name: 'ApprovalResult', schema: approvalOutputSchema };
export const BY = 'The caller decides, with their own token. The operator of this machine names the decider in `by`.';

export function approvalRoutes({ router, policy }: Pick<Agents, 'router' | 'policy'>): Route[] {
  const { approvals } = router;
  const approvers = () => policy().settings.approvals.approvers;
  const seesAll = (caller: Caller | undefined) => isOperator(caller) || isApprover(caller ?? {}, approvers());
  /** Undefined also for an approval that the caller may not see. */
  async function visible(id: string, caller: Caller | undefined): Promise<Approval | undefined> {
    const approval = await approvals.get(id);
    return approval && (seesAll(caller) || approval.user === caller?.user) ? approval : undefined;
  }

  return [
    route({
      method: 'POST',
      path: BASE,
      operationId: 'requestApproval',
      summary: 'Request the approval of exactly this call in advance, without making it',
      description:
        'Asking again for the same call returns the same approval, with its state. A call that can never be allowed, or needs ' +
        'no approval, gets 200 with `ok: false`, a code, the reason, and what to do next.',
      body: { name: 'ApprovalRequest', schema: requestSchema },
      answer: OUTCOME,
      status: 201,
      refusedStatus: 200,
      handle: ({ body: { session, ...input }, ...ask }) => router.requestApproval(session, input, ask),
    }),
    route({
      method: 'GET',
      path: BASE,
      operationId: 'listApprovals',
      summary: 'Approvals: all for those who may decide, else your own',
      query: approvalQuerySchema,
      answer: { name: 'ApprovalList', schema: approvalPageSchema },
      async handle({ query, caller }) {
        const shown = visibleQuery(query, caller, seesAll(caller));
        return shown ? approvals.page(shown) : { approvals: [] };
      },
    }),
    route({
      method: 'GET',
      path: `${BASE}/:id`,
      operationId: 'getApproval',
      summary: 'One approval, for example to wait for its decision',
      answer: { name: 'Approval', schema: approvalSchema },
      async handle({ id, caller }): Promise<Approval> {
        const approval = await visible(id, caller);
        if (approval) return approval;
        throw new WinnowError('not_found', `There is no approval "${id.slice(0, 80)}".`);
      },
    }),
    route({
      method: 'POST',
      path: `${BASE}/:id/grant`,
      operationId: 'grantApproval',
      summary: 'Allow the call: once, or for equal calls of the session',
      description: `${BY} With \`arguments\` the call may use these alone; the requester finds them in \`granted\`.`,
      needsProof: true,
      body: { name: 'GrantRequest', schema: grantInputSchema },
      withCaller: withDecider,
      answer: OUTCOME,
      handle: async ({ id, body, caller }) =>
        (await visible(id, caller)) ? approvals.grant(id, body) : nothingToDecide(),
    }),
    route({
      method: 'POST',
      path: `${BASE}/:id/refuse`,
      operationId: 'refuseApproval',
      summary: 'Refuse the call',
      description: BY,
      needsProof: true,
      body: { name: 'RefuseRequest', schema: refuseInputSchema },
      withCaller: withDecider,
      answer: OUTCOME,
      handle: async ({ id, body, caller }) =>
        (await visible(id, caller)) ? approvals.refuse(id, body) : nothingToDecide(),
    }),
  ];
}

/** The caller decides. A decider named by the operator's own program acts as operator. @throws WinnowError `invalid_request` */
export function withDecider(body: unknown, caller: Caller | undefined): unknown {
  if (!isFields(body)) return body;
  if (caller) return { ...body, by: caller };
  const { by } = body;
  if (isFields(by))
    return { ...body, by: { ...by, roles: [...(Array.isArray(by.roles) ? by.roles : []), OPERATOR_ROLE] } };
  if ('by' in body) return body;
  const issues = ['by: name who decides, as {"user": "…"}'];
  throw new WinnowError('invalid_request', `The request is not usable: ${issues[0]}.`, { issues });
}
