/** Text -> words, the same for tools and for requests: identifiers are split, Chinese is segmented, plurals folded. */

const SEGMENTER = new Intl.Segmenter('zh', { granularity: 'word' });
/** Most words are such, and there is nothing to split in them. */
const PLAIN_WORD = /^[a-z\d]+$/u;
/** The segmenter of V8 holds the whole of a text for each of its words: without punctuation that grows with the square. */
const PIECES = /.{1,256}/gsu;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Function words that say nothing about a tool. Short on purpose: BM25 already weighs frequent words down. */
const STOP_WORDS = new Set(
  `a an and are as at be been by can could did do does for from had has have how i if in into is it its just let me my of on
   or our please shall should some than that the their them then there these they this those to us was we were what when
   where which who whose why will with would you your 的 了 吗 呢 吧 请 我 你 他 她 它 们 是 在 有 和 与 及 把 被 给 帮 一下 什么 怎么 如何`.split(
    /\s+/u,
  ),
);

/** `getMovieCredits`, `get_movie-credits` and `GET /movie/{id}/credits` -> their words, lower case. */
export function splitIdentifier(text: string): string[] {
  if (PLAIN_WORD.test(text)) return [text];
  return (
    text
      // CVEs and userIDs: the plural of a shortening is not the beginning of a word.
      .replace(/(?<=\p{Lu}{2})s\b/gu, '')
      .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
      .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
      .split(/[^\p{L}\p{N}]+/u)
      .filter(Boolean)
      .map((word) => word.toLowerCase())
  );
}

/** All words of a text in order, without stop words. */
export function wordsOf(text: string): string[] {
  return splitIdentifier(text)
    .flatMap(segmentWords)
    .map(foldPlural)
    .filter((word) => !isStopWord(word));
}

export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

/** The words of one piece that holds no space: itself, or for Chinese and Japanese its segments and their pairs. */
export function segmentWords(word: string): string[] {
  if (PLAIN_WORD.test(word) || !CJK.test(word)) return [word];
  const parts = (word.match(PIECES) ?? []).flatMap((piece) =>
    [...SEGMENTER.segment(piece)].filter((part) => part.isWordLike).map((part) => part.segment),
  );
  // Compounds are cut differently in different sentences; pairs of characters make them meet.
  return [...new Set([...parts, ...parts.flatMap(pairs)])];
}

function pairs(word: string): string[] {
  const characters = [...word];
  if (characters.length < 3 || !CJK.test(word)) return [];
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** Plurals whose singular ends in -ie, and words that have no singular. */
const ENDS_IN_IE = new Set(['movies', 'cookies', 'calories', 'zombies', 'selfies', 'rookies', 'ties', 'pies', 'lies']);
const UNCHANGED = new Set(['series', 'species', 'news']);

/** `movies` and `movie`, `companies` and `company` meet; words of three letters and `-ss`, `-us`, `-is` stay. */
export function foldPlural(word: string): string {
  if (word === 'ids') return 'id';
  if (UNCHANGED.has(word) || word.length <= 3 || !word.endsWith('s') || /(?:ss|us|is)$/u.test(word)) return word;
  if (ENDS_IN_IE.has(word)) return word.slice(0, -1);
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ches|shes|xes|sses|zes)$/u.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}
