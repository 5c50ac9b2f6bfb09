import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { withLock } from '../../../../src/core/model/store/lock.js';
import { errorOf } from './store-setup.js';

/** Above the largest process number of any platform. */
const DEAD_PID = 2 ** 30;

let folder: string;
let lock: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-lock-'));
  lock = join(folder, 'lock');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const lockOf = (pid: number, host: string) => writeFile(lock, `process ${pid} on ${host}\nother\n`);
const waiting = { pollInMs: 1, staleAfterInMs: 60_000 };

describe('the lock', () => {
  it('lets one in at a time and leaves nothing behind', async () => {
    let inside = 0;
    let most = 0;
    const enter = () =>
      withLock(lock, waiting, async () => {
        most = Math.max(most, ++inside);
        await new Promise((resolve) => setTimeout(resolve, 2));
        inside--;
      });
    await Promise.all([enter(), enter(), enter(), enter()]);
    expect(most).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });

  it('is given back when the work fails', async () => {
    await expect(withLock(lock, waiting, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await readdir(folder)).toEqual([]);
  });

  it('is taken from an owner who is dead', async () => {
    await lockOf(DEAD_PID, hostname());
    expect(await withLock(lock, waiting, async () => 'done')).toBe('done');
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    ['on another machine', () => lockOf(DEAD_PID, 'elsewhere')],
    ['whose process number now belongs to another program', () => lockOf(process.pid, hostname())],
    ['who died while writing it', () => writeFile(lock, 'proc')],
  ])('is taken from an owner %s after a while without a touch', async (_case, write) => {
    await write();
    expect(await withLock(lock, { pollInMs: 1, staleAfterInMs: 5 }, async () => 'done')).toBe('done');
  });

  it('is not taken from an owner who touches it, however long it takes', async () => {
    const short = { pollInMs: 1, staleAfterInMs: 200 };
    const order: string[] = [];
    let isHeld = () => {};
    const held = new Promise<void>((resolve) => {
      isHeld = resolve;
    });
    const first = withLock(lock, short, async () => {
      isHeld();
      await new Promise((resolve) => setTimeout(resolve, 600));
      order.push('first');
    });
    await held;
    await withLock(lock, short, async () => order.push('second'));
    await first;
    expect(order).toEqual(['first', 'second']);
  });

  it('tells once for whom a waiter waits, and lets a waiter cancel', async () => {
    await lockOf(process.pid, hostname());
    const owners: string[] = [];
    const controller = new AbortController();
    const onWait = (owner: string) => {
      owners.push(owner);
      setTimeout(() => controller.abort(), 20);
    };
    const error = await errorOf(withLock(lock, { ...waiting, signal: controller.signal, onWait }, async () => 'never'));
    expect(error.code).toBe('cancelled');
    expect(owners).toEqual([`process ${process.pid} on ${hostname()}`]);
    expect(await readdir(folder)).toEqual(['lock']);
  });
});
