/**
 * One process at a time, by a lock file that its owner touches again and again. A lock is stale when its
 * owner is dead, or when the waiter has seen no touch for a while; the waiter counts its own looks, so that
 * neither a clock that differs nor a machine that slept makes a living lock stale.
 */
import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { throwIfCancelled } from '../../errors.js';
import { codeOf } from './error-facts.js';

export interface LockOptions {
  signal?: AbortSignal | undefined;
  /** Called once when another owner has to be waited for. */
  onWait?: ((owner: string) => void) | undefined;
  /** Default: 250. */
  pollInMs?: number | undefined;
  /** So long without a touch means stale. Default: 30,000. */
  staleAfterInMs?: number | undefined;
}

const ownerSchema = z.object({ pid: z.int(), host: z.string() });
const TOUCHES_A_STALE_TIME = 10;

interface SeenLock {
  /** The content: names one locking, since each has its own token. */
  text: string;
  mtimeMs: number;
}

/** @throws WinnowError `cancelled` while it waits; else what `run` throws. */
export async function withLock<T>(path: string, options: LockOptions, run: () => Promise<T>): Promise<T> {
  const staleAfterInMs = options.staleAfterInMs ?? 30_000;
  const text = `${JSON.stringify({ pid: process.pid, host: hostname(), token: randomUUID() })}\n`;
  await acquire(path, text, { ...options, staleAfterInMs });
  const touch = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, staleAfterInMs / TOUCHES_A_STALE_TIME);
  touch.unref();
  try {
    return await run();
  } finally {
    clearInterval(touch);
    if ((await look(path))?.text === text) await rm(path, { force: true });
  }
}

async function acquire(path: string, text: string, options: LockOptions & { staleAfterInMs: number }): Promise<void> {
  const { signal, onWait, pollInMs = 250, staleAfterInMs } = options;
  let last: SeenLock | undefined;
  let unchangedInMs = 0;
  for (;;) {
    throwIfCancelled(signal);
    if (await create(path, text)) return;
    const seen = await look(path);
    if (!seen) continue;
    if (!last) onWait?.(ownerOf(seen));
    const isSame = seen.text === last?.text && seen.mtimeMs === last.mtimeMs;
    unchangedInMs = isSame ? unchangedInMs + pollInMs : 0;
    last = seen;
    if (isOwnerDead(seen) || unchangedInMs >= staleAfterInMs) await takeAway(path, seen);
    else await delay(pollInMs, undefined, { signal }).catch(() => undefined);
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

async function look(path: string): Promise<SeenLock | undefined> {
  try {
    return { text: await readFile(path, 'utf8'), mtimeMs: (await stat(path)).mtimeMs };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** By a rename, which only one of several waiters achieves; a lock that is not the stale one is put back. */
async function takeAway(path: string, stale: SeenLock): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
    if ((await readFile(aside, 'utf8')) !== stale.text) await link(aside, path);
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes(codeOf(error) ?? '')) throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

function isOwnerDead(seen: SeenLock): boolean {
  const owner = parseOwner(seen);
  if (owner?.host !== hostname()) return false;
  try {
    process.kill(owner.pid, 0);
    return false;
  } catch (error) {
    return codeOf(error) === 'ESRCH';
  }
}

function ownerOf(seen: SeenLock): string {
  const owner = parseOwner(seen);
  return owner ? `process ${owner.pid} on ${owner.host}` : 'another process';
}

/** Undefined while the owner is still writing it. */
function parseOwner(seen: SeenLock): z.infer<typeof ownerSchema> | undefined {
  try {
    return ownerSchema.parse(JSON.parse(seen.text));
  } catch {
    return undefined;
  }
}
