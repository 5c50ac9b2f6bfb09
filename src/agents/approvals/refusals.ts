/** Why a call under an approval does not run, or a decision on one is not taken, in words for agents and for people. */
import { differencesOf } from '../argument-sources.js';
import type { GateCode, Refusal } from '../contracts.js';
import type { CallFailure } from '../sandbox/failure.js';
import type { ApprovalRecord } from '../store/store.js';

export type Refused = Refusal & { ok: false; approval?: string };
export type CallRefused = Refused & Pick<CallFailure, 'granted'>;

export const NEXT = {
  pending: 'Wait until somebody else has approved it, then make the same call again.',
  refused: 'Do not try again; tell the user, or go another way.',
  edited:
    'Make the call with the arguments in `granted`. A text "[secret: …]" there stands for the value that you gave before.',
  again: 'Make the call again without an approval id: it asks anew.',
} as const;

type Bound = Pick<ApprovalRecord, 'session' | 'tool' | 'argumentsHash' | 'policyVersion'>;

/** Where the call is not the one that the approval is for. */
export function refuseMisfit(approval: ApprovalRecord | undefined, request: Bound): CallRefused | undefined {
  // Another session's approval looks like none at all.
  if (!approval || approval.session !== request.session) return unknown();
  const bound = { tool: 'another tool', policyVersion: 'another policy' } as const;
  const other = (['tool', 'policyVersion'] as const).find((one) => approval[one] !== request[one]);
  if (other !== undefined)
    return refused('approval_mismatch', `The approval is for ${bound[other]}.`, { next: NEXT.again });
  const { argumentsHash, granted, state } = approval;
  if ((granted?.argumentsHash ?? argumentsHash) === request.argumentsHash) return undefined;
  // Of one that is over, its state says more.
  if (granted && argumentsHash === request.argumentsHash)
    return state === 'granted' ? edited(approval, granted) : undefined;
  return refused('approval_mismatch', 'The approval is for other arguments.', { next: NEXT.again });
}

export function namesOfEdited({ arguments: asked, granted }: Pick<ApprovalRecord, 'arguments' | 'granted'>): string[] {
  return differencesOf(asked, granted?.arguments).map(({ argument }) => argument);
}

function edited(approval: ApprovalRecord, { arguments: given }: NonNullable<ApprovalRecord['granted']>): CallRefused {
  const changed = namesOfEdited(approval);
  // Without values: it stands in the audit.
  const reason = `${approval.decidedBy} approved the call with other arguments, and changed ${changed.join(', ')}.`;
  const refusal = refused('approval_edited', reason, { approval, next: NEXT.edited });
  return { ...refusal, granted: { arguments: given, changed } };
}

export function closed({ state }: ApprovalRecord): Refused {
  const code = state === 'used' || state === 'granted' ? 'approval_used' : `approval_${state}`;
  return { ok: false, code, reason: `It is ${state} already.`, next: 'Nothing is left to decide.' };
}

export function nobodyAsks(): Refused {
  return refused('approval_not_allowed', 'Nobody can approve what nobody asks for: the session has no user.', {
    next: 'Open a session with a user: over MCP by `winnow mcp --user NAME`, over HTTP by the header x-winnow-user.',
  });
}

export function tooLarge(bytes: number, most: number): Refused {
  const reason = `Its arguments have ${bytes} bytes, and nobody is asked to approve more than ${most}.`;
  return refused('approval_too_large', reason, { next: 'Do less in one call.' });
}

export function tooMany(most: number): Refused {
  return refused('too_many_approvals', `${most} of your calls wait for an approval already.`, { next: NEXT.pending });
}

/** For the one who decides, who makes no call; also where they may not see what there is. */
export function nothingToDecide(): Refused {
  return refused('approval_unknown', 'There is no such approval.', {
    next: 'List the approvals and use an id from there.',
  });
}

export function unknown(): Refused {
  return refused('approval_unknown', 'There is no such approval in this session.', { next: NEXT.again });
}

export function refused(
  code: GateCode,
  reason: string,
  { next, approval }: { next: string; approval?: ApprovalRecord },
): Refused {
  return { ok: false, code, reason, next, ...(approval ? { approval: approval.id } : {}) };
}
