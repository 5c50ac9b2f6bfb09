/**
 * Authorization of a user at an MCP server: the authorization code grant with PKCE (RFC 6749, section 4.1; RFC 7636). All
 * later requests about it go to the issuer that the user was sent to.
 */
import {
  exchangeAuthorization,
  type OAuthTokens,
  refreshAuthorization,
  selectClientAuthMethod,
  startAuthorization,
} from '@modelcontextprotocol/client';
import { withoutUndefined } from '../schema/json.js';
import { createIssuer, type IssuerPlace } from './mcp-issuer.js';
import type { UserServer } from './mcp-server.js';
import { USED_SHARE } from './mcp-tokens.js';

/** A user on the way to the issuer. */
export interface StartedAuthorization extends IssuerPlace {
  readonly redirectUrl: string;
  /** The secret of PKCE. */
  readonly verifier: string;
}

export interface UserGrant extends IssuerPlace {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  /** In milliseconds since 1970. Absent: the issuer named no end. */
  readonly endsAt?: number | undefined;
  readonly scope?: string | undefined;
}

/** Each method throws NoToken, or the error of a server that can't be reached. */
export function createAuthorization(server: UserServer, now: () => number) {
  const { oauth } = server;
  const { locate, at, ask, requireAllowed } = createIssuer(server);
  const { clientId, clientSecret, scope } = oauth;
  const clientInformation = withoutUndefined({ client_id: clientId, client_secret: clientSecret });

  function toGrant({ issuer, resource }: IssuerPlace, tokens: OAuthTokens, asked = scope): UserGrant {
    const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = tokens;
    const endsAt = seconds === undefined ? undefined : now() + USED_SHARE * 1_000 * seconds;
    return withoutUndefined({ issuer, resource, accessToken, refreshToken, endsAt, scope: tokens.scope ?? asked });
  }

  return {
    /** @returns the address to which the user's browser goes, and what has to be known when it comes back */
    async begin(redirectUrl: string, state: string): Promise<{ url: string; started: StartedAuthorization }> {
      const place = await locate();
      return at(place, [], async (metadata) => {
        requireAllowed(metadata.authorization_endpoint, { method: 'POST' });
        const { issuer, resource } = place;
        const asked = withoutUndefined({ metadata, clientInformation, redirectUrl, scope, state, resource });
        const { authorizationUrl, codeVerifier } = await startAuthorization(issuer, asked);
        return { url: authorizationUrl.href, started: { ...place, redirectUrl, verifier: codeVerifier } };
      });
    },

    /** @param answer parameters with which the browser came back */
    exchange(started: StartedAuthorization, answer: { code: string; iss?: string | undefined }): Promise<UserGrant> {
      const { issuer, resource, redirectUrl: redirectUri, verifier: codeVerifier } = started;
      const { code: authorizationCode, iss } = answer;
      return at(started, [authorizationCode, codeVerifier], async (metadata) => {
        const proof = { authorizationCode, codeVerifier, redirectUri, iss };
        const asked = withoutUndefined({ metadata, clientInformation, ...proof, resource, fetchFn: ask });
        return toGrant(started, await exchangeAuthorization(issuer, asked));
      });
    },

    /** Uses the refresh token up, at issuers that rotate it. */
    refresh(grant: UserGrant, refreshToken: string): Promise<UserGrant> {
      const { issuer, resource } = grant;
      return at(grant, keysOf(grant), async (metadata) => {
        const asked = withoutUndefined({ metadata, clientInformation, refreshToken, resource, fetchFn: ask });
        return toGrant(grant, await refreshAuthorization(issuer, asked), grant.scope);
      });
    },

    /** By RFC 7009. False: the issuer takes none back. */
    revoke(grant: UserGrant): Promise<boolean> {
      return at(grant, keysOf(grant), async (metadata) => {
        const endpoint = 'revocation_endpoint' in metadata ? metadata.revocation_endpoint : undefined;
        const { token_endpoint_auth_methods_supported: methods = [] } = metadata;
        if (typeof endpoint !== 'string') return false;
        const isBasic = selectClientAuthMethod(clientInformation, methods) === 'client_secret_basic';
        const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
        const { ok } = await ask(endpoint, {
          method: 'POST',
          headers: isBasic ? { authorization: `Basic ${basic}` } : {},
          body: new URLSearchParams({
            token: grant.refreshToken ?? grant.accessToken,
            ...(isBasic ? {} : clientInformation),
          }),
        });
        return ok;
      });
    },
  };
}

function keysOf({ accessToken, refreshToken = '' }: UserGrant): string[] {
  return [accessToken, refreshToken];
}
