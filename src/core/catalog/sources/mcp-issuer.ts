/**
 * The authorization server of one MCP server. A secret goes to the configured issuer; without one, only to the server's own
 * origin. Messages never contain it.
 */
import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  type FetchLike,
  IssuerMismatchError,
  OAuthError,
  OAuthErrorCode,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { isNeverConnected, reasonOf } from '../../errors.js';
import { oneLine } from '../../visible-text.js';
import { fetchBounded } from './bound-body.js';
import { maskOf, type OauthServer } from './mcp-server.js';
import { isLoopback } from './source.js';

/** Why there is no token. It has no cause, since the issuer's words may contain the secret. */
export class NoToken extends Error {
  /** What to do. */
  readonly advice: string;
  /** Of OAuth, as the issuer gave it. */
  readonly code: string | undefined;

  constructor(message: string, { advice, code }: { advice: string; code?: string | undefined }) {
    super(message);
    this.advice = advice;
    this.code = code;
  }
}

/** The issuer of tokens for a server, and the server's name there. */
export interface IssuerPlace {
  readonly issuer: string;
  readonly resource?: string | undefined;
}

/** For each request to the issuer. */
const ANSWER_TIMEOUT_MS = 30_000;
const MOST_REASON_CHARACTERS = 200;

export function createIssuer(server: OauthServer) {
  const { url, oauth } = server;

  /** Sends each request of the SDK, without the server's configured headers. A redirect could carry the secret elsewhere. */
  const ask: FetchLike = async (address, init = {}) => {
    requireAllowed(address, init);
    return fetchBounded(address, { ...init, redirect: 'manual', signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
  };

  /** @throws Error that names the other place */
  function requireAllowed(address: string | URL, init: Pick<RequestInit, 'method'>): void {
    if (!isAllowed(address, init)) throw new Error(`it names ${new URL(address).origin}, which is another place`);
  }

  /** A configured issuer may name another token endpoint; metadata of a server may lead nowhere else. */
  function isAllowed(address: string | URL, { method }: Pick<RequestInit, 'method'>): boolean {
    const { origin, protocol, hostname } = new URL(address);
    if (origin === new URL(url).origin) return true;
    const isSafe = protocol === 'https:' || isLoopback(hostname);
    return oauth.issuer !== undefined && isSafe && (method === 'POST' || origin === new URL(oauth.issuer).origin);
  }

  return {
    ask,
    requireAllowed,

    /** @param place URL of the server's resource metadata, as its 401 response names it */
    async locate(place?: URL): Promise<IssuerPlace> {
      const described = await discoverOAuthProtectedResourceMetadata(
        url,
        place && { resourceMetadataUrl: place },
        ask,
      ).catch((error: unknown) => {
        // An unreachable server is an error; serving this metadata is optional.
        if (isNeverConnected(String(Object(Object(error).cause).code))) throw error;
        return undefined;
      });
      const issuer = oauth.issuer ?? described?.authorization_servers?.[0] ?? `${new URL(url).origin}/`;
      const resource = described?.resource;
      const requestedResource = resourceUrlFromServerUrl(url);
      if (resource !== undefined && !checkResourceAllowed({ requestedResource, configuredResource: resource }))
        throw new NoToken('the server describes itself as another one', { advice: adviceOn('url') });
      return { issuer, resource };
    },

    /** @param keys which the reason of a failure must not contain. @throws NoToken for every failure of the work */
    async at<Result>(
      { issuer }: IssuerPlace,
      keys: readonly string[],
      work: (metadata: AuthorizationServerMetadata) => Promise<Result>,
    ): Promise<Result> {
      try {
        if (!isAllowed(issuer, {})) throw new Error('it is at another place than the server');
        const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: ask });
        if (!metadata) throw new Error('it has no metadata of an authorization server');
        return await work(metadata);
      } catch (error) {
        const reason = oneLine(maskOf(server, keys)(describe(error))).slice(0, MOST_REASON_CHARACTERS);
        const code = error instanceof OAuthError ? error.code : undefined;
        const advice = adviceOn(KEYS[code ?? ''] ?? 'oauth.issuer');
        throw new NoToken(`${new URL(issuer).origin} gave no token: ${reason}`, { advice, code });
      }
    },
  };
}

function describe(error: unknown): string {
  if (error instanceof OAuthError) return `${error.code}, ${error.message}`;
  // The name that came with the answer may be an attacker's.
  if (error instanceof IssuerMismatchError && error.kind === 'authorization_response')
    return 'the answer is of another issuer';
  const isOfForm = !(error instanceof z.core.$ZodError) && Object(error).name !== 'SyntaxError';
  return isOfForm ? reasonOf(error) : 'its answer is not of the form of OAuth';
}

const KEYS: Readonly<Record<string, string>> = {
  [OAuthErrorCode.InvalidClient]: 'oauth.clientSecret',
  [OAuthErrorCode.UnauthorizedClient]: 'oauth.clientId',
  [OAuthErrorCode.InvalidScope]: 'oauth.scope',
};

function adviceOn(key: string): string {
  return `Check "${key}" of the server in the configuration`;
}
