/** One file is one model, wherever it lies and whenever it came there. */

import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { appendFile, mkdir, readdir, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  createPrefixStore,
  createReadingStore,
  fileIdentity,
  type PrefixStoreOptions,
} from '../../../../src/core/model/embedded/prefix-store.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

describe('prefixes', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });

  const warnings: string[] = [];
  const open = (more: Partial<PrefixStoreOptions> = {}) =>
    createPrefixStore({ folder, identity: 'model a', onWarning: (message) => warnings.push(message), ...more });
  const write = (text: string) => (file: string) => writeFile(file, text);
  const states = async () => (await readdir(folder)).filter((name) => name.endsWith('.state'));
  const never = async () => {
    throw new Error('must not be loaded');
  };

  describe('the store of evaluated prefixes', () => {
    it('gives back what was saved for the same tokens', async () => {
      await open().save([1, 2, 3], write('state'));
      const loaded: string[] = [];
      expect(await open().load([1, 2, 3], async (file) => void loaded.push(file))).toBe(true);
      expect(loaded).toHaveLength(1);
    });

    it.each([
      ['other tokens', {}, [1, 2, 4]],
      ['another model', { identity: 'model b' }, [1, 2, 3]],
    ])('has nothing for %s', async (_, options, tokens) => {
      await open().save([1, 2, 3], write('state'));
      expect(await open(options).load(tokens, never)).toBe(false);
    });

    it('throws a state away that the runtime refuses, with a warning', async () => {
      await open().save([1], write('state'));
      expect(await open().load([1], () => Promise.reject(new Error('too short')))).toBe(false);
      expect(await readdir(folder)).toEqual([]);
      expect(warnings.at(-1)).toContain('is not used: too short');
    });

    it('does without a damaged file that can not be thrown away, and says so once', async () => {
      const store = open();
      await store.save([1], write('state'));
      const [name = ''] = await states();
      await rm(join(folder, name));
      await mkdir(join(folder, name, 'full'), { recursive: true });
      const told = warnings.length;
      for (let time = 0; time < 2; time++) expect(await store.load([1], never)).toBe(false);
      expect(warnings.slice(told)).toEqual([expect.stringContaining('is not used')]);
    });

    it('tells once that nothing can be saved, whichever the prefix', async () => {
      const file = join(folder, 'file');
      await writeFile(file, '');
      const store = open({ folder: join(file, 'prefixes') });
      const told = warnings.length;
      for (const tokens of [[1], [2]]) await expect(store.save(tokens, write('state'))).resolves.toBeUndefined();
      expect(warnings.slice(told)).toEqual([expect.stringContaining(`could not be saved in ${file}`)]);
    });

    it('tells once that a disk refuses, whatever file Node names', async () => {
      const store = open();
      const told = warnings.length;
      for (const file of ['one', 'two']) {
        const error = new Error(`EROFS: read-only file system, open '/cache/${file}'`);
        await store.save([1], () => Promise.reject(error));
      }
      expect(warnings.slice(told)).toEqual([expect.stringContaining('EROFS: read-only file system')]);
    });

    it('keeps what is in use when all together are too large, however long ago it was saved', async () => {
      const store = open({ maxBytes: 10 });
      await store.save([1], write('12345'));
      await store.save([2], write('12345'));
      for (const name of await states()) await utimes(join(folder, name), 1, 1);
      await store.touch([1]);
      await store.save([3], write('12345'));
      expect(await store.load([1], async () => undefined)).toBe(true);
      expect(await store.load([2], never)).toBe(false);
    });

    it('lets what is not there be in use', async () => {
      await expect(open().touch([1])).resolves.toBeUndefined();
    });

    it('lets the oldest go when all together are too large', async () => {
      const store = open({ maxBytes: 10 });
      await store.save([1], write('12345'));
      for (const name of await states()) await utimes(join(folder, name), 1, 1);
      await store.save([2], write('12345'));
      await store.save([3], write('12345'));
      expect(await states()).toHaveLength(2);
      expect(await store.load([1], never)).toBe(false);
    });

    it('takes away what a killed process had begun to write, and nothing that is not its own', async () => {
      for (const name of ['aa.1.part', 'notes.txt']) {
        await writeFile(join(folder, name), 'half a state');
        await utimes(join(folder, name), 1, 1);
      }
      await open({ maxBytes: 10 }).save([2], write('state'));
      expect(await readdir(folder)).toEqual([expect.stringContaining('.state'), 'notes.txt']);
    });

    it('costs only the saving when the disk refuses', async () => {
      const store = open();
      await expect(store.save([1], () => Promise.reject(new Error('disk full')))).resolves.toBeUndefined();
      expect(warnings.at(-1)).toContain('disk full');
      expect(await states()).toEqual([]);
    });
  });

  const MIB = 1024 ** 2;
  /** A file of zeros that takes no room on the disk. */
  function aFile(size: number, place = 'here'): string {
    mkdirSync(join(folder, place), { recursive: true });
    const path = join(folder, place, 'weights.gguf');
    writeFileSync(path, '');
    truncateSync(path, size);
    return path;
  }

  function writeByte(path: string, at: number): void {
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.from([1]), 0, 1, at);
    closeSync(file);
  }

  describe.each([7, 3 * MIB, 100 * MIB])('the identity of a file of %d bytes', (size) => {
    it('is its name, its size and 16 hex digits', () => {
      expect(fileIdentity(aFile(size))).toMatch(new RegExp(`^weights\\.gguf:${size}:[0-9a-f]{16}$`, 'u'));
    });

    it('is that of each copy, whenever it was made', () => {
      const path = aFile(size);
      mkdirSync(join(folder, 'there'), { recursive: true });
      const copy = join(folder, 'there', 'weights.gguf');
      copyFileSync(path, copy);
      utimesSync(copy, 1_000, 1_000);
      expect(fileIdentity(copy)).toBe(fileIdentity(path));
    });

    it.each([
      ['first', 0],
      ['last', size - 1],
    ])('is another where the %s byte is', (_, at) => {
      const path = aFile(size);
      const before = fileIdentity(path);
      writeByte(path, at);
      expect(fileIdentity(path)).not.toBe(before);
    });
  });

  describe('the identity of a large file', () => {
    it('is another where what lies between its ends is', () => {
      const path = aFile(100 * MIB);
      const before = fileIdentity(path);
      const file = openSync(path, 'r+');
      // So close together that every sample holds one.
      for (let at = 2 * MIB; at < 98 * MIB; at += 64 * 1024) writeSync(file, Buffer.from([at % 251]), 0, 1, at);
      closeSync(file);
      expect(fileIdentity(path)).not.toBe(before);
    });
  });
});

