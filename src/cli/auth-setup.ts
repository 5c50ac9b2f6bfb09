/** Authentication of `winnow serve`, from flags and the configuration's `auth`. Secrets come from the environment only. */
import { randomBytes } from 'node:crypto';
import { link, lstat, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { AuthOptions } from '../adapters/http/auth/add-auth.js';
import { type AuthParts, createAuthenticate } from '../adapters/http/auth/authenticate.js';
import { createVerifyJwt, jwtSettingsSchema } from '../adapters/http/auth/jwt.js';
import { isLoopback } from '../core/catalog/sources/source.js';
import { readVariable } from '../core/environment.js';
import { messageOf, WinnowError } from '../core/errors.js';
import { cacheFolder } from '../core/model/store/model-file.js';
import { parseOptions } from '../core/parse.js';

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

/** Shorter secrets are too easy to guess. */
const MIN_SECRET_CHARACTERS = 16;

/** @throws WinnowError `invalid_option`, also for an address that other machines reach without authentication */
export async function openAuth(
  { host, hostNames }: { host: string; hostNames?: readonly string[] | undefined },
  settings: unknown,
): Promise<AuthOptions & { tokenFile: string }> {
  const parts = readAuth(settings);
  const { token: operatorToken, path } = await openOperatorToken();
  const authenticate = createAuthenticate({ operatorToken, ...parts });
  if (authenticate.isOpen && !isLoopback(host)) throw reachedByOthers(host);
  const isNamed = hostNames !== undefined || isLoopback(host);
  return { tokenFile: path, authenticate, hostNames: isNamed ? [host, ...(hostNames ?? [])] : undefined };
}

/** @throws WinnowError `invalid_option` for a secret that is not set, or is too short */
export function readAuth(settings: unknown): Omit<AuthParts, 'operatorToken'> {
  const { tokens, jwt, gateway } = parseOptions(authSettingsSchema, settings ?? {}, 'auth');
  return {
    tokens: tokens.map(({ env, ...who }, index) => ({ ...who, token: secretOf(env, `auth.tokens[${index}].env`) })),
    verifyJwt: jwt && createVerifyJwt(jwt),
    gatewaySecret: gateway && secretOf(gateway.env, 'auth.gateway.env'),
  };
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

const TOKEN_BYTES = 32;
const OTHERS = 0o077;

/**
 * The operator token of this machine: the first start makes it, and only the server's account can read it.
 * @param path default: `operator-token` in Winnow's own folder
 * @throws WinnowError `invalid_option` where it can't be kept
 */
export async function openOperatorToken(path = join(cacheFolder(), 'operator-token')) {
  try {
    await mkdir(dirname(path), { recursive: true });
    await create(path).catch(onOld);
    if (await isOfOthers(path)) await renew(path);
    const token = (await readFile(path, 'utf8')).trim();
    if (token.length >= TOKEN_BYTES) return { token, path };
    throw new Error('it is shorter than a token; remove it, and a new one is made');
  } catch (cause) {
    const advice = 'Its folder must be writable: name another by WINNOW_CACHE.';
    const message = `The operator's token ${path} is not usable: ${messageOf(cause)}. ${advice}`;
    throw new WinnowError('invalid_option', message, { cause });
  }
}

/** Whether other accounts may know the token, since they can read or wrote the file. Windows reports neither mode nor owner. */
async function isOfOthers(path: string): Promise<boolean> {
  const file = await lstat(path);
  if (!file.isFile()) return true;
  return process.geteuid !== undefined && ((file.mode & OTHERS) !== 0 || file.uid !== process.geteuid());
}

async function renew(path: string): Promise<void> {
  await rm(path);
  await create(path);
}

async function create(path: string): Promise<void> {
  const whole = `${path}.${randomBytes(4).toString('hex')}`;
  await writeFile(whole, `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`, { flag: 'wx', mode: 0o600 });
  // The link appears at once, so no other process reads half a file.
  await link(whole, path).finally(() => rm(whole));
}

function onOld(error: unknown): void {
  if (Object(error).code !== 'EEXIST') throw error;
}
