/** PostgreSQL, by the package `pg`, which is loaded here and only when a store with a URL is asked for. */
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
  /** Most connections at a time. */
  connections: number;
  /** How long a connection is waited for, in milliseconds. */
  busyTimeoutMs: number;
}

const BIGINT_TYPE = 20;
/** A transaction that stands still, as of a process that is paused, and a statement end after so many times the wait for a lock. */
const IDLE_WAITS = 2;
const STATEMENT_WAITS = 6;
/** A server that says nothing for longer than any statement may take can't be reached: its connection ends. */
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
      // Counters are far below 2^53; as texts they would not compare.
      getTypeParser: (type, format) =>
        type === BIGINT_TYPE && format !== 'binary' ? Number : pg.types.getTypeParser(type, format),
    },
  });
  // A connection that breaks is replaced by the pool. Without listeners for idle ones and those in use it would end the
  // process.
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

/** After a partition nothing comes, not even the end of the connection. */
function endingSocket(silentMs: number): Socket {
  const socket = new Socket();
  return socket.setTimeout(silentMs, () => socket.destroy(new Error(`PostgreSQL was silent for ${silentMs / 1000} s`)));
}

/** PostgreSQL has no texts with a NUL: where others would write or look one up, this does it with a replacement character. */
function withoutNul(value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value;
}
