/** The configuration file of a command, and what of it no planner is needed for. */
import { existsSync } from 'node:fs';
import { LOG_LEVELS, type LogLevel } from '../agents/logging/logger.js';
import { readEnvironment } from '../core/environment.js';
import { WinnowError } from '../core/errors.js';
import { type ConfigFile, loadConfigFile } from './config-file.js';
import type { SharedFlags } from './shared-options.js';

const CONFIG_FILE = 'winnow.yaml';

/** The file that flag or environment name, else `winnow.yaml` of this folder; empty without one. @throws WinnowError `invalid_option` */
export async function readConfig({ config }: Pick<SharedFlags, 'config'>): Promise<ConfigFile> {
  const path = config ?? readEnvironment().config ?? (existsSync(CONFIG_FILE) ? CONFIG_FILE : undefined);
  return path === undefined ? {} : loadConfigFile(path);
}

/** @throws WinnowError `invalid_option` that blames the variable or the file, whichever says the wrong word */
export function logLevelOf({ logLevel }: Pick<ConfigFile, 'logLevel'>, byDefault: LogLevel = 'warn'): LogLevel {
  const ofEnvironment = readEnvironment().logLevel;
  const level = ofEnvironment ?? logLevel;
  if (level === undefined) return byDefault;
  const known = LOG_LEVELS.find((one) => one === level);
  if (known) return known;
  const place = ofEnvironment === undefined ? 'logLevel of the configuration file' : 'WINNOW_LOG_LEVEL';
  throw new WinnowError('invalid_option', `${place}: "${level}" is none of ${LOG_LEVELS.join(', ')}.`);
}
