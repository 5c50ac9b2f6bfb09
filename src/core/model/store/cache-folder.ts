/** Where model files lie: `models` in Winnow's cache folder, the same for every run of one user. */
import { isAbsolute, join, resolve } from 'node:path';
import envPaths from 'env-paths';
import { type Environment, readEnvironment } from '../../config/environment.js';

/** `WINNOW_CACHE`, else `winnow` in `XDG_CACHE_HOME`, else the place that the platform has for caches. */
export function cacheFolder(environment: Environment = readEnvironment()): string {
  if (environment.cacheFolder) return resolve(environment.cacheFolder);
  // The XDG base directory specification has relative paths ignored.
  if (environment.cacheHome && isAbsolute(environment.cacheHome)) return join(environment.cacheHome, 'winnow');
  return envPaths('winnow', { suffix: '' }).cache;
}

export function modelFolder(environment?: Environment): string {
  return join(cacheFolder(environment), 'models');
}
