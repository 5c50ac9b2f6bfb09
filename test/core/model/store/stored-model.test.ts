import { readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readEnvironment } from '../../../../src/core/config/environment.js';
import {
  cacheFolder,
  DEFAULT_MODEL,
  formatBytes,
  isVerified,
  locateModel,
  mark,
  modelStatus,
  verify,
} from '../../../../src/core/model/store/stored-model.js';
import { CONTENT, CONTENT_HASH, errorOf, type Setup, setUp, sha256 } from './store-setup.js';

describe('the cache folder', () => {
  it.each([
    ['WINNOW_CACHE', { WINNOW_CACHE: '/a/cache' }, resolve('/a/cache')],
    ['WINNOW_CACHE before XDG_CACHE_HOME', { WINNOW_CACHE: '/a', XDG_CACHE_HOME: '/b' }, resolve('/a')],
    ['WINNOW_CACHE relative to the working directory', { WINNOW_CACHE: 'here' }, resolve('here')],
    ['XDG_CACHE_HOME', { WINNOW_CACHE: ' ', XDG_CACHE_HOME: resolve('/b') }, join(resolve('/b'), 'winnow')],
  ])('comes from %s', (_case, env, folder) => {
    expect(cacheFolder(readEnvironment(env))).toBe(folder);
  });

  it.each([{}, { XDG_CACHE_HOME: 'relative' }])(
    'is below the home folder of the user without any of them: %j',
    (env) => {
      const folder = cacheFolder(readEnvironment(env));
      expect(isAbsolute(folder)).toBe(true);
      expect(folder).toMatch(/ache.*winnow|winnow.*Cache/u);
    },
  );
});

describe('the default model', () => {
  it('is the 1.5B model, in the folder for models', () => {
    expect(DEFAULT_MODEL).toMatchObject({ name: 'qwen2.5-coder-1.5b', licence: 'Apache-2.0' });
    expect(DEFAULT_MODEL.sha256).toMatch(/^[\da-f]{64}$/u);
    expect(locateModel({}).path).toBe(join(cacheFolder(), 'models', DEFAULT_MODEL.file));
  });

  it('is the only one that is known by a name', async () => {
    const error = await errorOf(modelStatus({ name: 'large' }));
    expect(error.code).toBe('not_found');
    expect(error.message).toContain('Known is qwen2.5-coder-1.5b. For a file of your own use --model-file FILE.');
  });
});

describe('a model on the disk', () => {
  let setup: Setup;
  beforeEach(async () => {
    setup = await setUp();
  });
  afterEach(() => setup.close());
  const stateNow = async () => (await modelStatus(setup.options)).state;

  it('goes from absent over partial and unverified to verified', async () => {
    expect(await stateNow()).toBe('absent');
    await writeFile(`${setup.path}.part`, CONTENT.subarray(0, 1_000));
    expect(await modelStatus(setup.options)).toMatchObject({ state: 'partial', bytesOnDisk: 1_000 });
    await writeFile(setup.path, CONTENT);
    expect(await stateNow()).toBe('unverified');
    expect(await verify(setup.path, setup.options.model)).toBeUndefined();
    expect(await stateNow()).toBe('verified');
  });

  it.each<[string, () => Promise<unknown>]>([
    ['the time of the file', () => utimes(setup.path, 1, 1)],
    ['the size of the file', () => writeFile(setup.path, CONTENT.subarray(1))],
    ['the file: it is gone', () => rm(setup.path)],
    ['the mark: it is gone', () => rm(`${setup.path}.verified`)],
    ['the mark: it is torn', () => writeFile(`${setup.path}.verified`, '{"sha256":"')],
  ])('is not verified any more after a change of %s', async (_case, change) => {
    await writeFile(setup.path, CONTENT);
    await mark(setup.path, setup.options.model);
    expect(await isVerified(setup.path, setup.options.model)).toBe(true);
    await change();
    expect(await isVerified(setup.path, setup.options.model)).toBe(false);
  });

  it('is not verified as a newer version of the model', async () => {
    await writeFile(setup.path, CONTENT);
    await mark(setup.path, setup.options.model);
    const newer = { ...setup.options.model, sha256: sha256(Buffer.from('newer')) };
    expect(await isVerified(setup.path, newer)).toBe(false);
  });

  it('is hashed by verifying, whatever the mark says, and left where it is', async () => {
    const wrong = Buffer.alloc(CONTENT.length, 'wrong');
    await writeFile(setup.path, wrong);
    await mark(setup.path, setup.options.model);
    expect(await verify(setup.path, setup.options.model)).toBe(
      `wrong checksum: SHA-256 ${sha256(wrong)} instead of ${CONTENT_HASH}`,
    );
    expect(sha256(await readFile(setup.path))).toBe(sha256(wrong));
    expect(await stateNow()).toBe('unverified');
  });

  it('has a wrong size told without hashing', async () => {
    await writeFile(setup.path, CONTENT.subarray(1));
    expect(await verify(setup.path, setup.options.model)).toBe('179999 bytes instead of 180000');
  });
});

describe('a size for people', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1_000, '1.00 kB'],
    [52_428_800, '52.4 MB'],
    [1_117_320_768, '1.12 GB'],
  ])('of %d bytes is %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});
