/** Refusals of calls under an approval and of decisions on one, in words for agents and people. */
import { differencesOf } from '../argument-sources.js';
import type { GateCode, Refusal } from '../contracts.js';
import type { CallFailure } from '../sandbox/failure.js';
import type { ApprovalRecord } from '../store/store.js';

export type Refused = Refusal & { ok: false; approval?: string };
export type CallRefused = Refused & Pick<CallFailure, 'granted'>;

export const NEXT = {
  refused: 'Do not try again; tell the user, or go another way.',
  edited:
    'Make the call with the arguments in `granted`. A text "[secret: …]" there stands for the value that you gave before.',
  again: 'Make the call again without an approval id: it requests a new approval.',
} as const;

type Bound = Pick<ApprovalRecord, 'session' | 'tool' | 'argumentsHash' | 'policyVersion'>;

/** Refuses a call that the approval is not for. */
export function refuseMisfit(approval: ApprovalRecord | undefined, request: Bound): CallRefused | undefined {
  // Another session's approval must look like a missing one.
  if (!approval || approval.session !== request.session) return unknown();
  const bound = { tool: 'another tool', policyVersion: 'another policy' } as const;
  const other = (['tool', 'policyVersion'] as const).find((one) => approval[one] !== request[one]);
  if (other !== undefined)
    return refused('approval_mismatch', `The approval is for ${bound[other]}.`, { next: NEXT.again });
  const { argumentsHash, granted, state } = approval;
  if ((granted?.argumentsHash ?? argumentsHash) === request.argumentsHash) return undefined;
  // For a closed approval, its state says more.
  if (granted && argumentsHash === request.argumentsHash)
    return state === 'granted' ? edited(approval, granted) : undefined;
  return refused('approval_mismatch', 'The approval is for other arguments.', { next: NEXT.again });
}

export function namesOfEdited({ arguments: asked, granted }: Pick<ApprovalRecord, 'arguments' | 'granted'>): string[] {
  return differencesOf(asked, granted?.arguments).map(({ argument }) => argument);
}

function edited(approval: ApprovalRecord, { arguments: given }: NonNullable<ApprovalRecord['granted']>): CallRefused {
  const changed = namesOfEdited(approval);
  // Names only, no values: the audit stores this text.
  const reason = `${approval.decidedBy} approved the call with other arguments, and changed ${changed.join(', ')}.`;
  const refusal = refused('approval_edited', reason, { approval, next: NEXT.edited });
  return { ...refusal, granted: { arguments: given, changed } };
}

export function closed({ state }: ApprovalRecord): Refused {
  const code = state === 'used' || state === 'granted' ? 'approval_used' : `approval_${state}`;
  return { ok: false, code, reason: `It is ${state} already.`, next: 'Nothing is left to decide.' };
}

export function withoutUser(): Refused {
  return refused('approval_not_allowed', 'The session has no user, so its calls can not be approved.', {
    next: 'Open a session with a user: over MCP by `winnow mcp --user NAME`, over HTTP by the header x-winnow-user.',
  });
}

export function tooLarge(bytes: number, most: number): Refused {
  const reason = `Its arguments have ${bytes} bytes; an approval may cover at most ${most}.`;
  return refused('approval_too_large', reason, { next: 'Do less in one call.' });
}

/** @param next while they wait */
export function tooMany(most: number, next: string): Refused {
  return refused('too_many_approvals', `${most} of your calls wait for an approval already.`, { next });
}

/** For approvers, who make no call; also where they may not see what exists. */
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
