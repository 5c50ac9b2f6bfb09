/** Who may ask `winnow serve`, from flags and the configuration's `auth`. Secrets come from the environment, never from a file. */

import { z } from 'zod';
import type { AuthOptions } from '../adapters/http/auth/add-auth.js';
import { type AuthParts, createAuthenticate } from '../adapters/http/auth/authenticate.js';
import { createVerifyJwt, jwtSettingsSchema } from '../adapters/http/auth/jwt.js';
import { readVariable } from '../core/environment.js';
import { WinnowError } from '../core/errors.js';
import { parseOptions } from '../core/parse.js';
import { isLoopback } from './is-loopback.js';
import { openOperatorToken } from './operator-token.js';
import type { ServeFlags } from './serve-flags.js';

const variable = z.string().min(1).describe('Environment variable that holds the secret.');
export const authSettingsSchema = z.strictObject({
  tokens: z
    .array(
      z.strictObject({
        env: variable,
        user: z.string().min(1).max(256),
        roles: z.array(z.string().min(1)).default([]),
      }),
    )
    .default([])
    .describe('One a user, sent as "authorization: Bearer TOKEN".'),
  jwt: jwtSettingsSchema.optional().describe('JSON Web Tokens of an issuer.'),
  gateway: z
    .strictObject({ env: variable })
    .optional()
    .describe(
      'A gateway that sends this secret in x-winnow-gateway; only then x-winnow-user and x-winnow-roles count.',
    ),
});

/** A guess at a shorter one takes too few attempts. */
const MIN_SECRET_CHARACTERS = 16;

/** @throws WinnowError `invalid_option`, also for an address that others reach while nobody has to prove who they are */
export async function openAuth(
  { host, hostName }: Pick<ServeFlags, 'host' | 'hostName'>,
  settings: unknown,
): Promise<AuthOptions & { tokenFile: string }> {
  const { tokens, jwt, gateway } = parseOptions(authSettingsSchema, settings ?? {}, 'auth');
  const { token: operatorToken, path } = await openOperatorToken();
  const parts: AuthParts = {
    operatorToken,
    tokens: tokens.map(({ env, ...who }, index) => ({ ...who, token: secretOf(env, `auth.tokens[${index}].env`) })),
    verifyJwt: jwt && createVerifyJwt(jwt),
    gatewaySecret: gateway && secretOf(gateway.env, 'auth.gateway.env'),
  };
  const authenticate = createAuthenticate(parts);
  if (authenticate.isOpen && !isLoopback(host)) throw reachedByOthers(host);
  const isNamed = hostName !== undefined || isLoopback(host);
  return { tokenFile: path, authenticate, hostNames: isNamed ? [host, ...(hostName ?? [])] : undefined };
}

function secretOf(name: string, key: string): string {
  const secret = readVariable(name);
  if (secret !== undefined && secret.length >= MIN_SECRET_CHARACTERS) return secret;
  const problem = secret === undefined ? 'is not set' : `has less than ${MIN_SECRET_CHARACTERS} characters`;
  throw new WinnowError('invalid_option', `${key}: the environment variable ${name} ${problem}.`);
}

function reachedByOthers(host: string): WinnowError {
  return new WinnowError(
    'invalid_option',
    `Others reach --host ${host}, so callers must prove who they are: name auth.tokens, auth.jwt or auth.gateway in the ` +
      'configuration, for example "auth: {tokens: [{env: ANN_TOKEN, user: ann, roles: [operator]}]}".',
  );
}
