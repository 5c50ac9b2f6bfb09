/**
 * Tokens that users gave for MCP servers: encrypted, and bound to user, server, its URL and its issuer. No process keeps any,
 * so what another process renewed or removed counts at once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { createAuthorization, type UserGrant } from '../../core/catalog/sources/mcp-authorization.js';
import { NoToken } from '../../core/catalog/sources/mcp-issuer.js';
import { connectionPathOf, type ServerTokens, type UserServer } from '../../core/catalog/sources/mcp-server.js';
import { orUndefined } from '../../core/errors.js';
import { seal, unseal } from '../sealing.js';
import type { Documents } from '../store/sql/keyed-records.js';
import type { AuditRecord, DocumentRecord } from '../store/store.js';

/** A user's place at a server of the configuration. */
export interface ConnectionPlace {
  readonly user: string;
  readonly name: string;
  readonly server: UserServer;
}

export interface Connection extends UserGrant {
  /** UTC, ISO 8601. */
  readonly since: string;
  /** An operator connected it: the tools of the server may be read with it. */
  readonly byOperator: boolean;
}

/** `renewing`: until then one process renews the tokens. */
const contentSchema = z.object({ sealed: z.string(), renewing: z.string().default('') });

interface Found {
  readonly row: DocumentRecord;
  readonly connection: Connection;
  readonly renewing: string;
}

type ConnectionListener = (place: ConnectionPlace) => Promise<void>;

interface UserTokensParts {
  store: Documents;
  /** 32 bytes. */
  key: Buffer;
  /** Default: the system clock. */
  clock?: (() => Date) | undefined;
}

export type UserTokens = ReturnType<typeof createUserTokens>;

/** More than the time-outs of all requests of a renewal. */
const RENEWAL_MS = 120_000;
const PAUSE_MS = 50;

/** Each method throws WinnowError `store_failed`. */
export function createUserTokens({ store, key, clock = () => new Date() }: UserTokensParts) {
  const listeners = new Set<ConnectionListener>();
  const now = () => clock().getTime();
  const tell = (place: ConnectionPlace) => Promise.all([...listeners].map((listener) => listener(place)));

  function toRow(place: ConnectionPlace, connection: Connection): DocumentRecord {
    const content = { sealed: seal(connection, key, placeText('connection', place)) };
    return { owner: place.user, name: place.name, content, updatedAt: clock().toISOString() };
  }

  /** Undefined also for tokens of another place, key or configuration. */
  function open(row: DocumentRecord | undefined, place: ConnectionPlace): Found | undefined {
    const content = contentSchema.safeParse(row?.content).data;
    if (!row || !content) return undefined;
    const text = placeText('connection', place);
    const connection = orUndefined(() => unseal<Connection>(content.sealed, key, text));
    return connection && { row, connection, renewing: content.renewing };
  }

  const find = async (place: ConnectionPlace) => open(await store.get(place.user, place.name), place);

  /** @param refused a token that the server does not take any more. @throws NoToken */
  async function current(place: ConnectionPlace, refused?: string): Promise<Connection> {
    for (;;) {
      const found = await find(place);
      if (!found) throw unconnected(place.name);
      const { accessToken, endsAt = Number.POSITIVE_INFINITY } = found.connection;
      if (accessToken !== refused && now() < endsAt) return found.connection;
      if (found.renewing > clock().toISOString()) await delay(PAUSE_MS);
      else {
        const renewed = await renew(place, found);
        if (renewed) return renewed;
      }
    }
  }

  /** Claims the renewal first, since a refresh token may work only once. Undefined: the row is another one now. */
  async function renew(place: ConnectionPlace, { row, connection }: Found): Promise<Connection | undefined> {
    const at = clock().toISOString();
    const renewing = new Date(now() + RENEWAL_MS).toISOString();
    const claimed = { ...row, content: { ...Object(row.content), renewing }, updatedAt: at };
    if (!(await store.replace(claimed, row))) return undefined;
    try {
      const { since, byOperator } = connection;
      const fresh = { ...(await refreshed(place, connection)), since, byOperator };
      return (await store.replace(toRow(place, fresh), claimed)) ? fresh : undefined;
    } catch (error) {
      const isOver = error instanceof NoToken && error.code === 'invalid_grant';
      const after = isOver ? { ...row, content: null, updatedAt: at } : row;
      await store.replace(after, claimed, isOver ? entryOf('connection_ended', place, at) : undefined);
      if (!isOver) throw error;
      return undefined;
    }
  }

  function refreshed({ name, server }: ConnectionPlace, connection: Connection): Promise<UserGrant> {
    const { refreshToken } = connection;
    if (refreshToken !== undefined) return createAuthorization(server, now).refresh(connection, refreshToken);
    throw new NoToken(`the token for "${name}" is over`, { advice: adviceOn(name), code: 'invalid_grant' });
  }

  /** For requests of one user to one server. */
  function of(place: ConnectionPlace): ServerTokens {
    let keys: readonly string[] = [];
    const take = ({ accessToken, refreshToken = '' }: Connection) => {
      if (keys[0] !== accessToken) keys = [accessToken, refreshToken, ...keys].slice(0, 4);
      return accessToken;
    };
    return {
      keys: () => keys,
      token: async () => take(await current(place)),
      onUnauthorized: async () => void take(await current(place, keys[0])),
    };
  }

  return {
    of,
    find: async (place: ConnectionPlace) => (await find(place))?.connection,

    /** Those of the operator who connected the server first. Undefined: none has. */
    async ofOperator(name: string, server: UserServer): Promise<ServerTokens | undefined> {
      const rows = (await store.list()).filter((row) => row.name === name);
      const found = rows.flatMap((row) => {
        const place = { user: row.owner, name, server };
        const { connection } = open(row, place) ?? {};
        return connection?.byOperator ? [{ place, since: connection.since }] : [];
      });
      const [first] = found.sort((one, other) => (one.since < other.since ? -1 : 1));
      return first && of(first.place);
    },

    async put(place: ConnectionPlace, connection: Connection): Promise<void> {
      const row = toRow(place, connection);
      await store.put(row, entryOf('connection_made', place, row.updatedAt));
      await tell(place);
    },

    async remove(place: ConnectionPlace): Promise<void> {
      // First, since who gives a session back shows its token.
      await tell(place);
      await store.remove(place.user, place.name, entryOf('connection_removed', place, clock().toISOString()));
    },

    /** Calls back where a user connects or disconnects a server. @returns a function that removes the listener */
    onChange(listener: ConnectionListener): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** What a sealed value is bound to. */
export function placeText(what: string, { user, name, server: { url, oauth } }: ConnectionPlace): string {
  return JSON.stringify([what, user, name, url, oauth.clientId, oauth.issuer]);
}

type ConnectionEvent = 'connection_made' | 'connection_ended' | 'connection_removed';

function entryOf(event: ConnectionEvent, { user, name: reason }: ConnectionPlace, at: string): AuditRecord {
  return { event, outcome: 'allowed', user, reason, at };
}

function adviceOn(name: string): string {
  return `Connect it: POST ${connectionPathOf(name)} answers with the address to open in a browser`;
}

function unconnected(name: string): NoToken {
  return new NoToken(`the user has not connected "${name}", or the authorization has ended`, {
    advice: adviceOn(name),
  });
}
