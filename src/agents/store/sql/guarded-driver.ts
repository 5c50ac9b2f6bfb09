/**
 * A driver that throws `store_failed`, and waits without blocking the event loop while another process writes to the
 * same SQLite file.
 */
import { setTimeout as wait } from 'node:timers/promises';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import { messageOf, WinnowError } from '../../../core/errors.js';

interface GuardOptions {
  /**
   * Statement that begins a transaction. Default: the driver's own. With it, single writes become transactions, too, so
   * that only the beginning can meet a busy database.
   */
  begin?: CompiledQuery;
  /** Whether the same statement may succeed a little later. Default: never. */
  isBusy?: (error: unknown) => boolean;
  /** How long to wait for a busy database, in milliseconds. */
  busyTimeoutMs: number;
  /** Which database it is, in messages, for example its file. Default: only "The store". */
  name?: string | undefined;
  /** Converts a parameter to a value that the database can store. Default: unchanged. */
  toParameter?: (value: unknown) => unknown;
}

const FIRST_WAIT_MS = 1;
const LONGEST_WAIT_MS = 50;

export function guardDriver(driver: Driver, options: GuardOptions): Driver {
  const inner = new WeakMap<DatabaseConnection, DatabaseConnection>();
  const inTransaction = new WeakSet<DatabaseConnection>();
  const unwrap = (connection: DatabaseConnection) => inner.get(connection) ?? connection;
  const guarded = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw toStoreError(error, options);
    }
  };
  return {
    init: (...given) => guarded(() => driver.init(...given)),
    destroy: (...given) => driver.destroy(...given),
    async acquireConnection() {
      const connection = await guarded(() => driver.acquireConnection());
      const wrapped: DatabaseConnection = {
        executeQuery: <Row>(asked: CompiledQuery): Promise<QueryResult<Row>> => {
          const { toParameter } = options;
          const query = toParameter ? { ...asked, parameters: asked.parameters.map(toParameter) } : asked;
          return guarded(() =>
            options.begin && isWrite(query) && !inTransaction.has(wrapped)
              ? asTransaction(connection, query, { ...options, begin: options.begin })
              : whenFree(() => connection.executeQuery<Row>(query), options),
          );
        },
        streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
      };
      inner.set(wrapped, connection);
      return wrapped;
    },
    releaseConnection: (connection) => driver.releaseConnection(unwrap(connection)),
    async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings) {
      if (options.begin) await connection.executeQuery(options.begin);
      else await guarded(() => driver.beginTransaction(unwrap(connection), settings));
      inTransaction.add(connection);
    },
    async commitTransaction(connection) {
      await guarded(() => driver.commitTransaction(connection));
      inTransaction.delete(connection);
    },
    async rollbackTransaction(connection) {
      inTransaction.delete(connection);
      await undo(() => driver.rollbackTransaction(connection));
    },
  };
}

/** Transaction statements are raw; every other statement that is no SELECT writes. */
function isWrite({ query }: CompiledQuery): boolean {
  return query.kind !== 'SelectQueryNode' && query.kind !== 'RawNode';
}

async function asTransaction<Row>(
  connection: DatabaseConnection,
  query: CompiledQuery,
  options: GuardOptions & { begin: CompiledQuery },
): Promise<QueryResult<Row>> {
  await whenFree(() => connection.executeQuery(options.begin), options);
  try {
    const result = await connection.executeQuery<Row>(query);
    await connection.executeQuery(CompiledQuery.raw('commit'));
    return result;
  } catch (error) {
    await undo(() => connection.executeQuery(CompiledQuery.raw('rollback')));
    throw error;
  }
}

async function whenFree<Result>(work: () => Promise<Result>, options: GuardOptions): Promise<Result> {
  const end = performance.now() + options.busyTimeoutMs;
  for (let pause = FIRST_WAIT_MS; ; pause = Math.min(2 * pause, LONGEST_WAIT_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!options.isBusy?.(error) || performance.now() > end) throw error;
      await wait(pause);
    }
  }
}

async function undo(rollback: () => Promise<unknown>): Promise<void> {
  try {
    await rollback();
  } catch {
    // SQLite itself undoes a transaction that met a full disk. This failure would hide the first one.
  }
}

function toStoreError(error: unknown, { name }: GuardOptions): WinnowError {
  if (error instanceof WinnowError) return error;
  const store = name === undefined ? 'The store' : `The store ${name}`;
  return new WinnowError('store_failed', `${store} failed: ${messageOf(error)}.`, { cause: error });
}
