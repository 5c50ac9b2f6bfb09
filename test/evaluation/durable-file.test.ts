import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type DurableFile, openDurableFile } from '../../src/evaluation/durable-file.js';
import { aFolder } from './setup.js';

/** A disk that is told when to end its work. */
function createDisk() {
  const waiting: { end: () => void; fail: (error: Error) => void }[] = [];
  let told: () => void = () => undefined;
  return {
    sync: () =>
      new Promise<void>((end, fail) => {
        waiting.push({ end, fail });
        told();
      }),
    /** Resolves when it was asked so often in all. */
    asked: (count: number) =>
      new Promise<void>((resolve) => {
        told = () => {
          if (waiting.length >= count) resolve();
        };
        told();
      }),
    count: () => waiting.length,
    end: (place: number) => waiting[place]?.end(),
    fail: (place: number, code: string) => waiting[place]?.fail(Object.assign(new Error(code), { code })),
  };
}

const NEVER_MS = 1_000_000;
const aPath = () => join(aFolder(), 'lines');
const open = new Set<DurableFile>();
function openFile(...given: Parameters<typeof openDurableFile>): DurableFile {
  const file = openDurableFile(...given);
  open.add(file);
  return file;
}
afterEach(() => {
  for (const file of open) file.close();
  open.clear();
});

describe('a durable file', () => {
  it('holds what was appended at once, behind what was there', () => {
    const path = aPath();
    openDurableFile(path).close();
    for (const text of ['a\n', '盘\n']) {
      const file = openDurableFile(path);
      file.append(text);
      expect(readFileSync(path, 'utf8')).toMatch(new RegExp(`${text}$`, 'u'));
      file.close();
    }
    expect(readFileSync(path, 'utf8')).toBe('a\n盘\n');
  });

  it('has the disk write a whole second of it in one go', async () => {
    const disk = createDisk();
    const file = openFile(aPath(), { everyMs: 1, sync: disk.sync });
    for (let line = 0; line < 100; line++) file.append('x\n');
    await disk.asked(1);
    disk.end(0);
    await file.synced();
    expect(disk.count()).toBe(1);
    file.append('y\n');
    await disk.asked(2);
    disk.end(1);
  });

  it('is synced when the disk has what was there at that time, and not before', async () => {
    const disk = createDisk();
    const file = openFile(aPath(), { everyMs: NEVER_MS, sync: disk.sync });
    await file.synced();
    expect(disk.count()).toBe(0);
    const ended: string[] = [];
    file.append('first');
    const first = file.synced().then(() => ended.push('first'));
    await disk.asked(1);
    file.append('second');
    const second = file.synced().then(() => ended.push('second'));
    disk.end(0);
    await first;
    expect(ended).toEqual(['first']);
    await disk.asked(2);
    disk.end(1);
    await second;
  });

  it('takes nothing more from the moment on at which the disk failed', async () => {
    const disk = createDisk();
    const file = openDurableFile(aPath(), { everyMs: NEVER_MS, sync: disk.sync });
    file.append('a');
    const synced = file.synced();
    disk.fail(0, 'EIO');
    await expect(synced).rejects.toMatchObject({ code: 'store_failed' });
    expect(() => file.append('b')).toThrow('the disk does not keep');
    expect(() => file.close()).toThrow('the disk does not keep');
  });

  it('goes on where the system knows no such call', async () => {
    const disk = createDisk();
    const file = openFile(aPath(), { everyMs: NEVER_MS, sync: disk.sync });
    file.append('a');
    const synced = file.synced();
    disk.fail(0, 'EINVAL');
    await synced;
    file.append('b');
  });

  it('can be closed while the disk is at work', async () => {
    const path = aPath();
    const disk = createDisk();
    const file = openDurableFile(path, { everyMs: 1, sync: disk.sync });
    file.append('a');
    await disk.asked(1);
    file.close();
    disk.end(0);
    expect(readFileSync(path, 'utf8')).toBe('a');
  });

  it('says where it can not be opened', () => {
    expect(() => openDurableFile(join(aFolder(), 'none', 'lines'))).toThrow("can't be opened for writing");
  });
});
