/** Reads the configuration once for a command: flags over environment over file. */
import { existsSync, statSync } from 'node:fs';
import { LOG_LEVELS, type LogLevel } from '../agents/logging/logger.js';
import { requireFile, type StorePlace } from '../agents/store/open-store.js';
import { isObject, withoutUndefined } from '../core/catalog/schema/json.js';
import { readEnvironment, readVariable } from '../core/environment.js';
import { WinnowError } from '../core/errors.js';
import { type ConfigFile, checkConfig, isKeyOfFile, loadConfigFile, type ModelBlock } from './config-file.js';
import type { ConfigFlags } from './flags.js';
import { writeLine } from './output.js';

const CONFIG_FILE = 'winnow.yaml';

const namedPathOf = ({ config }: Pick<ConfigFlags, 'config'>) => config ?? readEnvironment().config;

/** The file of flag or environment, else `winnow.yaml` of this folder. Undefined: there is none. */
export function configPathOf(flags: Pick<ConfigFlags, 'config'>): string | undefined {
  return namedPathOf(flags) ?? (existsSync(CONFIG_FILE) ? CONFIG_FILE : undefined);
}

/**
 * Says so where it reads a file that nobody named: the file decides what is started, and who gets which keys.
 * @throws WinnowError `invalid_option`
 */
export async function readConfig(flags: ConfigFlags): Promise<ConfigFile> {
  const path = configPathOf(flags);
  if (path !== namedPathOf(flags)) writeLine(`Configuration: ${path} of this folder.`);
  return withFlags(path === undefined ? {} : await loadConfigFile(path), flags);
}

/** Puts environment and flags over a file. Relative paths in flags begin at the working directory. */
export async function withFlags(file: ConfigFile, flags: ConfigFlags): Promise<ConfigFile> {
  const { set, catalog, store, model: name, baseUrl } = flags;
  const environment = readEnvironment();
  const given = treeOf({
    ...set,
    ...withoutUndefined({ catalog, store, 'model.name': name, 'model.baseUrl': baseUrl }),
  });
  const below = { ...file, ...withoutUndefined({ store: environment.store, redis: environment.redis }) };
  const hasKey = readVariable('WINNOW_API_KEY') !== undefined;
  const ofEnvironment = {
    ...{ baseUrl: environment.baseUrl, file: environment.modelFile, name: environment.model },
    apiKeyEnv: hasKey ? 'WINNOW_API_KEY' : undefined,
  };
  const model = [ofEnvironment, Object(given.model)].reduce<ModelBlock>(putOver, file.model ?? {});
  const whole = merge(below, given);
  return checkConfig(Object.keys(model).length === 0 ? whole : { ...whole, model });
}

/** `{'sandbox.timeoutMs': 9, maxTools: 5}` -> `{sandbox: {timeoutMs: 9}, options: {maxTools: 5}}` */
function treeOf(set: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.entries(set).reduce((tree, [key, value]) => {
    const path = isKeyOfFile(key) ? key.split('.') : ['options', key];
    return merge(
      tree,
      path.reduceRight<Record<string, unknown>>((inner, part) => ({ [part]: inner }), value as never),
    );
  }, {});
}

function merge(below: Record<string, unknown>, over: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const merged = Object.entries(over).map(([key, value]) => {
    const before = below[key];
    return [key, isObject(before) && isObject(value) ? merge(before, value) : value];
  });
  return { ...below, ...Object.fromEntries(merged) };
}

/** An endpoint or a model file takes the place of both. Another endpoint gets no key, headers and body of the one before. */
function putOver(block: ModelBlock, over: ModelBlock): ModelBlock {
  if (over.baseUrl === undefined && over.file === undefined) return { ...block, ...withoutUndefined(over) };
  const { baseUrl, file: _, ...others } = block;
  const { apiKeyEnv: __, headers: ___, extraBody: ____, ...open } = others;
  const isOther = baseUrl !== undefined && over.baseUrl !== undefined && baseUrl !== over.baseUrl;
  return { ...(isOther ? open : others), ...withoutUndefined(over) };
}

/** @throws WinnowError `invalid_option` for an unknown level in the environment */
export function logLevelOf({ logLevel }: Pick<ConfigFile, 'logLevel'>, byDefault: LogLevel = 'warn'): LogLevel {
  const word = readEnvironment().logLevel;
  if (word === undefined) return logLevel ?? byDefault;
  const known = LOG_LEVELS.find((one) => one === word);
  if (known) return known;
  throw new WinnowError('invalid_option', `WINNOW_LOG_LEVEL: "${word}" is none of ${LOG_LEVELS.join(', ')}.`);
}

/** Undefined: the store is in memory. @throws WinnowError `invalid_option` for a malformed address */
export function storePlaceOf({ store }: Pick<ConfigFile, 'store'>): StorePlace | undefined {
  if (store === undefined) return undefined;
  if (/^[a-z][a-z0-9+.-]+:\/\//iu.test(store)) return { url: store };
  requireFile(store);
  return { file: store };
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * The store of a server to inspect. A missing store is an error, since a new one would look like an empty record.
 * @throws WinnowError `invalid_option`
 */
export function requireStorePlace(config: Pick<ConfigFile, 'store'>): StorePlace {
  const place = storePlaceOf(config);
  if (place && (!('file' in place) || sizeOf(place.file) > 0)) return place;
  const missing = place ? `There is no store ${place.file}. ` : '';
  const advice = 'Name the store of the server: --store, WINNOW_STORE or store in the file.';
  throw new WinnowError('invalid_option', `${missing}${advice}`);
}
