/**
 * Who asks. The header is what a gateway sets after it has checked the caller, so it wins over what the caller
 * wrote, also when it is empty: then nobody asks, and only system tools are seen.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { WinnowError } from '../errors.js';

export const USER_HEADER = 'x-winnow-user';

/** @throws WinnowError `invalid_request` */
export function withCaller(asked: unknown, headers: IncomingHttpHeaders): unknown {
  const header = headers[USER_HEADER];
  if (typeof header !== 'string' || typeof asked !== 'object' || asked === null || Array.isArray(asked)) return asked;
  return { ...asked, user: header === '' ? undefined : decode(header) };
}

/** Node hands over the bytes of a header one a character; names of users may be in any script. */
function decode(header: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'));
  } catch (cause) {
    throw new WinnowError('invalid_request', `The header ${USER_HEADER} is not UTF-8.`, { cause });
  }
}
