/** How the sources of a catalogue are read, for every command alike. */
import { DEFAULT_SOURCE_TIMEOUT_MS } from '../catalog/sources/detect.js';
import type { ConfigFile } from '../config/config-file.js';
import { readVariable } from '../config/environment.js';

export function sourceOptions({ sourceTimeoutMs = DEFAULT_SOURCE_TIMEOUT_MS }: Pick<ConfigFile, 'sourceTimeoutMs'>) {
  return { timeoutMs: sourceTimeoutMs, variable: readVariable };
}
