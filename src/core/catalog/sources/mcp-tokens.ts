/**
 * OAuth for an MCP server: exchanges the configured client credentials for tokens (RFC 6749, section 4.4), which only this
 * server receives. The secret goes to the configured issuer; without one, only to the server's own origin.
 */
import {
  type AuthProvider,
  ClientCredentialsProvider,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  type FetchLike,
  fetchToken,
  OAuthError,
  OAuthErrorCode,
  selectResourceURL,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { isNeverConnected } from '../../errors.js';
import { oneLine } from '../../visible-text.js';
import { withoutUndefined } from '../schema/json.js';
import { fetchBounded } from './bound-body.js';
import { type McpServer, maskOf } from './mcp-server.js';
import { isLoopback, reasonOf } from './source.js';

export interface ServerTokens extends Required<AuthProvider> {
  /** Recent tokens, which no text may contain. */
  keys(): readonly string[];
}

/** Why there is no token. It has no cause, since the issuer's words may contain the secret. */
export class NoToken extends Error {
  /** The key of the server's configuration to look at. */
  readonly key: string;

  constructor(message: string, key: string) {
    super(message);
    this.key = key;
  }
}

/** For each request to the issuer. */
const ANSWER_TIMEOUT_MS = 30_000;
/** Share of a token's lifetime in which it is used: one that expires in transit is refused. */
const USED_SHARE = 0.9;
const MOST_REASON_CHARACTERS = 200;

/** Undefined if the server's configuration has no `oauth`. */
export function createServerTokens(server: McpServer): ServerTokens | undefined {
  if (!('url' in server) || server.oauth === undefined) return undefined;
  const { url, oauth } = server;
  let keys: readonly string[] = [];
  let endsAt = 0;
  let renewal: Promise<void> | undefined;

  /** @param place URL of the server's resource metadata, as its 401 response names it */
  async function fetchTokens(place: URL | undefined): Promise<void> {
    const described = await discoverOAuthProtectedResourceMetadata(
      url,
      place && { resourceMetadataUrl: place },
      ask,
    ).catch((error: unknown) => {
      // An unreachable server is an error; serving this metadata is optional.
      if (isNeverConnected(String(Object(Object(error).cause).code))) throw error;
      return undefined;
    });
    const named = described?.authorization_servers?.[0] ?? `${new URL(url).origin}/`;
    const issuer = oauth.issuer ?? named;
    try {
      if (!isAllowed(issuer, {})) throw new Error('it is at another place than the server');
      const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: ask });
      if (!metadata) throw new Error('it has no metadata of an authorization server');
      const provider = new ClientCredentialsProvider({ ...withoutUndefined(oauth), expectedIssuer: issuer });
      const resource = (await selectResourceURL(url, provider, described)) && described?.resource;
      const fetched = await fetchToken(provider, issuer, withoutUndefined({ metadata, resource, fetchFn: ask }));
      const {
        access_token: token,
        refresh_token: refresh = '',
        expires_in: seconds = Number.POSITIVE_INFINITY,
      } = fetched;
      keys = [token, refresh, ...keys].slice(0, 4);
      endsAt = performance.now() + USED_SHARE * 1_000 * seconds;
    } catch (error) {
      const reason = oneLine(maskOf(server, keys)(describe(error))).slice(0, MOST_REASON_CHARACTERS);
      throw new NoToken(`${new URL(issuer).origin} gave no token: ${reason}`, keyOf(error));
    }
  }

  /** Sends each request of the SDK, without the server's configured headers. A redirect could carry the secret elsewhere. */
  const ask: FetchLike = async (address, init = {}) => {
    if (!isAllowed(address, init)) throw new Error(`it names ${new URL(address).origin}, which is another place`);
    return fetchBounded(address, { ...init, redirect: 'manual', signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
  };

  /** A configured issuer may name another token endpoint; metadata of a server may lead nowhere else. */
  function isAllowed(address: string | URL, { method }: Pick<RequestInit, 'method'>): boolean {
    const { origin, protocol, hostname } = new URL(address);
    if (origin === new URL(url).origin) return true;
    const isSafe = protocol === 'https:' || isLoopback(hostname.replace(/^\[|\]$/gu, ''));
    return oauth.issuer !== undefined && isSafe && (method === 'POST' || origin === new URL(oauth.issuer).origin);
  }

  /** Concurrent callers share one renewal. */
  function renew(place?: URL): Promise<void> {
    renewal ??= fetchTokens(place).finally(() => {
      renewal = undefined;
    });
    return renewal;
  }

  return {
    keys: () => keys,
    async token() {
      if (performance.now() >= endsAt) await renew();
      return keys[0];
    },
    onUnauthorized: ({ response }) => renew(extractWWWAuthenticateParams(response).resourceMetadataUrl),
  };
}

function describe(error: unknown): string {
  if (error instanceof OAuthError) return `${error.code}, ${error.message}`;
  const isOfForm = !(error instanceof z.core.$ZodError) && Object(error).name !== 'SyntaxError';
  return isOfForm ? reasonOf(error) : 'its answer is not of the form of OAuth';
}

const KEYS: Readonly<Record<string, string>> = {
  [OAuthErrorCode.InvalidClient]: 'oauth.clientSecret',
  [OAuthErrorCode.UnauthorizedClient]: 'oauth.clientId',
  [OAuthErrorCode.InvalidScope]: 'oauth.scope',
};

function keyOf(error: unknown): string {
  return (error instanceof OAuthError ? KEYS[error.code] : undefined) ?? 'oauth.issuer';
}
