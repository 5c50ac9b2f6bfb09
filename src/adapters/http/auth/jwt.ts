/** JSON Web Tokens of an issuer, checked with its published keys (RFC 7519, RFC 7517). */
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { z } from 'zod';
import { type Caller, callerSchema } from '../../../agents/contracts.js';
import { WinnowError } from '../../../core/errors.js';
import { parse } from '../../../core/parse.js';
import { unauthenticated } from './authenticate.js';

export const jwtSettingsSchema = z.strictObject({
  issuer: z.string().min(1).describe('The claim `iss` of its tokens.'),
  audience: z.string().min(1).describe('The claim `aud` of its tokens, for example the address of this server.'),
  jwksUrl: z.url().describe('Where the issuer publishes its keys.'),
  userClaim: z.string().min(1).default('sub').describe('The claim that names the user.'),
  rolesClaim: z.string().min(1).default('roles').describe('The claim with the roles: a list, or a text with spaces.'),
});
type JwtSettings = z.output<typeof jwtSettingsSchema>;

/** With public keys only: a shared secret that verifies a token could also sign one. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** Allowed difference between the clocks of issuer and server, in seconds. */
const CLOCK_TOLERANCE = 5;

/**
 * @param keys default: the issuer's published keys, read again when a token names an unknown one
 * @returns a function from a token to its caller; it throws WinnowError `unauthenticated`, and `overloaded` while the
 *   keys can't be read
 */
export function createVerifyJwt(settings: JwtSettings, keys?: JWTVerifyGetKey): (token: string) => Promise<Caller> {
  const { issuer, audience, jwksUrl, userClaim, rolesClaim } = settings;
  const getKey = keys ?? createRemoteJWKSet(new URL(jwksUrl));
  const rules = { issuer, audience, algorithms: ALGORITHMS, clockTolerance: CLOCK_TOLERANCE, requiredClaims: ['exp'] };
  return async (token) => {
    const payload = await verify(token, getKey, rules);
    const caller = parse(callerSchema, { user: payload[userClaim], roles: rolesOf(payload[rolesClaim]) });
    if (caller.ok && caller.value.user !== undefined) return caller.value;
    throw unauthenticated(
      `The token names no user in its claim "${userClaim}", or has unusable roles in "${rolesClaim}".`,
    );
  };
}

/** @throws Error where the keys of the issuer can't be read */
export function readIssuerKeys({ jwksUrl }: Pick<JwtSettings, 'jwksUrl'>): Promise<void> {
  return createRemoteJWKSet(new URL(jwksUrl)).reload();
}

async function verify(
  token: string,
  keys: JWTVerifyGetKey,
  rules: Parameters<typeof jwtVerify>[2],
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keys, rules)).payload;
  } catch (cause) {
    if (isOfToken(cause)) throw unauthenticated(`The token is not valid: ${cause.message}.`, cause);
    const message = "The keys of the token's issuer (auth.jwt.jwksUrl) can't be read now: come back later.";
    throw new WinnowError('overloaded', message, { cause });
  }
}

/** Other errors concern the issuer's server. */
function isOfToken(error: unknown): error is Error {
  const isOfKeys = error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid;
  return error instanceof errors.JOSEError && !isOfKeys && error.code !== 'ERR_JOSE_GENERIC';
}

function rolesOf(claim: unknown): unknown {
  return typeof claim === 'string' ? claim.split(/\s/u).filter(Boolean) : claim;
}
