/**
 * SQLite files of one schema for runs with their cases and prompts, and for cached answers. Each
 * write is a transaction in WAL mode, so a killed process leaves a valid file, and several processes may share one.
 */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Generated, Kysely } from 'kysely';
import { z } from 'zod';
import { openSqlite } from '../agents/store/sql/sqlite.js';
import { isObject } from '../core/catalog/schema/json.js';
import { messageOf, orUndefined, WinnowError } from '../core/errors.js';
import { parseAs } from '../core/parse.js';
import { type CaseRecord, caseRecordSchema } from './record.js';
import type { RunSummary } from './run-summary.js';

interface Tables {
  /** At most one row, since a file holds one run. */
  run: { place: number; summary: string };
  /** One row for each case and repeat, in the order in which they ended. */
  cases: { place: Generated<number>; id: string; repeat: number; outcome: CaseRecord['outcome']; record: string };
  prompts: { hash: string; text: string };
  answers: { scope: string; key: string; value: string };
}

export interface RunStore {
  /** Undefined before the first `saveSummary`. */
  summary(): Promise<RunSummary | undefined>;
  saveSummary(summary: RunSummary): Promise<void>;
  /** Finished cases and repeats, named by `keyOf`. */
  doneKeys(): Promise<Set<string>>;
  /** @returns only the new records, since a queue may deliver a result twice */
  keep(records: readonly CaseRecord[]): Promise<CaseRecord[]>;
  /** Written together with the next records. */
  keepPrompt(hash: string, text: string): void;
  /** Removes cases that ended with an error, so that they run again. */
  dropErrors(): Promise<void>;
  records(): AsyncGenerator<CaseRecord>;
  prompts(): Promise<Map<string, string>>;
  /** The value under a key; undefined where there is none that can be read. */
  recall(scope: string, key: string): Promise<unknown>;
  remember(scope: string, key: string, value: unknown): Promise<void>;
  close(): Promise<void>;
}

const BUSY_TIMEOUT_MS = 10_000;
const PAGE = 200;

export const keyOf = (id: string, repeat: number) => `${repeat} ${id}`;

export const runFile = (folder: string) => join(folder, 'run.db');
export const hasRun = (folder: string) => existsSync(runFile(folder));

/** Creates a missing file. @throws WinnowError `store_failed`, also for the database of another program */
export async function openRunStore(file: string): Promise<RunStore> {
  return createRunStore(file, await openTables(file));
}

function createRunStore(file: string, db: Kysely<Tables>): RunStore {
  const unsaved = new Map<string, string>();
  return {
    async summary() {
      const row = await db.selectFrom('run').select('summary').executeTakeFirst();
      return row && parseStored(summarySchema, row.summary, `The summary in ${file}`);
    },
    async saveSummary(summary) {
      const row = { place: 1, summary: JSON.stringify(summary) };
      await db.replaceInto('run').values(row).execute();
    },
    async doneKeys() {
      const rows = await db.selectFrom('cases').select(['id', 'repeat']).execute();
      return new Set(rows.map(({ id, repeat }) => keyOf(id, repeat)));
    },
    keep: (records) =>
      db.transaction().execute(async (transaction) => {
        for (const [hash, text] of unsaved) {
          await transaction
            .insertInto('prompts')
            .values({ hash, text })
            .onConflict((row) => row.doNothing())
            .execute();
          unsaved.delete(hash);
        }
        const rows = records.map((record) => {
          const { id, repeat, outcome } = record;
          return { id, repeat, outcome, record: JSON.stringify(record) };
        });
        const insert = transaction
          .insertInto('cases')
          .values(rows)
          .onConflict((other) => other.doNothing());
        const added = await insert.returning(['id', 'repeat']).execute();
        const keys = new Set(added.map(({ id, repeat }) => keyOf(id, repeat)));
        return records.filter(({ id, repeat }) => keys.delete(keyOf(id, repeat)));
      }),
    keepPrompt: (hash, text) => void unsaved.set(hash, text),
    async dropErrors() {
      await db.deleteFrom('cases').where('outcome', '=', 'error').execute();
    },
    async *records() {
      for (let last = 0; ; ) {
        const page = db.selectFrom('cases').selectAll().where('place', '>', last);
        const rows = await page.orderBy('place').limit(PAGE).execute();
        for (const { id, repeat, record } of rows)
          yield parseStored(caseRecordSchema, record, `Case "${id}" (repeat ${repeat}) in ${file}`);
        if (rows.length < PAGE) return;
        last = rows.at(-1)?.place ?? last;
      }
    },
    async prompts() {
      const rows = await db.selectFrom('prompts').select(['hash', 'text']).execute();
      return new Map(rows.map(({ hash, text }) => [hash, text]));
    },
    async recall(scope, key) {
      const found = db.selectFrom('answers').select('value').where('scope', '=', scope).where('key', '=', key);
      const row = await found.executeTakeFirst();
      return row && orUndefined(() => JSON.parse(row.value));
    },
    async remember(scope, key, value) {
      await db
        .replaceInto('answers')
        .values({ scope, key, value: JSON.stringify(value) })
        .execute();
    },
    close: () => db.destroy(),
  };
}

