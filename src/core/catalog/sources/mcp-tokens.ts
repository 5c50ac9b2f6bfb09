/** Tokens for an MCP server, for configured client credentials (RFC 6749, section 4.4). Only this server receives them. */
import { ClientCredentialsProvider, extractWWWAuthenticateParams, fetchToken } from '@modelcontextprotocol/client';
import { withoutUndefined } from '../schema/json.js';
import { createIssuer } from './mcp-issuer.js';
import { isOfUsers, type McpServer, type ServerTokens } from './mcp-server.js';

/** Share of a token's lifetime in which it is used: one that expires in transit is refused. */
export const USED_SHARE = 0.9;

/** Undefined if the server's configuration has no client credentials. */
export function createServerTokens(server: McpServer): ServerTokens | undefined {
  if (!('url' in server) || server.oauth === undefined || isOfUsers(server)) return undefined;
  const { oauth } = server;
  const { clientId, clientSecret = '', scope } = oauth;
  const { locate, at, ask } = createIssuer({ ...server, oauth });
  let keys: readonly string[] = [];
  let endsAt = 0;
  let renewal: Promise<void> | undefined;

  /** @param described URL of the server's resource metadata, as its 401 response names it */
  async function fetchTokens(described: URL | undefined): Promise<void> {
    const place = await locate(described);
    const { issuer, resource } = place;
    const fetched = await at(place, keys, (metadata) => {
      const given = withoutUndefined({ clientId, clientSecret, scope });
      const provider = new ClientCredentialsProvider({ ...given, expectedIssuer: issuer });
      return fetchToken(provider, issuer, withoutUndefined({ metadata, resource, fetchFn: ask }));
    });
    const {
      access_token: token,
      refresh_token: refresh = '',
      expires_in: seconds = Number.POSITIVE_INFINITY,
    } = fetched;
    keys = [token, refresh, ...keys].slice(0, 4);
    endsAt = performance.now() + USED_SHARE * 1_000 * seconds;
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
