/**
 * One process at a time, by a lock file that its owner touches again and again. A lock is stale when its owner is dead, or
 * when a waiter has seen no touch for a while. The waiter counts its own looks, so that no clock has to be right.
 */
import { randomUUID } from 'node:crypto';
import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { throwIfCancelled } from '../../errors.js';

export interface LockOptions {
  signal?: AbortSignal | undefined;
  /** Called once when another owner has to be waited for. */
  onWait?: ((owner: string) => void) | undefined;
  /** Default: 250. */
  pollInMs?: number | undefined;
  /** So long without a touch means stale. Default: 30,000. */
  staleAfterInMs?: number | undefined;
}

/** @throws WinnowError `cancelled` while it waits; else what `run` throws */
export async function withLock<T>(path: string, options: LockOptions, run: () => Promise<T>): Promise<T> {
  const { signal, onWait, pollInMs = 250, staleAfterInMs = 30_000 } = options;
  throwIfCancelled(signal);
  const mine = `process ${process.pid} on ${hostname()}\n${randomUUID()}\n`;
  let [last, isTold, unchangedInMs] = ['', false, 0];
  for (; !(await create(path, mine)); await delay(pollInMs, undefined, { signal }).catch(() => undefined)) {
    throwIfCancelled(signal);
    const seen = await readFile(path, 'utf8').catch(() => '');
    const [owner = ''] = seen.split('\n');
    const now = `${seen}${(await stat(path).catch(() => undefined))?.mtimeMs}`;
    unchangedInMs = now === last ? unchangedInMs + pollInMs : 0;
    last = now;
    if (isDead(owner) || unchangedInMs >= staleAfterInMs) await removeIf(path, seen);
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
    await removeIf(path, mine);
  }
}

async function create(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Not where another owner has taken the lock meanwhile. */
async function removeIf(path: string, text: string): Promise<void> {
  if ((await readFile(path, 'utf8').catch(() => undefined)) === text) await rm(path, { force: true });
}

/** Of a process on this machine alone it can be known. */
function isDead(owner: string): boolean {
  const [, pid, host] = /^process (\d+) on (.*)$/u.exec(owner) ?? [];
  if (host !== hostname()) return false;
  try {
    return !process.kill(Number(pid), 0);
  } catch (error) {
    return codeOf(error) === 'ESRCH';
  }
}

/** Code of a system error, read by its form: errors of Node may come from another realm. */
export function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
}
