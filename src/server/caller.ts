/**
 * Who asks. The headers are what a gateway sets after it has checked the caller, so they win over what the caller
 * wrote, also when they are empty: then nobody asks, and only system tools are seen. Without the user's header there is
 * no gateway, and whoever asks is the operator's own program, which is trusted.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { WinnowError } from '../core/errors.js';
import { parseInput } from '../core/parse.js';
import { type Caller, callerSchema } from '../routing/contracts.js';

export const USER_HEADER = 'x-winnow-user';
/** Names with commas in between; counts only beside the user's header. */
export const ROLES_HEADER = 'x-winnow-roles';
/** Sees what is about all users: the audit, the index, everybody's telemetry and approvals. */
export const OPERATOR_ROLE = 'operator';

/** @throws WinnowError `invalid_request` */
export function withCaller(asked: unknown, headers: IncomingHttpHeaders): unknown {
  const header = headers[USER_HEADER];
  if (typeof header !== 'string' || typeof asked !== 'object' || asked === null || Array.isArray(asked)) return asked;
  return { ...asked, user: header === '' ? undefined : decode(USER_HEADER, header) };
}

/** Undefined: there is no gateway. @throws WinnowError `invalid_request` */
export function callerOf(headers: IncomingHttpHeaders): Caller | undefined {
  const header = headers[USER_HEADER];
  if (typeof header !== 'string') return undefined;
  const roles = decode(ROLES_HEADER, String(headers[ROLES_HEADER] ?? '')).split(',');
  return parseInput(callerSchema, {
    ...(header === '' ? {} : { user: decode(USER_HEADER, header) }),
    roles: roles.map((role) => role.trim()).filter(Boolean),
  });
}

/** Whose part of the server a request takes; all callers without a name share one. Undefined: there is no gateway. */
export function accountOf(caller: Caller | undefined): string | undefined {
  return caller && (caller.user ?? '');
}

export function isOperator(caller: Caller | undefined): boolean {
  return caller === undefined || (caller.roles ?? []).includes(OPERATOR_ROLE);
}

/** @throws WinnowError `not_found`, as for all that is not visible */
export function requireOperator(caller: Caller | undefined): void {
  if (isOperator(caller)) return;
  throw new WinnowError('not_found', `This is for operators: callers with "${OPERATOR_ROLE}" in ${ROLES_HEADER}.`);
}

/** Node hands over the bytes of a header one a character; names of users may be in any script. */
function decode(name: string, header: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'));
  } catch (cause) {
    throw new WinnowError('invalid_request', `The header ${name} is not UTF-8.`, { cause });
  }
}
