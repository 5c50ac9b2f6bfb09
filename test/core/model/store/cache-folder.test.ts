import { isAbsolute, join, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readEnvironment } from '../../../../src/core/config/environment.js';
import { modelFolder } from '../../../../src/core/model/store/cache-folder.js';

describe('the folder of the models', () => {
  it.each([
    ['WINNOW_CACHE', { WINNOW_CACHE: '/a/cache' }, resolve('/a/cache/models')],
    ['WINNOW_CACHE before XDG_CACHE_HOME', { WINNOW_CACHE: '/a', XDG_CACHE_HOME: '/b' }, resolve('/a/models')],
    ['WINNOW_CACHE relative to the working directory', { WINNOW_CACHE: 'here' }, resolve('here', 'models')],
    ['XDG_CACHE_HOME', { WINNOW_CACHE: ' ', XDG_CACHE_HOME: resolve('/b') }, join(resolve('/b'), 'winnow', 'models')],
  ])('comes from %s', (_case, env, folder) => {
    expect(modelFolder(readEnvironment(env))).toBe(folder);
  });

  it('is below the home folder of the user without any of them', () => {
    const folder = modelFolder(readEnvironment({ WINNOW_CACHE: '' }));
    expect(isAbsolute(folder)).toBe(true);
    expect(folder).toMatch(/winnow.*models$/);
  });
});
