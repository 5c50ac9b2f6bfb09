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
  const { staleAfterInMs = 30_000 } = options;
  const text = `process ${process.pid} on ${hostname()}\n${randomUUID()}\n`;
  await acquire(path, text, { ...options, staleAfterInMs });
  const touch = () => void utimes(path, new Date(), new Date()).catch(() => undefined);
  const timer = setInterval(touch, staleAfterInMs / 10).unref();
  try {
    return await run();
  } finally {
    clearInterval(timer);
    await removeIf(path, text);
  }
}

async function acquire(path: string, text: string, options: LockOptions & { staleAfterInMs: number }): Promise<void> {
  const { signal, onWait, pollInMs = 250, staleAfterInMs } = options;
  let last = '';
  let unchangedInMs = 0;
  for (;;) {
    throwIfCancelled(signal);
    if (await unless('EEXIST', () => writeFile(path, text, { flag: 'wx' }).then(() => true))) return;
    const seen = await readIfThere(path);
    const touched = await unless('ENOENT', () => stat(path));
    if (seen === undefined || !touched) continue;
    const [owner = ''] = seen.split('\n');
    const now = `${seen}${touched.mtimeMs}`;
    unchangedInMs = now === last ? unchangedInMs + pollInMs : 0;
    if (isDead(owner) || unchangedInMs >= staleAfterInMs) {
      await removeIf(path, seen);
      continue;
    }
    if (last === '') onWait?.(owner || 'another process');
    last = now;
    await delay(pollInMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Not where another owner has taken the lock meanwhile. */
async function removeIf(path: string, text: string): Promise<void> {
  if ((await readIfThere(path)) === text) await rm(path, { force: true });
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

function readIfThere(path: string): Promise<string | undefined> {
  return unless('ENOENT', () => readFile(path, 'utf8'));
}

async function unless<T>(code: string, action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    if (codeOf(error) === code) return undefined;
    throw error;
  }
}

/** Code of a system error, read by its form: errors of Node may come from another realm. */
export function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
}
