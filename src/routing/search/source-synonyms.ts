/** The words of a catalogue's own trade, from its files and from a file besides. */
import { extname } from 'node:path';
import { detectSource } from '../../core/catalog/sources/formats.js';
import { isUrl } from '../../core/catalog/sources/source.js';
import { toWinnowError, type WinnowError } from '../../core/errors.js';
import { loadCatalogSynonyms, loadSynonyms, type Synonyms } from '../../core/search/synonyms.js';

export type { Synonyms };

export interface SynonymSources {
  /** Of the catalogue; those that are JSON files may have a key `synonyms`. */
  sources: readonly string[];
  /** A JSON file that holds nothing else. */
  file?: string | undefined;
  /** Told of a source whose synonyms are not usable: they are left out, as its wrong entries are. */
  onFailure?: ((source: string, error: WinnowError) => void) | undefined;
}

/** @throws WinnowError `invalid_option` when `file` is not usable */
export async function loadSourceSynonyms({ sources, file, onFailure }: SynonymSources): Promise<Synonyms> {
  const own = file === undefined ? [] : await loadSynonyms(file);
  const found = await Promise.all(
    sources.map(async (source) => {
      try {
        return await synonymsOf(source);
      } catch (error) {
        onFailure?.(source, toWinnowError(error));
        return [];
      }
    }),
  );
  return [...found.flat(), ...own];
}

async function synonymsOf(source: string): Promise<Synonyms> {
  const spec = await detectSource(source);
  if (spec.kind !== 'json' || isUrl(spec.path) || extname(spec.path).toLowerCase() !== '.json') return [];
  return loadCatalogSynonyms(spec.path);
}
