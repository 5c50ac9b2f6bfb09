/**
 * SQLite in one file or in memory, by the native package `libsql`, which is loaded on demand. WAL and
 * `synchronous=FULL` make acknowledged writes durable.
 */
import {
  CamelCasePlugin,
  CompiledQuery,
  Kysely,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { messageOf, WinnowError } from '../../../core/errors.js';
import { createOpening } from '../../../core/kept.js';
import { guardDriver } from './guarded-driver.js';
import { migrate } from './migrations.js';
import { createPrivateFile, loadNative, tightenFiles } from './sqlite-file.js';
import type { Tables } from './tables.js';

type Native = Awaited<ReturnType<typeof loadNative>>;

interface SqliteOptions {
  /** Path of the file, created if missing; its folder must exist. Undefined: in memory. */
  file: string | undefined;
  busyTimeoutMs: number;
  /** Called when the store is new, or when others could read it. */
  onNotice?: ((notice: string) => void) | undefined;
  /** SQL that creates the tables of an empty database. Default: none. */
  schema?: string;
  /** Tables that the file has if it has any; else it belongs to another program. Default: any file is taken. */
  marks?: readonly string[];
  /** Refuses an existing file without tables, which it leaves as it is. Default: the file is taken. */
  mustHaveTables?: boolean;
}

// A transaction that reads before it writes could fail as busy in the middle.
const BEGIN = 'begin immediate';

/** SQLite can roll back schema changes; so two processes that open a new file together migrate it once. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** @throws WinnowError `store_failed` */
export async function openSqlite<Schema = Tables>(options: SqliteOptions): Promise<Kysely<Schema>> {
  const { file, busyTimeoutMs } = options;
  const database = await openFile(options);
  return new Kysely<Schema>({
    plugins: [new CamelCasePlugin()],
    dialect: {
      createAdapter: () => new TransactionalSqliteAdapter(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createDriver: () =>
        guardDriver(new SqliteDriver({ database }), {
          begin: CompiledQuery.raw(BEGIN),
          isBusy: (error) => String(Object(error).code).startsWith('SQLITE_BUSY'),
          busyTimeoutMs,
          name: file,
        }),
    },
  });
}

/** In memory, with the tables of this version. @throws WinnowError `store_failed` */
export async function openMemory(busyTimeoutMs: number): Promise<Kysely<Tables>> {
  return openSqlite({ file: undefined, busyTimeoutMs, schema: await tables.get() });
}

/** As SQL, once per process: running all migrations on an empty database takes ten times as long. */
const tables = createOpening(async () => {
  const database = await openSqlite({ file: undefined, busyTimeoutMs: 0 });
  await migrate(database, 'sqlite');
  const made = await sql<{ sql: string }>`
    select sql from sqlite_master where sql is not null and name not like 'sqlite_%'`.execute(database);
  await database.destroy();
  return made.rows.map((row) => `${row.sql};`).join('\n');
});

/** @throws WinnowError `store_failed` for a file of other tables, `not_found` for one that has none but must */
function refuseOther(database: InstanceType<Native['default']>, options: SqliteOptions): void {
  const { file, marks = [], mustHaveTables = false } = options;
  const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
  const names = tables.map((table) => Object(table).name);
  if (names.length === 0 && mustHaveTables) throw new WinnowError('not_found', `${file} holds nothing yet.`);
  if (names.length === 0 || marks.every((mark) => names.includes(mark))) return;
  throw new WinnowError('store_failed', `${file} is the database of another program. Name a file of Winnow's own.`);
}

async function openFile(options: SqliteOptions): Promise<SqliteDatabase> {
  const { file, busyTimeoutMs, onNotice, schema = '' } = options;
  const { default: Database } = await loadNative();
  try {
    const isNew = file !== undefined && createPrivateFile(file);
    const database = new Database(file ?? ':memory:');
    const set = (setting: string) => database.prepare(`PRAGMA ${setting}`).all();
    // The driver can't wait while another process makes the file, so SQLite does; later waits don't block the event loop.
    set(`busy_timeout = ${busyTimeoutMs}`);
    try {
      refuseOther(database, options);
    } catch (error) {
      database.close();
      throw error;
    }
    for (const setting of ['journal_mode = WAL', 'synchronous = FULL', 'busy_timeout = 0']) set(setting);
    database.exec(schema);
    if (isNew) onNotice?.(`a new, empty store was made at ${file}; if there should have been one, check the path`);
    for (const notice of file === undefined ? [] : tightenFiles(file)) onNotice?.(notice);
    // libsql 0.5 leaves a statement that failed as busy in progress, which blocks all commits until the same statement
    // runs again (tursodatabase/libsql-client-ts issue 352). So one prepared `begin` is reused.
    const begin = database.prepare(BEGIN);
    return {
      prepare: (text) => (text === BEGIN ? begin : database.prepare(text)),
      close() {
        // A copy of the file alone would lack what is only in the -wal file.
        try {
          database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
        } catch {
          // A full disk or an open transaction: the -wal file keeps its content for the next start.
        }
        database.close();
      },
    };
  } catch (error) {
    if (error instanceof WinnowError) throw error;
    const message = messageOf(error);
    throw new WinnowError(
      'store_failed',
      `The store ${file ?? 'in memory'} can't be opened: ${message}. Check that it is a file that can be read, in a folder that can be written.`,
      { cause: error },
    );
  }
}