describe('readings', () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });

  const open = (identity = 'weights') => createReadingStore({ folder, identity });
  const fileIn = async () => join(folder, (await readdir(folder))[0] ?? '');

  it('are there for the next process, and not for another model', () => {
    open().set('key', [{ name: 'weather', probability: 0.25 }]);
    expect(open().get('key')).toEqual([{ name: 'weather', probability: 0.25 }]);
    expect(open('other weights').get('key')).toBeUndefined();
  });

  it('are for the eyes of their owner: they name tools', async () => {
    open().set('key', 0.5);
    expect((await stat(await fileIn())).mode & 0o777).toBe(0o600);
  });

  it('are kept as the latest says, and beside a line that is broken', async () => {
    const store = open();
    store.set('key', 0.5);
    store.set('key', 0.75);
    await appendFile(await fileIn(), '["cut", 0.\n["no value"]\n["nothing", null]\n["last", 1]\n');
    const next = open();
    expect(next.get('key')).toBe(0.75);
    expect(next.get('last')).toBe(1);
    for (const key of ['cut', 'no value', 'nothing']) expect(next.get(key)).toBeUndefined();
  });

  it('stay where their file has grown too large, in a smaller one', async () => {
    open().set('key', 0.5);
    await truncate(await fileIn(), 17 * 1024 ** 2);
    await appendFile(await fileIn(), '\n["last", 1]\n');
    expect(open().get('last')).toBe(1);
    expect((await stat(await fileIn())).size).toBeLessThan(100);
    open().set('next', 2);
    expect(['last', 'next'].map((key) => open().get(key))).toEqual([1, 2]);
  });

  it('are kept in memory where the disk refuses', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    const store = createReadingStore({ folder: file, identity: 'weights' });
    store.set('key', 0.5);
    expect(store.get('key')).toBe(0.5);
  });
});
