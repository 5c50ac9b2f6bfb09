/** PostgreSQL, by the package `pg`, which is loaded only for a store with a URL. */
import { Socket } from 'node:net';
import {
  CamelCasePlugin,
  Kysely,
  PostgresAdapter,
  PostgresDriver,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import { loadOptional } from '../../../core/optional-package.js';
import { guardDriver } from './guarded-driver.js';
import type { Tables } from './tables.js';

interface PostgresOptions {
  /** `postgres://user@host:port/database`. */
  url: string;
  /** Maximum of connections. */
  connections: number;
  /** How long to wait for a connection, in milliseconds. */
  busyTimeoutMs: number;
}

const BIGINT_TYPE = 20;
/** Time-outs of idle transactions (say, of a paused process) and statements, as multiples of the lock time-out. */
const IDLE_WAITS = 2;
const STATEMENT_WAITS = 6;
/** A server that is silent for longer than the statement time-out is unreachable: the connection ends. */
const SILENT_WAITS = STATEMENT_WAITS + 1;

/** @throws WinnowError `invalid_option` where `pg` is not installed */
export async function openPostgres({ url, connections, busyTimeoutMs }: PostgresOptions): Promise<Kysely<Tables>> {
  const { default: pg } = await loadOptional(() => import('pg'), {
    packages: ['pg'],
    neededBy: 'A store with a postgres:// URL',
  });
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: busyTimeoutMs,
    lock_timeout: busyTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_WAITS * busyTimeoutMs,
    statement_timeout: STATEMENT_WAITS * busyTimeoutMs,
    stream: () => endingSocket(SILENT_WAITS * busyTimeoutMs),
    types: {
      // Counters are far below 2^53; as strings they would not compare.
      getTypeParser: (type, format) =>
        type === BIGINT_TYPE && format !== 'binary' ? Number : pg.types.getTypeParser(type, format),
    },
  });
  // The pool replaces broken connections. Without these listeners, errors of idle or used ones would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return new Kysely<Tables>({
    plugins: [new CamelCasePlugin()],
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createDriver: () => guardDriver(new PostgresDriver({ pool }), { busyTimeoutMs, toParameter: withoutNul }),
    },
  });
}

/** After a network partition nothing arrives, not even the end of the connection. */
function endingSocket(silentMs: number): Socket {
  const socket = new Socket();
  return socket.setTimeout(silentMs, () => socket.destroy(new Error(`PostgreSQL was silent for ${silentMs / 1000} s`)));
}

/** PostgreSQL can't store NUL in texts: replaces it in writes and queries. */
function withoutNul(value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value;
}
