/** Loads a command's catalogue from flag, configuration or the example, and reports problems of its sources. */
import { fileURLToPath } from 'node:url';
import { type LoadedCatalog, type LoadLogger, loadCatalog } from '../core/catalog/load.js';
import { DEFAULT_SOURCE_TIMEOUT_MS } from '../core/catalog/sources/formats.js';
import { readVariable } from '../core/environment.js';
import { WinnowError } from '../core/errors.js';
import { maskKeysIn } from '../core/secret-forms.js';
import type { ConfigFile } from './config-file.js';
import { createStopSignal } from './interrupts.js';
import { counted, printableMessage } from './output.js';

export interface LoadedTools {
  loaded: LoadedCatalog;
  sources: readonly string[];
  /** Neither flag nor file names a catalogue. */
  isExample: boolean;
  /** Strict, even if this reading was lenient. */
  isStrict: boolean;
}

interface LoadToolsParts {
  /** Gets the notice of the example and, without a logger, problems of the sources. */
  stderr?: Pick<NodeJS.WritableStream, 'write'> | undefined;
  logger?: LoadLogger | undefined;
  /** Returns all problems to the caller instead of failing at the first kind. Default: false. */
  isLenient?: boolean;
  signal?: AbortSignal | undefined;
}

export function toolSourcesOf({ catalog }: Pick<ConfigFile, 'catalog'>) {
  return { sources: catalog ?? [defaultCatalogPath()], isExample: catalog === undefined };
}

/** Keeps a server from serving the example by accident. @throws WinnowError `invalid_option` */
export function requireSources({ catalog }: Pick<ConfigFile, 'catalog'>): void {
  if (catalog !== undefined) return;
  const advice = 'Give --catalog FILE, or write `catalog: [FILE]` into winnow.yaml.';
  throw new WinnowError('invalid_option', `No tools are named. ${advice}`);
}

/** @throws WinnowError `invalid_option`, `invalid_catalog`, `source_failed`, `cancelled` */
export async function loadTools(
  config: Pick<ConfigFile, 'catalog' | 'strict' | 'sourceTimeoutMs' | 'http'>,
  { stderr, logger, isLenient = false, signal }: LoadToolsParts,
): Promise<LoadedTools> {
  const { sources, isExample } = toolSourcesOf(config);
  const { strict: isStrict = false } = config;
  const strict = isStrict && !isLenient;
  // A signal that ends the command ends the servers that it has started, too.
  const stop = signal ? undefined : createStopSignal();
  const options = { ...sourceOptions(config), sources, strict, logger, signal: signal ?? stop?.signal };
  const loaded = await loadCatalog(options).finally(stop?.forget);
  if (isExample) stderr?.write(exampleNotice(loaded.catalog.name));
  if (!logger && !isLenient) stderr?.write(renderProblems(loaded));
  return { loaded, sources, isExample, isStrict };
}

export function countWarnings({ issues }: LoadedCatalog): number {
  return issues.filter(({ level }) => level === 'warning').length;
}

function renderProblems(loaded: LoadedCatalog): string {
  const { failures } = loaded;
  const warnings = countWarnings(loaded);
  const count =
    warnings === 0 ? [] : [`${counted(warnings, 'warning')}: see winnow tools check, with the same sources`];
  return [...failures.map(({ error }) => error.message), ...count]
    .map((line) => `${printableMessage(maskKeysIn(line))}\n`)
    .join('');
}

/** How every command reads sources. */
export function sourceOptions(config: Pick<ConfigFile, 'sourceTimeoutMs' | 'http'>) {
  const { sourceTimeoutMs = DEFAULT_SOURCE_TIMEOUT_MS, http } = config;
  return { timeoutMs: sourceTimeoutMs, variable: readVariable, baseUrls: http?.servers };
}

/** The example catalogue of the package: `src/cli` and `dist/cli` lie equally deep below its root. */
function defaultCatalogPath(): string {
  return fileURLToPath(new URL('../../fixtures/catalogs/hydrology.json', import.meta.url));
}

/** Says that answers are about the example, not about the user's own tools. */
export function exampleNotice(name: string): string {
  return `Catalogue: the example "${name}" that comes with Winnow; yours with --catalog.\n`;
}
