/** Loads the sets of cases and catalogues that `--suite` and the configuration name. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { LoadedCatalog, LoadLogger } from '../core/catalog/load.js';
import { WinnowError } from '../core/errors.js';
import type { Suite } from '../eval/suite.js';
import type { ConfigFile } from './config-file.js';
import { loadTools } from './load-tools.js';

export interface LoadContext {
  config: Pick<ConfigFile, 'catalog' | 'strict' | 'sourceTimeoutMs'>;
  /** Logs what of a catalogue could not be read. */
  logger: LoadLogger;
  signal: AbortSignal | undefined;
}

/** @throws WinnowError `invalid_option` for missing or duplicate sets; errors of the catalogue's sources */
export async function loadSuites(sets: readonly string[], { config, ...context }: LoadContext): Promise<Suite[]> {
  if (sets.length === 0) throw refused('There are no cases: give --suite SET.');
  const all = sets.map((set) => findSuite(set, config.catalog));
  const double = all.find(({ name }, place) => all.findIndex((other) => other.name === name) !== place);
  if (double) throw refused(`Two sets of cases are named "${double.name}": rename a file.`);
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

/** Sets bring their own tools. @throws WinnowError `invalid_option` for `--catalog` beside sets alone */
export function refuseUnusedCatalog({ suite: sets = [], catalog }: { suite?: string[]; catalog?: string[] }): void {
  if (catalog === undefined || sets.length === 0 || sets.some(isCaseFile)) return;
  throw refused(
    `--catalog has no effect on --suite ${sets.join(', ')}, which brings its own tools: leave it out, or name the file of cases.`,
  );
}

const isCaseFile = (set: string) => /\.jsonl?$/u.test(set);

interface FoundSuite {
  name: string;
  caseFile: string;
  sources: readonly string[];
}

/** A file of cases for the catalogue, or a set in either of its two file layouts. */
function findSuite(set: string, catalog: readonly string[] | undefined): FoundSuite {
  if (isCaseFile(set)) {
    if (catalog) return { name: nameOf(set), caseFile: set, sources: catalog };
    throw refused(`--suite ${set}: name the tools that the cases are about, by --catalog.`);
  }
  const [folder, name] = [dirname(set), basename(set)];
  const pairs = [
    [`${set}.cases.jsonl`, `${set}.tools.json`],
    [join(folder, 'cases', `${name}.jsonl`), join(folder, 'catalogs', `${name}.json`)],
  ] as const;
  const pair = pairs.find((files) => files.every((file) => existsSync(file)));
  if (pair) return { name, caseFile: pair[0], sources: [pair[1]] };
  const looked = pairs.map((files) => files.join(' with ')).join(', nor ');
  throw refused(`--suite ${set}: there is neither ${looked}. Or name a file of cases, with --catalog.`);
}

function refused(message: string): WinnowError {
  return new WinnowError('invalid_option', message);
}

function nameOf(caseFile: string): string {
  return basename(caseFile).replace(/(?:\.cases)?\.jsonl?$/u, '');
}
