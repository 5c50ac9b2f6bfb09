/** Loads the sets of cases and catalogues that `--suite`, `--cases` and `--catalog` name. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { LoadedCatalog, LoadLogger } from '../core/catalog/load.js';
import { WinnowError } from '../core/errors.js';
import type { Suite } from '../eval/suite.js';
import type { ConfigFile } from './config-file.js';
import { loadTools } from './load-tools.js';

export interface SuiteFlags {
  suite?: readonly string[] | undefined;
  cases?: readonly string[] | undefined;
}

export interface LoadContext {
  config: Pick<ConfigFile, 'catalog' | 'strict' | 'sourceTimeoutMs'>;
  /** Logs what of a catalogue could not be read. */
  logger: LoadLogger;
  signal: AbortSignal | undefined;
}

/** @throws WinnowError `invalid_option` for missing or duplicate sets; errors of the catalogue's sources */
export async function loadSuites(flags: SuiteFlags, { config, ...context }: LoadContext): Promise<Suite[]> {
  const { suite = [], cases = [] } = flags;
  const { catalog } = config;
  if (suite.length + cases.length === 0) {
    throw new WinnowError(
      'invalid_option',
      'There are no cases: give --suite SET, or --cases FILE with --catalog SOURCE.',
    );
  }
  const found = suite.map(findSuite);
  if (cases.length > 0 && !catalog) {
    throw new WinnowError('invalid_option', '--cases needs --catalog: the tools that the cases are about.');
  }
  const own = cases.map((caseFile) => ({ name: nameOf(caseFile), caseFile, sources: catalog ?? [] }));
  const all = [...found, ...own];
  const double = all.find(({ name }, place) => all.findIndex((other) => other.name === name) !== place);
  if (double) throw new WinnowError('invalid_option', `Two sets of cases are named "${double.name}": rename a file.`);
  const catalogs = new Map<string, LoadedCatalog>();
  const suites: Suite[] = [];
  for (const { name, caseFile, sources } of all) {
    const key = JSON.stringify(sources);
    const loaded = catalogs.get(key) ?? (await loadTools({ ...config, catalog: [...sources] }, context)).loaded;
    catalogs.set(key, loaded);
    suites.push({ name, catalog: loaded.catalog, caseFile });
  }
  return suites;
}

interface FoundSuite {
  name: string;
  caseFile: string;
  sources: readonly string[];
}

/** Finds a set in either of its two file layouts. */
function findSuite(set: string): FoundSuite {
  const [folder, name] = [dirname(set), basename(set)];
  const pairs = [
    [`${set}.cases.jsonl`, `${set}.tools.json`],
    [join(folder, 'cases', `${name}.jsonl`), join(folder, 'catalogs', `${name}.json`)],
  ] as const;
  const pair = pairs.find((files) => files.every((file) => existsSync(file)));
  if (pair) return { name, caseFile: pair[0], sources: [pair[1]] };
  const looked = pairs.map((files) => files.join(' with ')).join(', nor ');
  throw new WinnowError('invalid_option', `--suite ${set}: there is neither ${looked}. Or give --cases and --catalog.`);
}

function nameOf(caseFile: string): string {
  return basename(caseFile).replace(/(?:\.cases)?\.jsonl?$/u, '');
}
