import { readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findModelFile, listModels, verifyModel } from '../../../../src/core/model/store/model-status.js';
import { isVerified, markVerified } from '../../../../src/core/model/store/verify.js';
import { CONTENT, CONTENT_HASH, errorOf, type Setup, setUp, sha256, smallModel } from './store-setup.js';

let setup: Setup;
beforeEach(async () => {
  setup = await setUp();
});
afterEach(() => setup.close());

const stateNow = async () => (await listModels(setup.options))[0]?.state;

describe('the state of a model', () => {
  it('is told for each of the manifest, with the default marked', async () => {
    const models = [smallModel(setup.hub.url), { ...smallModel(setup.hub.url), name: 'other', file: 'other.gguf' }];
    await writeFile(`${setup.path}.part`, CONTENT.subarray(0, 1_000));
    const found = await listModels({ folder: setup.folder, models });
    expect(found.map(({ name, isDefault, state, bytesOnDisk }) => ({ name, isDefault, state, bytesOnDisk }))).toEqual([
      { name: 'small', isDefault: true, state: 'partial', bytesOnDisk: 1_000 },
      { name: 'other', isDefault: false, state: 'absent', bytesOnDisk: 0 },
    ]);
  });

  it('goes from absent over unverified to verified', async () => {
    expect(await stateNow()).toBe('absent');
    await writeFile(setup.path, CONTENT);
    expect(await stateNow()).toBe('unverified');
    await verifyModel(undefined, setup.options);
    expect(await stateNow()).toBe('verified');
  });

  it('has no path while the file is not there whole, and says how to get it', async () => {
    await writeFile(`${setup.path}.part`, CONTENT.subarray(0, 1_000));
    const error = await errorOf(findModelFile('small', setup.options));
    expect(error.code).toBe('not_found');
    expect(error.message).toContain('winnow model pull small');
  });
});

describe('the mark of a verified file', () => {
  const model = smallModel('http://127.0.0.1/model.gguf');
  const mark = async () => {
    await writeFile(setup.path, CONTENT);
    await markVerified(setup.path, CONTENT_HASH);
  };

  it('holds for the file that was hashed', async () => {
    await mark();
    expect(await isVerified(setup.path, model)).toBe(true);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['the time of the file', () => utimes(setup.path, 1, 1)],
    ['the size of the file', () => writeFile(setup.path, CONTENT.subarray(1))],
    ['the file: it is gone', () => rm(setup.path)],
    ['the mark: it is gone', () => rm(`${setup.path}.verified`)],
    ['the mark: it is torn', () => writeFile(`${setup.path}.verified`, '{"sha256":"')],
    ['the hash in the mark', () => markVerified(setup.path, sha256(Buffer.from('other')))],
  ])('does not hold after a change of %s', async (_case, change) => {
    await mark();
    await change();
    expect(await isVerified(setup.path, model)).toBe(false);
  });

  it('does not hold for a newer version of the model', async () => {
    await mark();
    expect(await isVerified(setup.path, { ...model, sha256: sha256(Buffer.from('newer')) })).toBe(false);
  });
});

describe('verifying', () => {
  it('hashes the bytes, whatever the mark says, and leaves a wrong file where it is', async () => {
    const wrong = Buffer.alloc(CONTENT.length, 'wrong');
    await writeFile(setup.path, wrong);
    await markVerified(setup.path, CONTENT_HASH);
    const result = await verifyModel('small', setup.options);
    expect(result).toEqual({
      name: 'small',
      path: setup.path,
      ok: false,
      issue: `wrong checksum: SHA-256 ${sha256(wrong)} instead of ${CONTENT_HASH}`,
    });
    expect(sha256(await readFile(setup.path))).toBe(sha256(wrong));
    expect(await stateNow()).toBe('unverified');
  });

  it('tells a wrong size', async () => {
    await writeFile(setup.path, CONTENT.subarray(1));
    expect((await verifyModel('small', setup.options)).issue).toBe('179999 bytes instead of 180000');
  });
});
