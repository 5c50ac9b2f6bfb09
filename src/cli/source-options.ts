/** How the sources of a catalogue are read, for every command alike. */
import { DEFAULT_SOURCE_TIMEOUT_MS } from '../core/catalog/sources/formats.js';
import { readVariable } from '../core/environment.js';
import type { ConfigFile } from './config-file.js';

export function sourceOptions({ sourceTimeoutMs = DEFAULT_SOURCE_TIMEOUT_MS }: Pick<ConfigFile, 'sourceTimeoutMs'>) {
  return { timeoutMs: sourceTimeoutMs, variable: readVariable };
}
