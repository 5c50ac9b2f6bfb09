import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createPrefixStore, type PrefixStoreOptions } from '../../../../src/core/model/embedded/prefix-store.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-store-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

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

  it.each([
    ['state', 'stat3', 'checksum'],
    ['json', '{"bytes": 5', 'header'],
    ['json', '{"bytes": 5}', 'header'],
  ])('throws a damaged .%s away with a warning, and never loads it: %s', async (ending, content, reason) => {
    await open().save([1], write('state'));
    const name = (await readdir(folder)).find((name) => name.endsWith(`.${ending}`));
    await writeFile(join(folder, name ?? ''), content);
    expect(await open().load([1], never)).toBe(false);
    expect(await readdir(folder)).toEqual([]);
    expect(warnings.at(-1)).toContain(`was thrown away: its ${reason}`);
  });

  it('does without a damaged file that can not be thrown away, and says so once', async () => {
    const store = open();
    await store.save([1], write('state'));
    const [name = ''] = await states();
    await rm(join(folder, name));
    await mkdir(join(folder, name, 'full'), { recursive: true });
    const told = warnings.length;
    for (let time = 0; time < 2; time++) expect(await store.load([1], never)).toBe(false);
    expect(warnings.slice(told)).toEqual([expect.stringContaining("can't be thrown away: its checksum")]);
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
    expect(warnings.slice(told)).toEqual([expect.stringMatching(/: EROFS: read-only file system$/u)]);
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

  it.each<[string, () => Promise<unknown>]>([
    ['saved', () => open().save([2], write('state'))],
    ['looked for', () => open().load([2], never)],
  ])('takes away what a killed process had begun to write, when a prefix is %s', async (_, use) => {
    const old = new Date(Date.now() - 61 * 60 * 1000);
    const [abandoned, fresh, other] = ['aa.1.part', 'bb.2.part', 'notes.txt'].map((name) => join(folder, name));
    for (const path of [abandoned, fresh, other]) await writeFile(path ?? '', 'half a state');
    for (const path of [abandoned, other]) await utimes(path ?? '', old, old);
    await use();
    const left = await readdir(folder);
    expect(left).not.toContain('aa.1.part');
    // Another process may still write the younger one, and what is not a draft is not the store's to take.
    expect(left).toEqual(expect.arrayContaining(['bb.2.part', 'notes.txt']));
  });

  it('costs only the saving when the disk refuses', async () => {
    const store = open();
    await expect(store.save([1], () => Promise.reject(new Error('disk full')))).resolves.toBeUndefined();
    expect(warnings.at(-1)).toContain('disk full');
    expect(await states()).toEqual([]);
  });
});
