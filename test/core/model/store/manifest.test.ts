import { describe, expect, it } from '@jest/globals';
import { WinnowError } from '../../../../src/core/errors.js';
import { findModel, MODELS, parseManifest } from '../../../../src/core/model/store/manifest.js';
import { smallModel } from './store-setup.js';

describe('the manifest', () => {
  it('that is shipped is valid, names each model once, and begins with the default', () => {
    expect(parseManifest(MODELS)).toEqual(MODELS);
    expect(new Set(MODELS.map((model) => model.name)).size).toBe(MODELS.length);
    expect(new Set(MODELS.map((model) => model.file)).size).toBe(MODELS.length);
    expect(findModel(undefined).name).toBe('qwen2.5-coder-1.5b');
    expect(MODELS.map((model) => model.licence)).toEqual(['Apache-2.0', 'Apache-2.0']);
  });

  const model = smallModel('https://hub.example/model.gguf');
  it.each<[string, unknown, string]>([
    ['a path in place of a file name', { ...model, file: '../evil.gguf' }, '0.file'],
    ['a hash that is none', { ...model, sha256: 'abc' }, '0.sha256'],
    ['another protocol', { ...model, hub: 'file:///etc/passwd' }, '0.hub'],
    [
      'a package name with an option in it',
      { ...model, packages: { ...model.packages, prefix: '--x y' } },
      '0.packages.prefix',
    ],
    ['a version that is none', { ...model, packages: { ...model.packages, version: '1 --x' } }, '0.packages.version'],
    ['parts that do not make up the file', { ...model, packages: { ...model.packages, count: 4 } }, '0.packages.count'],
  ])('refuses %s', (_case, entry, path) => {
    const parse = () => parseManifest([entry]);
    expect(parse).toThrow(WinnowError);
    expect(parse).toThrow(path);
  });
});
