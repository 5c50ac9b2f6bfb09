/** The words of a request as values: every run of whole words, as it stands there. */

/** Longer runs are texts, and no values to choose among. */
const MAX_WORDS = 16;
/** A message of so many words or fewer is offered whole, too. */
const SHORT_MESSAGE = 40;
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
  for (const text of texts) {
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

/** Where words begin and end. Scripts without blanks may be cut at each character; what blanks hold together may stay so. */
function boundsOf(text: string): Bound[] {
  const bounds: Bound[] = [];
  for (const { segment, index, isWordLike } of segmenter.segment(text)) {
    if (!isWordLike) continue;
    if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(segment)) {
      let at = index;
      for (const character of segment) {
        bounds.push({ start: at, end: at + character.length });
        at += character.length;
      }
    } else bounds.push({ start: index, end: index + segment.length });
  }
  return bounds;
}
