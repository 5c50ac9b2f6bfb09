/** The words of a request as values: every run of whole words, as it stands there. */

/** Longer runs are texts, and no values to choose among. */
const MAX_WORDS = 16;
/** A message of so many words or fewer is offered whole, too. */
const SHORT_MESSAGE = 40;
/** Of each text so many characters are cut into words: what follows is pasted, and no value. */
const MAX_CHARACTERS = 4000;
/** So many runs are enough for a choice: of a long text the shorter ones. */
const MAX_SPANS = 4000;

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/**
 * Each run once, in the order of their beginnings.
 *
 * @example spansOf(['rain in Rome']) // ['rain', 'rain in', 'rain in Rome', 'in', 'in Rome', 'Rome']
 */
export function spansOf(texts: readonly string[]): string[] {
  const spans = new Set<string>();
  for (const whole of texts) {
    const text = whole.slice(0, MAX_CHARACTERS);
    const bounds = boundsOf(text);
    const longest = bounds.length <= SHORT_MESSAGE ? bounds.length : MAX_WORDS;
    for (const [place, { start }] of bounds.entries()) {
      for (let count = 0; count < longest && spans.size < MAX_SPANS; count++) {
        const last = bounds[place + count];
        if (!last) break;
        spans.add(text.slice(start, last.end));
      }
    }
  }
  return [...spans];
}

interface Bound {
  readonly start: number;
  readonly end: number;
}

/** An address, a path, a code or a day is one word, whatever marks it holds. */
export const ATOM = /[#/~+]?[\p{Script=Latin}\p{N}_]+(?:[@/._:\\+-]+[\p{Script=Latin}\p{N}_]+)*/gu;
/** Scripts without blanks between words may be cut at each character. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

function boundsOf(text: string): Bound[] {
  const atoms = [...text.matchAll(ATOM)].map(({ 0: atom, index }) => ({ start: index, end: index + atom.length }));
  const rest = [...segmenter.segment(text)].flatMap(({ segment, index, isWordLike }): Bound[] => {
    if (!isWordLike || atoms.some(({ start, end }) => index < end && index + segment.length > start)) return [];
    if (!UNSPACED.test(segment)) return [{ start: index, end: index + segment.length }];
    let start = index;
    return [...segment].map((character) => {
      const bound = { start, end: start + character.length };
      start = bound.end;
      return bound;
    });
  });
  return [...atoms, ...rest].sort((one, other) => one.start - other.start);
}
