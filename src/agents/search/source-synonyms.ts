/** Synonyms of a catalogue's domain, from its own files and from a separate file. */
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { z } from 'zod';
import { detectSource } from '../../core/catalog/sources/formats.js';
import { isUrl } from '../../core/catalog/sources/source.js';
import { messageOf, toWinnowError, WinnowError } from '../../core/errors.js';
import { parseAs } from '../../core/parse.js';
import type { Synonyms } from '../../core/search/synonyms.js';

const phrase = z.string().trim().min(1).max(80);

const synonymEntrySchema = z.union([
  z.array(phrase).min(2, 'a group needs at least two words').max(60),
  z.strictObject({
    words: z.array(phrase).min(1).max(60).describe('As people write it.'),
    means: z.array(phrase).min(1).max(60).describe('As the tools say it.'),
  }),
]);
const synonymsSchema = z
  .array(synonymEntrySchema)
  .max(5_000)
  .describe('Groups of synonyms, or {words, means} for one direction only.');

/** @throws WinnowError `invalid_option` naming each entry that is wrong. */
export function parseSynonyms(input: unknown, place = 'synonyms'): Synonyms {
  const problem = `The synonyms of ${place} are not usable`;
  return parseAs(synonymsSchema, input, { code: 'invalid_option', problem, within: 'group' });
}

interface SynonymSources {
  /** Sources of the catalogue; JSON files among them may have a key `synonyms`. */
  sources: readonly string[];
  /** A JSON file that holds nothing else. */
  file?: string | undefined;
  /** Called with a source whose synonyms are not usable; they are left out. */
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
  // A catalogue file that is a list of tools holds none.
  return parseSynonyms(Object(await readContent(spec.path)).synonyms ?? [], spec.path);
}

/**
 * Reads synonyms from a file: the key `synonyms` of a catalogue file (empty without the key), or the array of another
 * JSON file.
 * @throws WinnowError `invalid_option` naming the file and each entry that is wrong.
 */
export async function loadSynonyms(path: string): Promise<Synonyms> {
  const content = await readContent(path);
  return parseSynonyms(Array.isArray(content) ? content : (Object(content).synonyms ?? []), path);
}

async function readContent(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (cause) {
    const reason = messageOf(cause);
    throw new WinnowError('invalid_option', `The synonyms of ${path} can't be read: ${reason}`, { cause });
  }
}
