/**
 * If the policy lets requesters decide, the client asks its own person (MCP elicitation) whether a call may be made.
 * Without this capability, or if the person dismisses the question, the approval stays open.
 */
import type { ClientCapabilities, Server } from '@modelcontextprotocol/server';
import { renderReview } from '../../agents/approvals/render-review.js';
import type { CallResult } from '../../agents/contracts.js';
import type { Approval } from '../../agents/records.js';
import type { CallAskOptions, Router } from '../../agents/router.js';
import { waitsForApproval } from '../../agents/sandbox/failure.js';
import { spellHidden } from '../../core/visible-text.js';

/** A longer question can't be read before deciding; another approver decides on it. */
const MAX_CHARACTERS = 4_000;
/** The form asks for the action alone. */
const YES_OR_NO = { type: 'object' as const, properties: {} };

export type PersonServer = Pick<Server, 'elicitInput' | 'getClientCapabilities'>;

export function canAskPerson(capabilities: ClientCapabilities | undefined): boolean {
  const { elicitation } = capabilities ?? {};
  // Older clients have this mode alone, and do not name it.
  return elicitation?.form !== undefined || (elicitation !== undefined && Object.keys(elicitation).length === 0);
}

/** The approval that a result waits for, if the requester may decide on it. */
export function findOwnApproval({ approvals }: Pick<Router, 'approvals'>, result: CallResult): string | undefined {
  if (result.ok || !waitsForApproval(result.code) || !approvals.isSelfAllowed()) return undefined;
  return result.approval;
}

/** Undefined: the question is too long, or the approval does not exist. */
export async function questionFor({ approvals }: Pick<Router, 'approvals'>, id: string) {
  const approval = await approvals.get(id);
  const message = approval && renderQuestion(approval);
  if (message === undefined || message.length > MAX_CHARACTERS) return undefined;
  const expiresInMs = Math.max(1, Date.parse(approval?.expiresAt ?? '') - Date.now());
  return { expiresInMs, form: { message, requestedSchema: YES_OR_NO } };
}

interface Decision {
  session: string;
  approval: string;
  action: 'accept' | 'decline';
}

/** Decides as the session's user. @returns whether it is decided now */
export async function settle(
  { approvals, session: sessionOf }: Pick<Router, 'approvals' | 'session'>,
  { session, approval, action }: Decision,
  ask: CallAskOptions,
): Promise<boolean> {
  const { user, roles } = await sessionOf(session, ask);
  if (user === undefined) return false;
  const by = { user, roles };
  const decided =
    action === 'accept'
      ? await approvals.grant(approval, { by }, 'elicitation')
      : await approvals.refuse(approval, { by, reason: 'The person at the client said no.' }, 'elicitation');
  return decided.ok;
}

/**
 * For clients with a connection: the question goes to the client while its call waits.
 * @param onError called if the client could not ask; the call then waits for another approver
 */
export function askingPerson(router: Router, server: PersonServer, onError: (error: unknown) => void): Router {
  /** Undefined: there is no decision. */
  async function decide(id: string, signal: AbortSignal | undefined): Promise<Decision['action'] | undefined> {
    const question = await questionFor(router, id);
    if (!question) return undefined;
    const { form, expiresInMs: timeout } = question;
    try {
      const { action } = await server.elicitInput(form, { timeout, ...(signal ? { signal } : {}) });
      return action === 'cancel' ? undefined : action;
    } catch (error) {
      if (!signal?.aborted) onError(error);
      return undefined;
    }
  }

  return {
    ...router,
    async call(session, input, ask = {}): Promise<CallResult> {
      const result = await router.call(session, input, ask);
      const approval = findOwnApproval(router, result);
      if (approval === undefined || !canAskPerson(server.getClientCapabilities())) return result;
      const action = await decide(approval, ask.signal);
      const isDecided = action !== undefined && (await settle(router, { session, approval, action }, ask));
      return isDecided ? router.call(session, { ...input, approval }, ask) : result;
    },
  };
}

function renderQuestion(approval: Approval): string {
  const { tool, arguments: given, reason } = approval;
  const question = `Allow ${tool} with ${JSON.stringify(given)}? ${reason}`;
  return [question, ...renderReview(approval)].map(spellHidden).join('\n');
}
