/** Flags of what lasts and of what agents may do, and where they point. Flags win over the environment, it over the file. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { StorePlace } from '../agents/store/open-store.js';
import { readEnvironment } from '../core/environment.js';
import { WinnowError } from '../core/errors.js';
import type { ConfigFile } from './config-file.js';
import { collect } from './shared-options.js';

export interface StoreFlags {
  store?: string;
  policy?: string;
}

export interface AgentFlags extends StoreFlags {
  toolsModule?: string;
  workerModule?: string;
  reviewNew?: boolean;
}

export function addStoreOption(command: Command): Command {
  return command.option('--store <file-or-url>', 'SQLite file or postgres:// URL that holds sessions and approvals');
}

export function addPolicyOption(command: Command): Command {
  return command.option('--policy <file>', 'what agents may find, enable and run (YAML or JSON)');
}

/** Of commands that look at what a server does with its tools. */
export function addToolsOptions(command: Command): Command {
  return command
    .option('-c, --catalog <source>', 'tools, as `winnow serve` has them; may be given more than once', collect)
    .option('--config <file>', 'configuration file (YAML or JSON)');
}

export function addAgentOptions(command: Command): Command {
  return addPolicyOption(addStoreOption(command))
    .option('--tools-module <file>', 'ES module whose functions run the builtin tools of their names')
    .option('--worker-module <file>', 'the same, each call in a thread of its own that can be stopped')
    .option('--review-new', 'also the tools of a source seen for the first time wait: winnow tools changes');
}

/** Undefined: nothing names a store. */
export function storePlaceOf({ store }: StoreFlags, config: ConfigFile): StorePlace | undefined {
  const text = store ?? readEnvironment().store ?? config.store;
  if (text === undefined) return undefined;
  return /^[a-z][a-z0-9+.-]+:\/\//iu.test(text) ? { url: text } : { file: text };
}

/** For commands that look at what another process has written. @throws WinnowError `invalid_option` */
export function requireStorePlace(flags: StoreFlags, config: ConfigFile): StorePlace {
  const place = storePlaceOf(flags, config);
  if (place) return place;
  throw new WinnowError('invalid_option', 'Name the store of the server: --store, WINNOW_STORE or store in the file.');
}

/** A look makes no store: an empty one would read as if nothing had happened. @throws WinnowError `invalid_option` */
export function requireStoreFile(place: StorePlace): void {
  if (!('file' in place) || existsSync(place.file)) return;
  const advice = 'Name that of the server: --store, WINNOW_STORE or store in the file.';
  throw new WinnowError('invalid_option', `There is no store ${place.file}. ${advice}`);
}
