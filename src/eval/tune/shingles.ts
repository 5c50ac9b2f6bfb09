/**
 * Texts as sequences of words, for finding what was copied. In scripts without spaces each character counts as a word
 * of its own: where a word ends there depends on what stands around it, and a copy would be missed.
 */
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}`;
const TOKEN = new RegExp(`[${UNSPACED}]|(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}])+`, 'gu');
const IS_CHARACTER = new RegExp(`^[${UNSPACED}]$`, 'u');

export function tokensOf(text: string): string[] {
  return text.normalize('NFKC').toLowerCase().match(TOKEN) ?? [];
}

/** How much a sequence says, in words: a character of a script without spaces is about six tenths of one. */
export function lengthOf(tokens: readonly string[]): number {
  return tokens.reduce((sum, token) => sum + (IS_CHARACTER.test(token) ? 0.625 : 1), 0);
}

/** Sequences of five words, or eight characters, one from each place (w-shingles: Broder, "On the resemblance", 1997). */
export function shinglesOf(tokens: readonly string[], words = 5): string[] {
  return tokens.flatMap((_, start) => {
    let end = start;
    for (let length = 0; length < words && end < tokens.length; end++) length += lengthOf(tokens.slice(end, end + 1));
    const shingle = tokens.slice(start, end);
    return lengthOf(shingle) < words ? [] : [shingle.join(' ')];
  });
}

/** As a text in which another sequence is found by `includes`, and only at the ends of words. */
export function sequenceOf(tokens: readonly string[]): string {
  return ` ${tokens.join(' ')} `;
}
