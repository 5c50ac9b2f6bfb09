/** Opens a store. Native packages and drivers are loaded on demand. */
import { WinnowError } from '../../core/errors.js';
import type { Store } from './sql/sql-store.js';

export type StorePlace =
  /** SQLite in one file, created if missing. */
  | { file: string }
  /** PostgreSQL: `postgres://user@host:port/database`. */
  | { url: string };

export interface OpenOptions {
  /** How long to wait for a database that another process has locked, in milliseconds. Default: 5,000. */
  busyTimeoutMs?: number;
  /** PostgreSQL: maximum of connections. Default: 24, more than one user's concurrent requests. */
  connections?: number;
  /** SQLite: called when the store is new, or when others could read it. Default: not called. */
  onNotice?: ((notice: string) => void) | undefined;
}

/**
 * Sessions, approvals, audit and runs: in a SQLite file, in PostgreSQL, or in memory.
 * @param place default: SQLite in memory, for tests and for data that may be lost at the end
 * @throws WinnowError `store_failed`; `invalid_option` for an invalid place
 * @example
 * const store = await openStore({ file: 'agents.db' });
 */
export async function openStore(place?: StorePlace, options: OpenOptions = {}): Promise<Store> {
  const { busyTimeoutMs = 5_000, connections = 24, onNotice } = options;
  const { createSqlStore } = await import('./sql/sql-store.js');
  if (place && 'url' in place) {
    if (!/^postgres(?:ql)?:\/\//u.test(place.url))
      throw new WinnowError('invalid_option', 'The URL of a store begins with postgres:// or postgresql://.');
    const { openPostgres } = await import('./sql/postgres.js');
    return createSqlStore(await openPostgres({ url: place.url, connections, busyTimeoutMs }), 'postgres');
  }
  const { openMemory, openSqlite } = await import('./sql/sqlite.js');
  if (!place) return createSqlStore(await openMemory(busyTimeoutMs));
  requireFile(place.file);
  if (place.file === '' || place.file === ':memory:')
    throw new WinnowError('invalid_option', 'The file of a store needs a path; leave the place out for one in memory.');
  return createSqlStore(await openSqlite({ file: place.file, busyTimeoutMs, onNotice, marks: [MIGRATIONS] }), 'sqlite');
}

/** The table of Kysely's migrations. */
const MIGRATIONS = 'kysely_migration';

/** @throws WinnowError `invalid_option` for a URL; the message omits it, since it may hold a password */
export function requireFile(file: string): void {
  if (!/^\W*postgres(?:ql)?:|:\/\//iu.test(file)) return;
  const message = 'The place of the store looks like an address: write it as postgres://…, without quotes.';
  throw new WinnowError('invalid_option', message);
}
