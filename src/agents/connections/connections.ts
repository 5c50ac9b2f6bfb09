/**
 * Users connect MCP servers to their own accounts there: a browser goes to the issuer, comes back with a code, and the code
 * becomes tokens. Only the browser that began can end it, once, within ten minutes.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Catalog } from '../../core/catalog/catalog.js';
import { createAuthorization, type StartedAuthorization } from '../../core/catalog/sources/mcp-authorization.js';
import { NoToken } from '../../core/catalog/sources/mcp-issuer.js';
import { isOfUsers, type McpServer } from '../../core/catalog/sources/mcp-server.js';
import { isLoopback } from '../../core/catalog/sources/source.js';
import { orUndefined, reasonOf, WinnowError } from '../../core/errors.js';
import { type Caller, instantSchema, OPERATOR_ROLE } from '../contracts.js';
import { hiddenTools } from '../policy/decide.js';
import type { Policy } from '../policy/policy.js';
import { seal, unseal } from '../sealing.js';
import { toolsOf } from '../search/down-servers.js';
import type { Documents } from '../store/sql/keyed-records.js';
import { type Connection, type ConnectionPlace, placeText, type UserTokens } from './user-tokens.js';

export const CALLBACK_PATH = '/v1/connections/callback';
const TIME_TO_AUTHORIZE_MS = 600_000;

export const connectionViewSchema = z.object({
  server: z.string(),
  isConnected: z.boolean(),
  since: instantSchema.optional(),
  scope: z.string().optional().describe('What you allowed, as the issuer names it.'),
});
export type ConnectionView = z.infer<typeof connectionViewSchema>;
export const begunSchema = z.object({
  url: z.string().describe('Open it in this browser: there you allow the access.'),
  expiresAt: instantSchema,
});
export const callbackSchema = z.looseObject({
  state: z.string().max(4_096),
  code: z.string().max(4_096).optional(),
  iss: z.string().max(4_096).optional(),
});

/** Sealed in the `state` that goes to the issuer. `browser` is the secret of the browser that began. */
interface State {
  readonly user: string;
  readonly name: string;
  readonly browser: string;
}

interface Begun extends StartedAuthorization, Pick<State, 'browser'>, Pick<Connection, 'byOperator'> {
  /** In milliseconds since 1970. */
  readonly until: number;
}

export interface ConnectionsParts {
  tokens: UserTokens;
  /** Authorizations that have begun. */
  begun: Documents;
  /** 32 bytes. */
  key: Buffer;
  /** The current MCP servers, by name; those that users authorize count. */
  servers: () => Readonly<Record<string, McpServer>>;
  /** Under which browsers reach this server. Default: its address, if that is of this machine. */
  publicUrl?: string | undefined;
  catalog: () => Catalog;
  policy: () => Policy;
  clock: () => Date;
}

export type Connections = ReturnType<typeof createConnections>;

