import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { withLock } from '../../../../src/core/model/store/model-file.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { errorOf } from './store-setup.js';

let folder: string;
let lock: string;
beforeEach(async () => {
  folder = temporaryFolder();
  lock = join(folder, 'lock');
});

const other = () => writeFile(lock, 'process 1 on elsewhere');

describe('the lock', () => {
  it('lets one in at a time and leaves nothing behind', async () => {
    let inside = 0;
    let most = 0;
    const enter = () =>
      withLock(lock, {}, async () => {
        most = Math.max(most, ++inside);
        await new Promise((resolve) => setTimeout(resolve, 2));
        inside--;
      });
    await Promise.all([enter(), enter(), enter(), enter()]);
    expect(most).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });

  it('is given back when the work fails', async () => {
    await expect(withLock(lock, {}, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await readdir(folder)).toEqual([]);
  });

  it('is taken from an owner who has not touched it for a while', async () => {
    await other();
    await utimes(lock, 1, 1);
    expect(await withLock(lock, {}, async () => 'done')).toBe('done');
    expect(await readdir(folder)).toEqual([]);
  });

  it('is not taken from an owner who touches it, however long it takes', async () => {
    const short = { staleAfterInMs: 200 };
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
    await other();
    const owners: string[] = [];
    const controller = new AbortController();
    const onWait = (owner: string) => {
      owners.push(owner);
      setTimeout(() => controller.abort(), 20);
    };
    const error = await errorOf(withLock(lock, { ...{}, signal: controller.signal, onWait }, async () => 'never'));
    expect(error.code).toBe('cancelled');
    expect(owners).toEqual(['process 1 on elsewhere']);
    expect(await readdir(folder)).toEqual(['lock']);
  });
});
