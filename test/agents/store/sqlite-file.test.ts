/** The files of a SQLite store: whose they are, and that one copy of one file is whole. */
import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { openStore } from '../../../src/agents/store/open-store.js';
import { openSqlite } from '../../../src/agents/store/sql/sqlite.js';
import { storeCommand } from '../../../src/cli/commands/store.js';
import { storePlaceOf } from '../../../src/cli/read-config.js';
import { session } from './records.js';

const folder = mkdtempSync(join(tmpdir(), 'winnow-file-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string) => join(folder, name);
const modesOf = (file: string) =>
  [file, `${file}-wal`, `${file}-shm`].filter(existsSync).map((path) => statSync(path).mode & 0o777);

async function openTold(file: string) {
  const notices: string[] = [];
  const store = await openStore({ file }, { onNotice: (notice) => notices.push(notice) });
  return { store, notices };
}

const copy = (...words: string[]) => storeCommand().parseAsync(words, { from: 'user' });

it('a new store is readable by its owner alone, and says that it is new', async () => {
  const { store, notices } = await openTold(at('new.db'));
  await store.sessions.create(session('s'));
  expect(modesOf(at('new.db'))).toEqual([0o600, 0o600, 0o600]);
  expect(notices).toEqual([expect.stringContaining(`a new, empty store was made at ${at('new.db')}`)]);
  await store.close();
  expect(await openTold(at('new.db')).then(({ store: again, notices }) => again.close().then(() => notices))).toEqual(
    [],
  );
});

it('a store that others could read is tightened, with a notice', async () => {
  const file = at('wide.db');
  await (await openStore({ file })).close();
  chmodSync(file, 0o644);
  const { store, notices } = await openTold(file);
  await store.sessions.create(session('s'));
  expect(modesOf(file)).toEqual([0o600, 0o600, 0o600]);
  expect(notices.join()).toMatch(/could read .*wide\.db \(mode 644\)/u);
  await store.close();
});

it('a file that is no store keeps its mode', async () => {
  writeFileSync(at('text.txt'), 'no database at all, but long enough to be read as one'.repeat(20), { mode: 0o644 });
  await expect(openStore({ file: at('text.txt') })).rejects.toMatchObject({ code: 'store_failed' });
  expect(modesOf(at('text.txt'))).toEqual([0o644]);
});

it('the database of another program stays as it is', async () => {
  const { default: Database } = await import('libsql');
  const other = new Database(at('other.sqlite'));
  other.exec('create table bookmarks (url text)');
  chmodSync(at('other.sqlite'), 0o644);
  await expect(openStore({ file: at('other.sqlite') })).rejects.toMatchObject({
    code: 'store_failed',
    message: expect.stringContaining('is the database of another program'),
  });
  expect(modesOf(at('other.sqlite'))).toEqual([0o644]);
  expect(other.prepare('select name from sqlite_master').all()).toEqual([{ name: 'bookmarks' }]);
  other.close();
});

it('after the store is closed, a copy of its one file holds all', async () => {
  const store = await openStore({ file: at('whole.db') });
  await store.sessions.create(session('s'));
  await store.close();
  copyFileSync(at('whole.db'), at('copy.db'));
  const again = await openStore({ file: at('copy.db') });
  expect(await again.sessions.get('s')).toBeDefined();
  await again.close();
});

it('`winnow store backup` copies a store that is open', async () => {
  const store = await openStore({ file: at('open.db') });
  await store.sessions.create(session('s'));
  await copy('backup', at('backup.db'), '--store', at('open.db'));
  expect(modesOf(at('backup.db'))).toEqual([0o600]);
  const again = await openStore({ file: at('backup.db') });
  expect(await again.sessions.get('s')).toBeDefined();
  await again.close();
  await store.close();
});

it.each([
  ['a target that is there', ['backup', at('taken.db'), '--store', at('open.db')], 'invalid_option', 'exists already'],
  ['a store that is not there', ['backup', at('b1.db'), '--store', at('none.db')], 'invalid_option', 'no store'],
  ['no store', ['backup', at('b2.db')], 'invalid_option', '--store'],
  ['PostgreSQL', ['backup', at('b3.db'), '--store', 'postgres://localhost/x'], 'invalid_option', 'pg_dump'],
  ['a folder that is not there', ['backup', at('no/b4.db'), '--store', at('open.db')], 'store_failed', 'no/b4.db'],
  ['a file that is no store', ['backup', at('b5.db'), '--store', at('taken.db')], 'store_failed', 'taken.db'],
])('`winnow store backup` says what is wrong with %s', async (_, words, code, text) => {
  writeFileSync(at('taken.db'), 'mine, and no database, which is longer than its head'.repeat(20));
  await expect(copy(...words)).rejects.toMatchObject({ code, message: expect.stringContaining(text) });
  expect(existsSync(at('b5.db'))).toBe(false);
});

it('a trial of writing fails where nothing can be written', async () => {
  const store = await openStore({ file: at('held.db') }, { busyTimeoutMs: 20 });
  const { default: Database } = await import('libsql');
  const other = new Database(at('held.db'));
  other.prepare('begin immediate').run();
  await expect(store.probe()).rejects.toMatchObject({ code: 'store_failed' });
  other.prepare('rollback').run();
  await expect(store.probe()).resolves.toBeUndefined();
  other.close();
  await store.close();
});

it('a full disk is named with its file, in a single write and in a transaction, and the store works on', async () => {
  const db = await openSqlite<{ notes: { text: string } }>({ file: at('full.db'), busyTimeoutMs: 20 });
  await db.schema.createTable('notes').addColumn('text', 'text').execute();
  await sql`pragma max_page_count = 20`.execute(db);
  const write = (to: typeof db) =>
    to
      .insertInto('notes')
      .values({ text: 'x'.repeat(200_000) })
      .execute();
  const full = {
    code: 'store_failed',
    message: expect.stringMatching(/^The store .*full\.db failed: database or disk is full\.$/u),
  };
  await expect(write(db)).rejects.toMatchObject(full);
  await expect(db.transaction().execute(write)).rejects.toMatchObject(full);
  await db.insertInto('notes').values({ text: 'short' }).execute();
  expect(await db.selectFrom('notes').selectAll().execute()).toEqual([{ text: 'short' }]);
  await db.destroy();
});

it.each([
  ['one slash', 'postgres:/winnow:S3cret@host/a'],
  ['quotes', '"postgres://winnow:S3cret@host/a"'],
])('an address with a slip (%s) is no file, and its password is not shown', async (_, place) => {
  const refused = { code: 'invalid_option', message: expect.not.stringContaining('S3cret') };
  await expect(openStore({ file: place })).rejects.toMatchObject(refused);
  expect(() => storePlaceOf({ store: place })).toThrow('looks like an address');
});
