/**
 * Words that stand for each other, as data: a general table, one of the catalogue's own, and what was learnt. They widen
 * a query and never the index, so a change of them needs no rebuild.
 */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { messageOf, WinnowError } from '../errors.js';
import { parseAs } from '../parse.js';
import { createWordAt, groupByFirst, type KnownWord, type Meaning, type SplitPhrase, splitPlaces } from './phrases.js';
import { createSpelling, type Spelling } from './spelling.js';
import { stemOf } from './stem.js';
import { segmentWords, splitIdentifier } from './words.js';

const phrase = z.string().trim().min(1).max(80);

export const synonymEntrySchema = z.union([
  z.array(phrase).min(2, 'a group needs at least two words').max(60),
  z.strictObject({
    words: z.array(phrase).min(1).max(60).describe('As people write it.'),
    means: z.array(phrase).min(1).max(60).describe('As the tools say it.'),
  }),
]);
export const synonymsSchema = z
  .array(synonymEntrySchema)
  .max(5_000)
  .describe('Groups of words that stand for each other, or {words, means} for one way only.');
export type Synonyms = z.infer<typeof synonymsSchema>;

/** General words mean many things; those that a catalogue lists for its own tools, and those of its users, fewer. */
export const GENERAL_WEIGHT = 0.65;
export const OWN_WEIGHT = 0.9;

export interface WeightedSynonyms {
  readonly synonyms: Synonyms;
  readonly weight: number;
}

export interface SynonymTable {
  /** The longest known phrase of `tokens` that begins at `start`. */
  phraseAt(tokens: readonly string[], start: number): { length: number; meanings: readonly Meaning[] } | undefined;
  /** Known phrases that begin at `start` with other words in one place between theirs: "set all of it aside". */
  splitPhrasesAt(tokens: readonly string[], start: number): readonly SplitPhrase[];
  /** The longest known word of a Chinese, Japanese or Korean text that begins at `start`, in UTF-16 units. */
  wordAt(text: string, start: number): KnownWord | undefined;
  /** Known single words of which `token` may be a slip. */
  near: Spelling['near'];
}

const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const LATIN_OR_DIGIT = /[a-z0-9]/iu;

/** Tables add to each other; what several say counts by the surest. */
export function createSynonymTable(tables: readonly WeightedSynonyms[]): SynonymTable {
  const phrases = new Map<string, Map<string, Meaning>>();
  for (const { synonyms, weight } of tables) for (const entry of synonyms) addEntry(phrases, entry, weight);
  const lengths = { phrase: 1, word: 1 };
  for (const key of phrases.keys()) {
    if (CJK.test(key) && !LATIN_OR_DIGIT.test(key)) lengths.word = Math.max(lengths.word, key.length);
    else lengths.phrase = Math.max(lengths.phrase, key.split(' ').length);
  }
  const firsts = new Set([...phrases.keys()].map((key) => key.slice(0, `${key} `.indexOf(' '))));
  const known = new Map([...phrases].map(([key, meanings]) => [key, [...meanings.values()]]));
  const byFirst = groupByFirst(known);
  return {
    phraseAt(tokens, start) {
      if (!firsts.has(tokens[start] ?? '')) return undefined;
      for (let length = Math.min(lengths.phrase, tokens.length - start); length > 0; length--) {
        const meanings = known.get(tokens.slice(start, start + length).join(' '));
        if (meanings) return { length, meanings };
      }
      return undefined;
    },
    splitPhrasesAt: (tokens, start) =>
      (byFirst.get(tokens[start] ?? '') ?? []).flatMap((phrase) => {
        const places = splitPlaces(phrase.tokens, tokens, start);
        return places ? [{ ...phrase, places }] : [];
      }),
    wordAt: createWordAt(known, lengths.word),
    near: createSpelling([...known.keys()]).near,
  };
}

/** Each word is read once: a group of sixty words is 3,540 pairs. */
function addEntry(phrases: Map<string, Map<string, Meaning>>, entry: Synonyms[number], weight: number): void {
  const [froms, tos] = Array.isArray(entry) ? [entry, entry] : [entry.words, entry.means];
  const meant = tos.map((text) => {
    const terms = termsOf(text);
    return { text, id: terms.join(' '), meaning: { terms, weight } };
  });
  for (const from of froms) {
    const key = keyOf(from);
    const meanings = phrases.get(key) ?? new Map<string, Meaning>();
    phrases.set(key, meanings);
    for (const { text, id, meaning } of meant) {
      const isItself = froms === tos && text === from;
      if (isItself || meaning.terms.length === 0 || (meanings.get(id)?.weight ?? 0) >= weight) continue;
      meanings.set(id, meaning);
    }
  }
}

/** Latin phrases are looked up by the stems of all their words, Chinese ones as they are written. */
function keyOf(text: string): string {
  return withoutArticles(splitIdentifier(text)).map(stemOf).join(' ');
}

const ARTICLES = new Set('a an the my our your its their it them this that these those'.split(' '));

/** They may stand inside a known phrase without changing it: "change the name" is "change name", "throw it out" "throw out". */
export function withoutArticles(words: readonly string[]): string[] {
  return words.filter((word) => !ARTICLES.has(word));
}

function termsOf(text: string): string[] {
  return splitIdentifier(text).flatMap(segmentWords).map(stemOf);
}

/**
 * The table of a file: of a catalogue file its key `synonyms` (without the key, an empty table), of another JSON file the
 * array that it holds.
 * @throws WinnowError `invalid_option` naming the file and each entry that is wrong.
 */
export async function loadSynonyms(path: string): Promise<Synonyms> {
  const content = await readContent(path);
  return parseSynonyms(Array.isArray(content) ? content : (Object(content).synonyms ?? []), path);
}

/** The same for a catalogue file, which holds none where it is a list of tools. @throws WinnowError `invalid_option` */
export async function loadCatalogSynonyms(path: string): Promise<Synonyms> {
  return parseSynonyms(Object(await readContent(path)).synonyms ?? [], path);
}

async function readContent(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (cause) {
    const reason = messageOf(cause);
    throw new WinnowError('invalid_option', `The synonyms of ${path} can't be read: ${reason}`, { cause });
  }
}

/** @throws WinnowError `invalid_option` naming each entry that is wrong. */
export function parseSynonyms(input: unknown, place = 'synonyms'): Synonyms {
  const problem = `The synonyms of ${place} are not usable`;
  return parseAs(synonymsSchema, input, { code: 'invalid_option', problem, within: 'group' });
}
