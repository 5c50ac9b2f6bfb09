/**
 * One process at a time, by a lock file that its owner touches again and again. One that nobody has touched for a while
 * is of a process that died.
 */
import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { throwIfCancelled } from '../../errors.js';

export interface LockOptions {
  signal?: AbortSignal | undefined;
  /** Called once when another owner has to be waited for. */
  onWait?: ((owner: string) => void) | undefined;
  /** So long without a touch means that the owner is dead. Default: 15,000. */
  staleAfterInMs?: number | undefined;
}

/** @throws WinnowError `cancelled` while it waits; else what `run` throws */
export async function withLock<T>(path: string, options: LockOptions, run: () => Promise<T>): Promise<T> {
  const { signal, onWait, staleAfterInMs = 15_000 } = options;
  let isTold = false;
  for (; ; await delay(100, undefined, { signal }).catch(() => undefined)) {
    throwIfCancelled(signal);
    if (await create(path)) break;
    const touched = await stat(path).catch(() => undefined);
    const owner = await readFile(path, 'utf8').catch(() => '');
    if (touched && touched.mtimeMs < Date.now() - staleAfterInMs) await rm(path, { force: true });
    else if (owner !== '' && !isTold) {
      isTold = true;
      onWait?.(owner);
    }
  }
  const touch = () => void utimes(path, new Date(), new Date()).catch(() => undefined);
  const timer = setInterval(touch, staleAfterInMs / 10).unref();
  try {
    return await run();
  } finally {
    clearInterval(timer);
    await rm(path, { force: true });
  }
}

async function create(path: string): Promise<boolean> {
  try {
    await writeFile(path, `process ${process.pid} on ${hostname()}`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (Object(error).code === 'EEXIST') return false;
    throw error;
  }
}
