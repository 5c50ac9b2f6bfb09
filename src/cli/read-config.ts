/** Reads the configuration file, and the settings in it that need no planner. */
import { existsSync } from 'node:fs';
import { LOG_LEVELS, type LogLevel } from '../agents/logging/logger.js';
import { requireFile, type StorePlace } from '../agents/store/open-store.js';
import { readEnvironment } from '../core/environment.js';
import { WinnowError } from '../core/errors.js';
import { type ConfigFile, loadConfigFile } from './config-file.js';
import type { AgentFlags, PlanningFlags } from './flags.js';

const CONFIG_FILE = 'winnow.yaml';

/** The file of flag or environment, else `winnow.yaml` of this folder. Undefined: there is none. */
export function configPathOf({ config }: Pick<PlanningFlags, 'config'>): string | undefined {
  return config ?? readEnvironment().config ?? (existsSync(CONFIG_FILE) ? CONFIG_FILE : undefined);
}

/** Empty without a file. @throws WinnowError `invalid_option` */
export async function readConfig(flags: Pick<PlanningFlags, 'config'>): Promise<ConfigFile> {
  const path = configPathOf(flags);
  return path === undefined ? {} : loadConfigFile(path);
}

/** @throws WinnowError `invalid_option` for an unknown level in the environment */
export function logLevelOf({ logLevel }: Pick<ConfigFile, 'logLevel'>, byDefault: LogLevel = 'warn'): LogLevel {
  const word = readEnvironment().logLevel;
  if (word === undefined) return logLevel ?? byDefault;
  const known = LOG_LEVELS.find((one) => one === word);
  if (known) return known;
  throw new WinnowError('invalid_option', `WINNOW_LOG_LEVEL: "${word}" is none of ${LOG_LEVELS.join(', ')}.`);
}

/** The environment overrides the file. Undefined: neither names a Redis. */
export function redisOf({ redis }: Pick<ConfigFile, 'redis'>): string | undefined {
  return readEnvironment().redis ?? redis;
}

type StoreFlags = Pick<AgentFlags, 'store'>;

/**
 * Flags override the environment, which overrides the file. Undefined: none of them names a store.
 * @throws WinnowError `invalid_option` for a malformed address
 */
export function storePlaceOf({ store }: StoreFlags, config: Pick<ConfigFile, 'store'>): StorePlace | undefined {
  const text = store ?? readEnvironment().store ?? config.store;
  if (text === undefined) return undefined;
  if (/^[a-z][a-z0-9+.-]+:\/\//iu.test(text)) return { url: text };
  requireFile(text);
  return { file: text };
}

/**
 * The store of a server to inspect. A missing store is an error, since a new one would look like an empty record.
 * @throws WinnowError `invalid_option`
 */
export function requireStorePlace(flags: StoreFlags, config: Pick<ConfigFile, 'store'>): StorePlace {
  const place = storePlaceOf(flags, config);
  if (place && (!('file' in place) || existsSync(place.file))) return place;
  const missing = place ? `There is no store ${place.file}. ` : '';
  const advice = 'Name the store of the server: --store, WINNOW_STORE or store in the file.';
  throw new WinnowError('invalid_option', `${missing}${advice}`);
}
