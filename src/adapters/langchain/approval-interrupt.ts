/**
 * Interrupts a LangGraph run for a call that waits for approval. Questions and answers have the format of LangChain's own
 * human-in-the-loop middleware, so that existing pages can show them; the router keeps the approval itself.
 */
import { interrupt, task } from '@langchain/langgraph';
import { z } from 'zod';
import { renderReview } from '../../agents/approvals/render-review.js';
import { renderSource } from '../../agents/argument-sources.js';
import { fillSecrets } from '../../agents/calls/hide-secrets.js';
import type { CallResult } from '../../agents/contracts.js';
import { type Approval, grantInputSchema } from '../../agents/records.js';
import type { Router } from '../../agents/router.js';
import { waitsForApproval } from '../../agents/sandbox/failure.js';
import { parseAs } from '../../core/parse.js';
import { oneLine } from '../../core/visible-text.js';

const { by, grant } = grantInputSchema.shape;
/** Part of the run's context, which the program writes: the resume value may come from a browser. */
export const approverSchema = by;
export type Approver = z.infer<typeof approverSchema>;

const decisionSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('approve'), grant, message: z.string().optional() }),
  z.strictObject({
    type: z.literal('edit'),
    editedAction: z.strictObject({ name: z.string(), args: grantInputSchema.shape.arguments.unwrap() }),
    grant,
    message: z.string().optional(),
  }),
  z.strictObject({ type: z.literal('reject'), message: z.string().optional() }),
]);
type Decision = z.infer<typeof decisionSchema>;

/**
 * The value that resumes a run: `new Command({ resume: { decisions: [{ type: 'approve' }] } })`, or with other arguments for
 * the same tool `{ type: 'edit', editedAction: { name: 'deploy', args: { to: 'test' } } }`. The run's context names who
 * decides: `{ context: { winnow: { user: 'ann', approver: { user: 'olga', roles: ['operator'] } } } }`.
 */
const approvalResumeSchema = z.strictObject({ decisions: z.tuple([decisionSchema]) });
export type ApprovalResume = z.input<typeof approvalResumeSchema>;

/** The value of the interrupt. */
export interface ApprovalInterrupt {
  readonly actionRequests: readonly [{ name: string; args: Record<string, unknown>; description: string }];
  readonly reviewConfigs: readonly [{ actionName: string; allowedDecisions: readonly ['approve', 'edit', 'reject'] }];
  readonly approval: Pick<Approval, 'id' | 'session' | 'tool' | 'sources' | 'reason' | 'expiresAt'>;
}

type Waiting = CallResult & { ok: false; approval: string };

function isWaiting(result: CallResult): result is Waiting {
  return !result.ok && result.approval !== undefined && waitsForApproval(result.code);
}

/**
 * Pauses the run until a person has decided, then repeats the call and returns the router's result. On resumption LangGraph
 * runs this function from its beginning, with all earlier answers: a call approved meanwhile runs at once, and an answer to
 * another question than the last decides nothing.
 * @param call repeated each time, with the current arguments
 * @param approver who resumed the run; undefined: the decision was made elsewhere
 * @throws WinnowError `invalid_request` when the run is resumed with anything but an `ApprovalResume`
 */
export async function callWithApproval(
  router: Router,
  { call, arguments: asked }: ApprovedCall,
  approver: Approver | undefined,
): Promise<CallResult> {
  let problem: string | undefined;
  let given = asked;
  let edit: string | undefined;
  for (;;) {
    const result = await call(given);
    if (!result.ok && result.granted && edit === undefined) {
      edit = `${result.reason} It ran with ${JSON.stringify(result.granted.arguments)}.`;
      given = { ...Object(fillSecrets(result.granted.arguments, asked)) };
      continue;
    }
    if (!isWaiting(result)) return result.ok && edit ? { ...result, notes: [edit, ...result.notes] } : result;
    const approval = await router.approvals.get(result.approval);
    if (!approval) return result;
    const shown = await remember(approval.id);
    const decision = parseResume(interrupt(toInterrupt(approval, problem), { responseSchema: approvalResumeSchema }));
    const answered = await remember(approval.id);
    // An answer counts once, for the approval that was shown with its question.
    const isAnswer = !shown.isNew && shown.approval === approval.id && answered.isNew;
    if (isAnswer && approver === undefined && decision.type === 'reject') return rejected(approval, decision);
    problem = isAnswer ? await decide(router, approval, { ...decision, by: approver }) : STALE;
  }
}

/** The approval that was given at this place first: LangGraph keeps what a task has returned with the paused run. */
async function remember(approval: string): Promise<{ approval: string; isNew: boolean }> {
  let isNew = false;
  const keep = task('winnow_approval', async () => {
    isNew = true;
    return approval;
  });
  return { approval: await keep(), isNew };
}

interface ApprovedCall {
  readonly call: (given: Record<string, unknown>) => Promise<CallResult>;
  readonly arguments: Record<string, unknown>;
}

const STALE = 'The question asked before was over by the time it was answered.';

function toInterrupt(approval: Approval, problem: string | undefined): ApprovalInterrupt {
  const { id, session, tool, sources, reason, expiresAt } = approval;
  const from = Object.entries(sources ?? {}).map(([name, source]) => oneLine(`${name}: ${renderSource(source)}`));
  const review = renderReview(approval).map(oneLine);
  const asked = `Asked for by ${approval.user}, until ${expiresAt}.`;
  const lines = [reason, ...from, ...review, asked, ...(problem ? [problem] : [])];
  return {
    actionRequests: [{ name: tool, args: { ...Object(approval.arguments) }, description: lines.join('\n') }],
    reviewConfigs: [{ actionName: tool, allowedDecisions: ['approve', 'edit', 'reject'] }],
    approval: { id, session, tool, ...(sources ? { sources } : {}), reason, expiresAt },
  };
}

/** @returns why the decision is not accepted, for the next person who is asked */
async function decide(
  { approvals }: Router,
  { id, tool }: Approval,
  decision: Decision & { by: Approver | undefined },
): Promise<string | undefined> {
  const { by, message: reason, type } = decision;
  if (by === undefined) return type === 'edit' ? EDITED_BY_NOBODY : undefined;
  const input = { by, ...(reason === undefined ? {} : { reason }) };
  if (type === 'edit' && decision.editedAction.name !== tool) return `An edit keeps the tool, which is ${tool}.`;
  const edited = type === 'edit' ? { arguments: decision.editedAction.args } : {};
  const output =
    type === 'reject'
      ? await approvals.refuse(id, input)
      : await approvals.grant(id, { ...input, ...edited, grant: decision.grant });
  return output.ok ? undefined : `${output.reason} ${output.next}`;
}

const EDITED_BY_NOBODY = 'An edit needs somebody who approves it; name them in context.winnow.approver.';

function rejected({ id }: Approval, { message }: Decision): CallResult {
  const reason = `It was rejected${message === undefined ? '.' : `: ${message}`}`;
  const next = 'Do not try again; tell the user, or go another way.';
  return { ok: false, code: 'approval_refused', reason, next, approval: id };
}

/** Parses the resume value, which older versions of LangGraph do not. */
function parseResume(value: unknown): Decision {
  const form =
    '{"decisions": [{"type": "approve", "edit" or "reject"}]}; who decides stands in context.winnow.approver';
  const place = { code: 'invalid_request', problem: `Resume with ${form}`, root: 'resume' } as const;
  const { decisions } = parseAs(approvalResumeSchema, value, place);
  return decisions[0];
}
