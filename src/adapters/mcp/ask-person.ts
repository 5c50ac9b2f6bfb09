/**
 * Where the policy lets the asker's own person decide, the client asks that person (MCP elicitation) whether a call may
 * be made. Nobody else answers: without the capability, or where the question is dismissed, the approval stays open.
 */
import type { ClientCapabilities, Server } from '@modelcontextprotocol/server';
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

export function canAskPerson(capabilities: ClientCapabilities | undefined): boolean {
  const { elicitation } = capabilities ?? {};
  // Before there were other forms than this one, none was named.
  return elicitation?.form !== undefined || (elicitation !== undefined && Object.keys(elicitation).length === 0);
}

/** The approval that such a result waits for, and that the asker's own person may decide on. */
export function findOwnApproval({ approvals }: Pick<Router, 'approvals'>, result: CallResult): string | undefined {
  if (result.ok || !OPEN.has(result.code) || !approvals.isSelfAllowed()) return undefined;
  return result.approval;
}

/** Undefined: it can't be read before it is allowed. */
export async function questionFor({ approvals }: Pick<Router, 'approvals'>, id: string) {
  const approval = await approvals.get(id);
  const message = approval && renderQuestion(approval);
  if (message === undefined || message.length > MAX_CHARACTERS) return undefined;
  const expiresInMs = Math.max(1, Date.parse(approval?.expiresAt ?? '') - Date.now());
  return { expiresInMs, form: { message, requestedSchema: YES_OR_NO } };
}

export interface Decision {
  session: string;
  approval: string;
  action: 'accept' | 'decline';
}

/** In the name of the session's user. @returns whether it is decided now */
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
 * @param onError told of a client that could not ask; the call then waits for somebody else
 */
export function askingPerson(router: Router, server: PersonServer, onError: (error: unknown) => void): Router {
  /** Undefined: nobody has decided. */
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
  return [question, ...renderReview(approval)].map(spellTricks).join('\n');
}

const TRICKS = new RegExp(`[${HIDDEN}\\p{Variation_Selector}]`, 'gu');

/** What a person does not see, or what turns round what they see, is told by its code. */
export function spellTricks(line: string): string {
  return line.replace(TRICKS, spelt);
}