/** The keys that every part of Winnow reads; `readSummary` refuses another format. */
const summarySchema = z.custom<RunSummary>((value) => {
  if (!isObject(value)) return false;
  const { format, settings, counts, suites, metrics } = value;
  return format !== 1 || (isObject(settings) && isObject(counts) && Array.isArray(suites) && Array.isArray(metrics));
}, 'is no summary of a run');

/** @param what is stored, and where. @throws WinnowError `store_failed` for text of another form */
function parseStored<Schema extends z.ZodType>(schema: Schema, text: string, what: string): z.output<Schema> {
  const problem = `${what} is damaged, or of another version of Winnow; put back a copy of the file, or run the cases anew`;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new WinnowError('store_failed', `${problem}: ${messageOf(cause)}.`, { cause });
  }
  return parseAs(schema, value, { code: 'store_failed', problem });
}

const TABLES = ['run', 'cases', 'prompts', 'answers'] as const satisfies (keyof Tables)[];

async function openTables(file: string): Promise<Kysely<Tables>> {
  try {
    mkdirSync(dirname(file), { recursive: true });
  } catch (cause) {
    throw new WinnowError('store_failed', `The folder of ${file} can't be made: ${messageOf(cause)}.`, { cause });
  }
  const db = await openSqlite<Tables>({ file, busyTimeoutMs: BUSY_TIMEOUT_MS, marks: TABLES });
  try {
    // All at once, so that a killed process leaves no file that counts as one of another program.
    await db.transaction().execute(createTables);
    return db;
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

async function createTables({ schema }: Kysely<Tables>): Promise<void> {
  const table = (name: keyof Tables) => schema.createTable(name).ifNotExists();
  const tables = [
    table('run')
      .addColumn('place', 'integer', (column) => column.primaryKey())
      .addColumn('summary', 'text'),
    table('cases')
      .addColumn('place', 'integer', (column) => column.primaryKey().autoIncrement())
      .addColumn('id', 'text')
      .addColumn('repeat', 'integer')
      .addColumn('outcome', 'text')
      .addColumn('record', 'text')
      .addUniqueConstraint('one_a_try', ['id', 'repeat']),
    table('prompts')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('text', 'text'),
    table('answers')
      .addColumn('scope', 'text')
      .addColumn('key', 'text')
      .addColumn('value', 'text')
      .addPrimaryKeyConstraint('one_a_key', ['scope', 'key']),
  ];
  for (const one of tables) await one.execute();
}

/** Works with a store, and closes it. */
export async function usingStore<Result>(store: RunStore, work: (store: RunStore) => Promise<Result>): Promise<Result> {
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/**
 * Opens the store of an existing run for the time of the work. It creates nothing.
 * @throws WinnowError `not_found`; `store_failed` for the database of another program
 */
export async function withRun<Result>(folder: string, work: (store: RunStore) => Promise<Result>): Promise<Result> {
  if (!hasRun(folder)) throw new WinnowError('not_found', `There is no run in ${folder}: it has no run.db.`);
  const file = runFile(folder);
  const db = await openSqlite<Tables>({ file, busyTimeoutMs: BUSY_TIMEOUT_MS, marks: TABLES, mustHaveTables: true });
  return usingStore(createRunStore(file, db), work);
}

/** @throws WinnowError `not_found`, `store_failed` */
export async function readSummary(folder: string): Promise<RunSummary> {
  const summary = await withRun(folder, (store) => store.summary());
  if (summary?.format === 1) return summary;
  const what = summary ? 'another version of Winnow wrote it' : 'it ended before its first case';
  throw new WinnowError('not_found', `There is no run in ${folder} that can be read: ${what}.`);
}

/** Their folders. @throws WinnowError `not_found` where there is no such folder */
export function runsIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return entries.map(({ name }) => join(folder, name)).filter(hasRun);
  } catch (cause) {
    throw new WinnowError('not_found', `There is no folder of runs at ${folder}.`, { cause });
  }
}
