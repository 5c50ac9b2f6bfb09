/**
 * Identifies the caller, for every path: by a token, by a gateway's secret, or, on a server without these, as a program
 * on this machine.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import { type Caller, callerSchema } from '../../../agents/contracts.js';
import { WinnowError } from '../../../core/errors.js';
import { parseInput } from '../../../core/parse.js';

export const USER_HEADER = 'x-winnow-user';
/** Comma-separated names; counts only beside the user's header. */
export const ROLES_HEADER = 'x-winnow-roles';
/** The secret that a gateway shares with the server; its headers count only with it. */
export const GATEWAY_HEADER = 'x-winnow-gateway';

export interface Identity {
  /** Undefined: the operator's own program. */
  readonly caller: Caller | undefined;
  /** By a token or a gateway's secret. False: only a local program claims it, which is not enough to approve. */
  readonly isProven: boolean;
}

export interface StaticToken {
  readonly token: string;
  readonly user: string;
  readonly roles: readonly string[];
}

export interface AuthParts {
  /** Its sender is the operator of this machine, and may act for the user in `x-winnow-user`. Default: none. */
  operatorToken?: string | undefined;
  /** Default: none. */
  tokens?: readonly StaticToken[] | undefined;
  /** Returns the caller that a JSON Web Token names, as `createVerifyJwt` does. Default: no such token is accepted. */
  verifyJwt?: ((token: string) => Promise<Caller>) | undefined;
  /** Default: no gateway is trusted. */
  gatewaySecret?: string | undefined;
}

export interface Authenticate {
  /** @throws WinnowError `unauthenticated`, `invalid_request` for ambiguous headers */
  (request: Pick<IncomingMessage, 'headersDistinct' | 'socket'>): Promise<Identity>;
  /** Whether a program on this machine needs no proof, since callers have no way to give one. */
  readonly isOpen: boolean;
}

type Headers = IncomingMessage['headersDistinct'];

/**
 * @example
 * const authenticate = createAuthenticate({ tokens: [{ token: 's3cret', user: 'ann', roles: ['lead'] }] });
 * createServer({ planner, authenticate });
 */
export function createAuthenticate(parts: AuthParts = {}): Authenticate {
  const { tokens = [], verifyJwt, gatewaySecret, operatorToken } = parts;
  const isOpen = tokens.length === 0 && !verifyJwt && gatewaySecret === undefined;

  async function authenticate({ headersDistinct: headers, socket }: Parameters<Authenticate>[0]): Promise<Identity> {
    const secret = single(headers, GATEWAY_HEADER);
    if (secret !== undefined) return byGateway(secret, headers);
    const token = bearerOf(headers);
    if (token !== undefined) return byToken(token, headers);
    const isProxied = Object.keys(headers).some((name) => FORWARDED.test(name));
    if (isOpen && isProxied) throw unauthenticated(THROUGH_PROXY);
    if (isOpen && isOfThisMachine(socket.remoteAddress)) return { caller: namedIn(headers), isProven: false };
    throw unauthenticated('Send the header "authorization: Bearer TOKEN" with a token that this server knows.');
  }

  function byGateway(secret: string, headers: Headers): Identity {
    if (gatewaySecret === undefined || !isEqual(secret, gatewaySecret))
      throw unauthenticated(`The secret in ${GATEWAY_HEADER} is not that of this server's gateway.`);
    const caller = namedIn(headers);
    if (!caller) throw unauthenticated(`The header ${USER_HEADER} is missing: the gateway must say who asks.`);
    return { caller, isProven: true };
  }

  async function byToken(token: string, headers: Headers): Promise<Identity> {
    if (operatorToken !== undefined && isEqual(token, operatorToken))
      return { caller: namedIn(headers), isProven: true };
    if (single(headers, USER_HEADER) !== undefined)
      throw new WinnowError('invalid_request', `The token says who asks: leave the header ${USER_HEADER} out.`);
    const known = tokens.find((one) => isEqual(token, one.token));
    if (known) return { caller: { user: known.user, roles: [...known.roles] }, isProven: true };
    if (verifyJwt) return { caller: await verifyJwt(token), isProven: true };
    throw unauthenticated('The token is not known to this server.');
  }

  return Object.assign(authenticate, { isOpen });
}

export function unauthenticated(message: string, cause?: unknown): WinnowError {
  return new WinnowError('unauthenticated', message, { cause });
}

/** Undefined: the headers name no user. @throws WinnowError `invalid_request` */
function namedIn(headers: Headers): Caller | undefined {
  const user = single(headers, USER_HEADER);
  const roles = single(headers, ROLES_HEADER);
  if (user === undefined) {
    if (roles === undefined) return undefined;
    throw new WinnowError('invalid_request', `The header ${ROLES_HEADER} counts only beside ${USER_HEADER}.`);
  }
  const names = decode(ROLES_HEADER, roles ?? '').split(',');
  return parseInput(callerSchema, {
    user: decode(USER_HEADER, user),
    roles: names.map((name) => name.trim()).filter(Boolean),
  });
}

/** Refuses repeated and empty headers: a gateway may have appended its value to its client's. */
function single(headers: Headers, name: string): string | undefined {
  const values = headers[name];
  if (!values) return undefined;
  const [value = ''] = values;
  if (values.length > 1)
    throw new WinnowError('invalid_request', `The header ${name} is there ${values.length} times.`);
  if (value.trim() === '' && name !== ROLES_HEADER)
    throw new WinnowError('invalid_request', `The header ${name} is empty: leave it out, or fill it in.`);
  return value;
}

function bearerOf(headers: Headers): string | undefined {
  const value = single(headers, 'authorization');
  if (value === undefined) return undefined;
  const [, token] = /^Bearer +(\S+)$/iu.exec(value) ?? [];
  if (token === undefined) throw unauthenticated('The header authorization must be "Bearer TOKEN".');
  return token;
}

/** Compares in constant time. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

/** Headers by which a proxy on this machine marks forwarded requests. */
const FORWARDED = /^(?:via|forwarded|x-forwarded(?:-.*)?|x-real-ip|(?:x-client|true-client|cf-connecting)-ip)$/u;
const THROUGH_PROXY =
  'The request came through a proxy, and who is behind it is not known: name auth.tokens, auth.jwt or auth.gateway in the ' +
  'configuration, or send the operator\'s token as "authorization: Bearer TOKEN".';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Undefined: a Unix socket or an injected request, which no other machine can reach. */
function isOfThisMachine(address: string | undefined): boolean {
  return address === undefined || LOOPBACK.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Node decodes headers as Latin-1, but names of users may be in any script. */
function decode(name: string, header: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'));
  } catch (cause) {
    throw new WinnowError('invalid_request', `The header ${name} is not UTF-8.`, { cause });
  }
}
