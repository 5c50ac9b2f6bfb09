/** Approvals over HTTP. Who decides is whom the gateway names; a caller sees what they asked for or may decide on. */
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { WinnowError } from '../../core/errors.js';
import type { Caller } from '../../routing/contracts.js';
import {
  type Approval,
  approvalOutputSchema,
  approvalQuerySchema,
  approvalSchema,
  grantInputSchema,
  refuseInputSchema,
  requestApprovalInputSchema,
} from '../../routing/records.js';
import { callerOf, isOperator, USER_HEADER } from '../caller.js';
import type { Agents } from './agents.js';
import { type Route, route } from './route.js';

const BASE = '/v1/approvals';
const requestSchema = requestApprovalInputSchema.extend({
  session: z.string().min(1).max(128).describe('In which the call will be made.'),
});
const OUTCOME = { name: 'ApprovalResult', schema: approvalOutputSchema };
const listSchema = z.object({ approvals: z.array(approvalSchema).describe('Newest first.') });
export const BY = 'Without a gateway, `by` says who decides; with one, its headers do, and win.';

export function approvalRoutes({ router, policy }: Pick<Agents, 'router' | 'policy'>): Route[] {
  const { approvals } = router;
  const approvers = () => policy().settings.approvals.approvers;
  const seesAll = (caller: Caller | undefined) => isOperator(caller) || isApprover(caller, approvers());
  return [
    route({
      method: 'POST',
      path: BASE,
      operationId: 'requestApproval',
      summary: 'Ask ahead for the approval of exactly this call, without making it',
      description:
        'Asking again for the same call gives the same approval, with its state. What could never be allowed, or needs no ' +
        'approval, is answered 200 with `ok: false`, a code, why, and what to do next.',
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
      answer: { name: 'ApprovalList', schema: listSchema },
      async handle({ query, caller }) {
        if (seesAll(caller)) return { approvals: await approvals.list(query) };
        const user = caller?.user;
        const isOthers = user === undefined || (query.user !== undefined && query.user !== user);
        return { approvals: isOthers ? [] : await approvals.list({ ...query, user }) };
      },
    }),
    route({
      method: 'GET',
      path: `${BASE}/:id`,
      operationId: 'getApproval',
      summary: 'One approval, for example to wait for its decision',
      answer: { name: 'Approval', schema: approvalSchema },
      async handle({ id, caller }): Promise<Approval> {
        const approval = await approvals.get(id);
        if (approval && (seesAll(caller) || approval.user === caller?.user)) return approval;
        throw new WinnowError('not_found', `There is no approval "${id.slice(0, 80)}".`);
      },
    }),
    route({
      method: 'POST',
      path: `${BASE}/:id/grant`,
      operationId: 'grantApproval',
      summary: 'Let the call be made: once, or for equal calls of the session',
      description: BY,
      body: { name: 'GrantRequest', schema: grantInputSchema },
      withHeaders: withDecider,
      answer: OUTCOME,
      handle: ({ id, body }) => approvals.grant(id, body),
    }),
    route({
      method: 'POST',
      path: `${BASE}/:id/refuse`,
      operationId: 'refuseApproval',
      summary: 'Refuse the call',
      description: BY,
      body: { name: 'RefuseRequest', schema: refuseInputSchema },
      withHeaders: withDecider,
      answer: OUTCOME,
      handle: ({ id, body }) => approvals.refuse(id, body),
    }),
  ];
}

interface Approvers {
  readonly users: readonly string[];
  readonly roles: readonly string[];
}

/** Without a list, everyone but the asker may decide, and so may see what there is to decide on. */
function isApprover(caller: Caller | undefined, approvers: Approvers | undefined): boolean {
  const { user, roles = [] } = caller ?? {};
  if (user === undefined) return false;
  return !approvers || approvers.users.includes(user) || roles.some((role) => approvers.roles.includes(role));
}

/** Who the gateway says decides, in place of what the body says. @throws WinnowError `invalid_request` where neither does */
export function withDecider(body: unknown, headers: IncomingHttpHeaders): unknown {
  const by = callerOf(headers);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  if (by) return { ...body, by };
  if ('by' in body) return body;
  const message = `The header ${USER_HEADER} is missing: it says who decides.`;
  throw new WinnowError('invalid_request', message, { issues: [`by: ${message}`] });
}
