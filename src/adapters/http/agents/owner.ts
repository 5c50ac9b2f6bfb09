/** The owner of private things. With a gateway it is always the caller, also for an operator. */
import { z } from 'zod';
import type { Caller } from '../../../agents/contracts.js';
import { WinnowError } from '../../../core/errors.js';

export const ofUserSchema = z.strictObject({
  user: z.string().min(1).max(256).optional().describe('The owner; counts only if no gateway names the caller.'),
});

/** @throws WinnowError `invalid_request` if no user is named */
export function ownerOf(caller: Caller | undefined, named: string | undefined): string {
  const owner = caller ? caller.user : named;
  if (owner !== undefined) return owner;
  const issues = [caller ? 'x-winnow-user: name the user who is meant' : 'user: name the user who is meant'];
  throw new WinnowError('invalid_request', `The request is not usable: ${issues[0]}.`, { issues });
}
