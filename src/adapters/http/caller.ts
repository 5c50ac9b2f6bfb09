/** What a caller may see, and for which user a request runs. `auth/authenticate.ts` identifies the caller. */

import { type Caller, OPERATOR_ROLE } from '../../agents/contracts.js';
import { WinnowError } from '../../core/errors.js';
import { ROLES_HEADER } from './auth/authenticate.js';

/** The caller's name overrides the user of the request; the operator's own program may name any user. */
export function withCaller(asked: unknown, caller: Caller | undefined): unknown {
  return caller && isFields(asked) ? { ...asked, user: caller.user } : asked;
}

export function isFields(asked: unknown): asked is Record<string, unknown> {
  return typeof asked === 'object' && asked !== null && !Array.isArray(asked);
}

export function isOperator(caller: Caller | undefined): boolean {
  return caller === undefined || (caller.roles ?? []).includes(OPERATOR_ROLE);
}

/**
 * Limits a query to what the caller may see. Undefined if it asks for another user, whose existence stays hidden.
 * @param seesAll Default: operators do
 */
export function visibleQuery<Query extends { user?: string | undefined }>(
  query: Query,
  caller: Caller | undefined,
  seesAll = isOperator(caller),
): Query | undefined {
  if (seesAll) return query;
  const user = caller?.user;
  return user === undefined || (query.user !== undefined && query.user !== user) ? undefined : { ...query, user };
}

/** @throws WinnowError `not_found`, as for everything that is not visible */
export function requireOperator(caller: Caller | undefined): void {
  if (isOperator(caller)) return;
  throw new WinnowError(
    'not_found',
    `This is for operators: callers with the role "${OPERATOR_ROLE}" (${ROLES_HEADER}, or a token).`,
  );
}
