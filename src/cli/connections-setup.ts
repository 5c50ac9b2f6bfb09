/** Connections of users to MCP servers, from the configuration's `connections`. The key comes from the environment only. */
import { z } from 'zod';
import type { ConnectionsParts } from '../agents/connections/connections.js';
import type { UserTokens } from '../agents/connections/user-tokens.js';
import { isOfUsers, type McpServer } from '../core/catalog/sources/mcp-server.js';
import { readVariable } from '../core/environment.js';
import { WinnowError } from '../core/errors.js';
import { parseOptions } from '../core/parse.js';

const KEY_BYTES = 32;
const TOKEN_KEY = 'WINNOW_TOKEN_KEY';

export const connectionSettingsSchema = z.strictObject({
  tokenKey: z
    .strictObject({
      env: z.string().min(1).describe(`Environment variable that holds the key. Default: ${TOKEN_KEY}.`),
    })
    .optional()
    .describe(
      `32 random bytes as base64, which encrypt users' tokens. With another key, users connect anew. Default: of ${TOKEN_KEY}.`,
    ),
  publicUrl: z
    .url({ protocol: /^https?$/u })
    .optional()
    .describe('Under which browsers reach this server. Default: its address, if it listens on this machine alone.'),
});

/** @throws WinnowError `invalid_option` for a key of another form. @returns undefined where there is no key */
export function readConnections(settings: unknown): Pick<ConnectionsParts, 'key' | 'publicUrl'> | undefined {
  const { tokenKey, publicUrl } = parseOptions(connectionSettingsSchema, settings ?? {}, 'connections');
  const { env = TOKEN_KEY } = tokenKey ?? {};
  const text = readVariable(env);
  if (text === undefined) return undefined;
  const key = Buffer.from(text, 'base64');
  if (key.length === KEY_BYTES) return { key, publicUrl };
  throw wrongKey(`the environment variable ${env} does not hold ${KEY_BYTES} bytes as base64`);
}

/** @throws WinnowError `invalid_option` for a server that users authorize, where there is no key for their tokens */
export function requireKey(servers: Readonly<Record<string, McpServer>>, tokens: UserTokens | undefined): void {
  const [name] = Object.entries(servers).find(([, server]) => isOfUsers(server)) ?? [];
  if (name === undefined || tokens) return;
  throw wrongKey(`users authorize the MCP server "${name}", and there is no key to encrypt their tokens`);
}

function wrongKey(problem: string): WinnowError {
  const advice = `Set ${TOKEN_KEY}, or the variable that the key names, to the output of "openssl rand -base64 32"`;
  return new WinnowError('invalid_option', `connections.tokenKey: ${problem}. ${advice}.`);
}
