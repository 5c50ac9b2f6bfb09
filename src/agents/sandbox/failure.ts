/**
 * Failures between a call and its result, as values that an agent can act on. The table says whether the tool has run,
 * and so whether the same call may be repeated.
 */
import { oneLine } from '../../core/visible-text.js';
import { type CallResult, GATE_CODES } from '../contracts.js';

export type CallFailure = Extract<CallResult, { ok: false }>;
export type CallSuccess = Extract<CallResult, { ok: true }>;

interface FailureMeaning {
  /** Whether the tool has run. `maybe`: unknown, so only repeatable calls are made again. */
  readonly ran: 'no' | 'maybe' | 'yes';
  /** Whether the same call may succeed later without a change. */
  readonly retry: boolean;
  /** What the caller can do now, one sentence. */
  readonly next: string;
}

export const FAILURE_TABLE = {
  invalid_arguments: { ran: 'no', retry: false, next: 'Correct the arguments named in the issues and call again.' },
  not_runnable: { ran: 'no', retry: false, next: 'Use another tool; an operator can give this one an executor.' },
  overloaded: { ran: 'no', retry: true, next: 'Wait a moment and call again.' },
  rate_limited: { ran: 'no', retry: true, next: 'Wait for the time that the reason names and call again.' },
  not_started: { ran: 'no', retry: false, next: 'Call again if the result is still wanted.' },
  cancelled: { ran: 'maybe', retry: false, next: 'Call again if the result is still wanted.' },
  timeout: {
    ran: 'maybe',
    retry: true,
    next: 'Ask for less at once; check whether the tool has done its work before calling it again.',
  },
  tool_failed: { ran: 'yes', retry: false, next: 'Read the reason and change the arguments, or use another tool.' },
  tool_unavailable: { ran: 'no', retry: true, next: 'Call again later, or use another tool.' },
  not_connected: {
    ran: 'no',
    retry: false,
    next: 'Connect the server to your account there, by /v1/connections, and call again.',
  },
  connection_lost: {
    ran: 'maybe',
    retry: true,
    next: 'Check whether the tool has done its work before calling it again.',
  },
  address_refused: { ran: 'no', retry: false, next: 'Use another tool; an operator can allow the address.' },
  redirect_refused: { ran: 'maybe', retry: false, next: 'Use another tool; an operator can allow the host.' },
  secret_missing: { ran: 'no', retry: false, next: 'Ask an operator to set the variable that the reason names.' },
  output_unusable: { ran: 'yes', retry: false, next: 'Use another tool: this one gave no usable result.' },
  output_too_large: { ran: 'yes', retry: false, next: 'Ask for less at once, by a filter or a smaller page.' },
  output_invalid: { ran: 'yes', retry: false, next: 'Use another tool: the result is not what this one promises.' },
  unresolved_reference: { ran: 'no', retry: false, next: 'Refer to a field that the result holds, or plan again.' },
  items_failed: { ran: 'no', retry: false, next: 'See why these items failed; resuming runs them again.' },
  outcome_unknown: {
    ran: 'maybe',
    retry: false,
    next: 'Find out whether the step has taken effect; then resume and name it under repeat, or plan without it.',
  },
} as const satisfies Readonly<Record<string, FailureMeaning>>;

export type FailureCode = keyof typeof FAILURE_TABLE;

const MAX_REASON_CHARACTERS = 2_000;

export function fail(
  code: FailureCode,
  reason: string,
  more: { issues?: readonly string[]; next?: string } = {},
): CallFailure {
  return {
    ok: false,
    code,
    reason: shorten(reason),
    next: more.next ?? FAILURE_TABLE[code].next,
    ...(more.issues ? { issues: [...more.issues] } : {}),
  };
}

/** The meaning of a code; codes of the gate are not in the table: their calls have not run and stay refused. */
export function meaningOf(code: string): FailureMeaning {
  return isFailureCode(code) ? FAILURE_TABLE[code] : { ran: 'no', retry: false, next: '' };
}

/** Whether a call with this code has certainly not reached the tool. */
export function isBeforeTool(code: string): boolean {
  return isFailureCode(code) ? FAILURE_TABLE[code].ran === 'no' : GATE_CODES.some((one) => one === code);
}

/** Whether a call with this code waits for a decision on its approval. */
export function waitsForApproval(code: string): boolean {
  return code === 'needs_approval' || code === 'approval_pending';
}

/** Describes any thrown value; never throws itself. */
export function describeThrown(thrown: unknown): string {
  try {
    // Checks the shape, not the class: errors of a worker or test runner come from another realm.
    const { message, name } = Object(thrown);
    if (typeof message === 'string') return message || String(name);
    return typeof thrown === 'string' ? thrown : `threw ${JSON.stringify(thrown) ?? String(thrown)}`;
  } catch {
    return 'threw a value that cannot be shown';
  }
}

function isFailureCode(code: string): code is FailureCode {
  return Object.hasOwn(FAILURE_TABLE, code);
}

/** On one line: a reason may quote a tool, whose words must not pass for lines of Winnow. */
function shorten(text: string): string {
  const line = oneLine(text.slice(0, MAX_REASON_CHARACTERS)) || 'no reason was given';
  return text.length <= MAX_REASON_CHARACTERS ? line : `${line}…`;
}
