/** Text -> words and their stems, the same way for tools and requests. `common-words.json` lists stop words and fillers. */
import { stemmer } from 'stemmer';
import COMMON from './common-words.json' with { type: 'json' };

const SEGMENTER = new Intl.Segmenter('zh', { granularity: 'word' });
const PLAIN_WORD = /^[a-z\d]+$/u;
/** A run of a script without spaces between words. */
const SPACELESS =
  /([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+)/u;
/** V8's segmenter copies its whole text for each word, so it gets pieces. */
const PIECES = /.{1,256}/gsu;
const STOP_WORDS: ReadonlySet<string> = new Set(COMMON.stop);
const UNSTEMMED: ReadonlySet<string> = new Set(COMMON.unstemmed);
const FILLERS: ReadonlySet<string> = new Set(COMMON.fillers.map(stemOf));

/** `getMovieCredits`, `get_movie-credits` and `GET /movie/{id}/credits` -> their words, lower case. */
export function splitIdentifier(text: string): string[] {
  if (PLAIN_WORD.test(text)) return [text];
  // CVEs and userIDs: the plural "s" of an acronym begins no word.
  const seamed = text
    .replace(/(?<=\p{Lu}{2})s\b/gu, '')
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2');
  const words = seamed.split(/[^\p{L}\p{M}\p{N}]+/u).filter(Boolean);
  return words.map((word) => word.toLowerCase());
}

/** All words of a text in order, with identifiers split and without stop words. */
export function wordsOf(text: string): string[] {
  return splitIdentifier(text)
    .flatMap(segmentWords)
    .filter((word) => !STOP_WORDS.has(word));
}

export function isFiller(stem: string): boolean {
  return FILLERS.has(stem);
}

/** A text without spaces -> its segments and their character pairs, since the segmenter cuts one compound in different ways. */
export function segmentWords(text: string): string[] {
  if (PLAIN_WORD.test(text) || !SPACELESS.test(text)) return [text];
  const segments = (text.match(PIECES) ?? []).flatMap((piece) => [...SEGMENTER.segment(piece)]);
  const words = segments.filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment);
  const pairs = words.filter((word) => word.length > 2 && SPACELESS.test(word)).flatMap(pairsOf);
  return [...new Set([...words, ...pairs])];
}

function pairsOf(word: string): string[] {
  const characters = [...word];
  return characters.slice(1).map((character, place) => `${characters[place]}${character}`);
}

/** The stem of a lower-case English word (Porter's algorithm). Other scripts and words with digits stay. */
export function stemOf(word: string): string {
  return /^[a-z]+$/u.test(word) && !UNSTEMMED.has(word) ? stemmer(word) : word;
}

/** The unit of phrase matching: the stem of a word, or one character of a script without spaces. */
export interface Atom {
  readonly key: string;
  readonly text: string;
  readonly isSpaceless: boolean;
}

/** The atoms of a text without stop words, so "change the name" matches "change name". */
export function atomsOf(text: string): Atom[] {
  const runs = splitIdentifier(text).flatMap((word) => (PLAIN_WORD.test(word) ? [word] : word.split(SPACELESS)));
  const said = runs.filter((run) => run !== '' && !STOP_WORDS.has(run));
  return said.flatMap((run): Atom[] => {
    if (!SPACELESS.test(run)) return [{ key: stemOf(run), text: run, isSpaceless: false }];
    return [...run].map((character) => ({ key: character, text: character, isSpaceless: true }));
  });
}
