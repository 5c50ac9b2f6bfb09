/** The files of a SQLite store: readable by their owner only; backups work while a server writes. */
import { chmodSync, closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { messageOf, WinnowError } from '../../../core/errors.js';

const OWNER_ONLY = 0o600;
const OF_OTHERS = 0o077;

/** Creates an empty file that only its owner can read; SQLite's other files get the same mode. False: it existed. */
export function createPrivateFile(file: string): boolean {
  try {
    closeSync(openSync(file, 'ax', OWNER_ONLY));
    return true;
  } catch (error) {
    if (Object(error).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes the permissions of other users from an existing store. Does nothing on Windows, which has no such modes.
 * @returns one notice for each file that was changed or could not be
 */
export function tightenFiles(file: string): string[] {
  if (process.platform === 'win32') return [];
  const open = [file, `${file}-wal`, `${file}-shm`].filter(
    (path) => existsSync(path) && (statSync(path).mode & OF_OTHERS) !== 0,
  );
  return open.map((path) => {
    const mode = (statSync(path).mode & 0o777).toString(8);
    try {
      chmodSync(path, OWNER_ONLY);
      return `other users of this machine could read ${path} (mode ${mode}); now only its owner can (600)`;
    } catch (error) {
      return `other users of this machine can read ${path} (mode ${mode}), and it can't be changed: ${messageOf(error)}`;
    }
  });
}

/**
 * A consistent copy of the store, in one file of mode 0600. Servers may write meanwhile.
 * @throws WinnowError `invalid_option` where the target exists or the store does not, `store_failed`
 */
export async function backUpSqlite(file: string, target: string): Promise<void> {
  if (!existsSync(file)) throw new WinnowError('invalid_option', `There is no store ${file}. Name that of the server.`);
  const { default: Database } = await loadNative();
  try {
    if (!createPrivateFile(target))
      throw new WinnowError('invalid_option', `The target ${target} exists already. Name a file that does not.`);
    const database = new Database(file);
    try {
      database.prepare('vacuum into ?').run(target);
    } catch (error) {
      rmSync(target, { force: true });
      throw error;
    } finally {
      database.close();
    }
  } catch (error) {
    if (error instanceof WinnowError) throw error;
    const message = `The store ${file} can't be copied to ${target}: ${messageOf(error)}`;
    throw new WinnowError('store_failed', message, { cause: error });
  }
}

/** @throws WinnowError `store_failed` */
export async function loadNative(): Promise<{ readonly default: typeof import('libsql') }> {
  try {
    return await import('libsql');
  } catch (error) {
    throw new WinnowError(
      'store_failed',
      "The native package of SQLite (libsql) can't be loaded on this machine. Install it for this platform. A " +
        'server can do without it: give the URL of a PostgreSQL database as its store.',
      { cause: error },
    );
  }
}
