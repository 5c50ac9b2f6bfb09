/** Readings without a request that outlive a process. */

import { appendFile, readdir, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from '@jest/globals';
import { createReadingStore } from '../../../../src/core/model/embedded/prefix-store.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

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

it('begin anew where their file has grown too large', async () => {
  open().set('key', 0.5);
  await truncate(await fileIn(), 5 * 1024 ** 2);
  const next = open();
  expect(next.get('key')).toBeUndefined();
  next.set('key', 0.75);
  expect(open().get('key')).toBe(0.75);
});

it('are kept in memory where the disk refuses', async () => {
  const file = join(folder, 'file');
  await writeFile(file, '');
  const store = createReadingStore({ folder: file, identity: 'weights' });
  store.set('key', 0.5);
  expect(store.get('key')).toBe(0.5);
});