/** Each method throws WinnowError `store_failed`, and `not_found` for a server that the user may not know of. */
export function createConnections(parts: ConnectionsParts) {
  const { tokens, begun, key, catalog, policy, clock } = parts;
  const now = () => clock().getTime();

  const placesOf = ({ user, roles }: Caller & { user: string }): ConnectionPlace[] =>
    Object.entries(parts.servers()).flatMap(([name, server]) => {
      if (!isOfUsers(server)) return [];
      const tools = toolsOf(name, catalog());
      return hiddenTools(policy(), tools, { user, roles }).length < tools.length ? [{ user, name, server }] : [];
    });

  function placeOf(caller: Caller & { user: string }, name: string): ConnectionPlace {
    const place = placesOf(caller).find((one) => one.name === name);
    if (place) return place;
    throw new WinnowError('not_found', `There is no server "${name.slice(0, 80)}" that you connect yourself.`);
  }

  /** @throws WinnowError `source_failed` for a failure of server or issuer */
  async function ask<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      const todo = error instanceof NoToken ? `${error.advice}, or try again` : 'Try again later';
      throw new WinnowError('source_failed', `The server "${name}" is not connected: ${reasonOf(error)}. ${todo}.`);
    }
  }

  return {
    list: (caller: Caller & { user: string }): Promise<ConnectionView[]> =>
      Promise.all(
        placesOf(caller).map(async (place) => {
          const { since, scope } = (await tokens.find(place)) ?? {};
          return { server: place.name, isConnected: since !== undefined, since, scope };
        }),
      ),

    /**
     * @param origin address of this server, in place of `publicUrl`
     * @returns `cookie` for the browser: its name, a `=` and its value
     */
    async begin(caller: Caller & { user: string }, name: string, origin: string) {
      const place = placeOf(caller, name);
      const base = parts.publicUrl ?? origin;
      if (parts.publicUrl === undefined && !isLoopback(new URL(base).hostname))
        throw new WinnowError('invalid_option', NO_ADDRESS);
      const browser = randomBytes(32).toString('base64url');
      const state = seal({ user: place.user, name, browser }, key, 'state');
      const redirectUrl = `${base.replace(/\/$/u, '')}${CALLBACK_PATH}`;
      const { url, started } = await ask(name, () => createAuthorization(place.server, now).begin(redirectUrl, state));
      const byOperator = (caller.roles ?? []).includes(OPERATOR_ROLE);
      const until = now() + TIME_TO_AUTHORIZE_MS;
      const sealed = seal({ ...started, browser, byOperator, until }, key, placeText('begun', place));
      await begun.put({ owner: place.user, name, content: sealed, updatedAt: clock().toISOString() });
      const cookie = `${cookieFor(browser)}; Max-Age=${TIME_TO_AUTHORIZE_MS / 1_000}; HttpOnly; SameSite=Lax`;
      const isSafe = redirectUrl.startsWith('https:');
      return {
        view: { url, expiresAt: new Date(until).toISOString() },
        cookie: `${cookie}; Path=${new URL(redirectUrl).pathname}${isSafe ? '; Secure' : ''}`,
      };
    },

    /**
     * @param cookies the header of the browser that came back
     * @throws WinnowError `forbidden` for a state that is not of this browser, is over, or was used; `source_failed`
     */
    async end({ state, code, iss }: z.infer<typeof callbackSchema>, cookies: string) {
      const { user, name, browser } = orUndefined(() => unseal<State>(state, key, 'state')) ?? refuse();
      const server = parts.servers()[name];
      if (!server || !isOfUsers(server)) return refuse();
      if (!cookies.split(/;\s*/u).includes(cookieFor(browser))) refuse();
      const place = { user, name, server };
      const text = String((await begun.get(user, name))?.content);
      const sealedAt = placeText('begun', place);
      const started = orUndefined(() => unseal<Begun>(text, key, sealedAt)) ?? refuse();
      if (started.browser !== browser || started.until < now()) refuse();
      if (!(await begun.remove(user, name))) refuse();
      if (code === undefined)
        throw new WinnowError('forbidden', `The server "${name}" is not connected: the access was not allowed there.`);
      const grant = await ask(name, () => createAuthorization(server, now).exchange(started, { code, iss }));
      const { byOperator } = started;
      await tokens.put(place, { ...grant, byOperator, since: clock().toISOString() });
      return { user, server: name, byOperator };
    },

    /** @returns whether the issuer took the tokens back */
    async remove(caller: Caller & { user: string }, name: string): Promise<boolean> {
      const place = placeOf(caller, name);
      const connection = await tokens.find(place);
      if (!connection) throw new WinnowError('not_found', `You have not connected the server "${name}".`);
      await tokens.remove(place);
      return createAuthorization(place.server, now)
        .revoke(connection)
        .catch(() => false);
    },
  };
}

const NO_ADDRESS =
  'connections.publicUrl: name the address under which browsers reach this server, such as https://winnow.example.';

/** A name of its own, so that one browser can connect several servers at once. */
function cookieFor(browser: string): string {
  return `winnow-connection-${browser.slice(0, 8)}=${browser}`;
}

function refuse(): never {
  throw new WinnowError(
    'forbidden',
    'Nothing is connected: this browser has not begun it, or it was used, or ten minutes are over. Begin again.',
  );
}
