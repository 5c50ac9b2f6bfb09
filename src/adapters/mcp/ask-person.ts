/**
 * Where the policy lets the asker's own person decide, the client asks that person (MCP elicitation) whether a call may
 * be made. Nobody else answers: without the capability, or where the question is dismissed, the approval stays open.
 */
import type { Server } from '@modelcontextprotocol/server';
import { renderReview } from '../../agents/approvals/render-review.js';
import type { CallResult } from '../../agents/contracts.js';
import type { Approval } from '../../agents/records.js';
import type { CallAskOptions, Router } from '../../agents/router.js';
import { HIDDEN, spelt } from '../../core/visible-text.js';

const OPEN = new Set(['needs_approval', 'approval_pending']);
/** What is longer can't be read before it is allowed; somebody else decides on it. */
const MAX_CHARACTERS = 4_000;
/** Nothing but the action is asked for. */
const YES_OR_NO = { type: 'object' as const, properties: {} };

export type PersonServer = Pick<Server, 'elicitInput' | 'getClientCapabilities'>;

export function canAskPerson(server: Pick<PersonServer, 'getClientCapabilities'>): boolean {
  return server.getClientCapabilities()?.elicitation?.form !== undefined;
}

/** @param onError told of a client that could not ask; the call then waits for somebody else */
export function askingPerson(router: Router, server: PersonServer, onError: (error: unknown) => void): Router {
  const { approvals } = router;

  /** Undefined: nobody has decided. */
  async function decide(id: string, signal: AbortSignal | undefined): Promise<'accept' | 'decline' | undefined> {
    const approval = await approvals.get(id);
    const message = approval && renderQuestion(approval);
    if (message === undefined || message.length > MAX_CHARACTERS) return undefined;
    const timeout = Math.max(1, Date.parse(approval?.expiresAt ?? '') - Date.now());
    try {
      const { action } = await server.elicitInput(
        { message, requestedSchema: YES_OR_NO },
        { timeout, ...(signal ? { signal } : {}) },
      );
      return action === 'cancel' ? undefined : action;
    } catch (error) {
      if (!signal?.aborted) onError(error);
      return undefined;
    }
  }

  async function settle(session: string, id: string, ask: CallAskOptions): Promise<boolean> {
    const decision = await decide(id, ask.signal);
    const { user, roles } = await router.session(session, ask);
    if (decision === undefined || user === undefined) return false;
    const by = { user, roles };
    const decided =
      decision === 'accept'
        ? await approvals.grant(id, { by }, 'elicitation')
        : await approvals.refuse(id, { by, reason: 'The person at the client said no.' }, 'elicitation');
    return decided.ok;
  }

  return {
    ...router,
    async call(session, input, ask = {}): Promise<CallResult> {
      const result = await router.call(session, input, ask);
      if (result.ok || !OPEN.has(result.code) || result.approval === undefined) return result;
      if (!approvals.isSelfAllowed() || !canAskPerson(server)) return result;
      const isDecided = await settle(session, result.approval, ask);
      return isDecided ? router.call(session, { ...input, approval: result.approval }, ask) : result;
    },
  };
}

function renderQuestion(approval: Approval): string {
  const { tool, arguments: given, reason } = approval;
  const question = `Allow ${tool} with ${JSON.stringify(given)}? ${reason}`;
  return [question, ...renderReview(approval)].map((line) => line.replace(TRICKS, spelt)).join('\n');
}

/** What a person does not see, or what turns round what they see, is told by its code. */
const TRICKS = new RegExp(`[${HIDDEN}\\p{Variation_Selector}]`, 'gu');
