/** Known words and phrases that are met though something stands in them: `set all of it aside`, `换个名字`, `删掉`. */
import { isStopWord } from './words.js';

/** What a word or phrase may stand for. */
export interface Meaning {
  /** Of a phrase all words together. */
  readonly terms: readonly string[];
  /** Between 0 and 1: how surely it is meant. */
  readonly weight: number;
}

type Known = ReadonlyMap<string, readonly Meaning[]>;

export interface KnownPhrase {
  readonly tokens: readonly string[];
  readonly meanings: readonly Meaning[];
}

export interface SplitPhrase extends KnownPhrase {
  /** Of its tokens in the text. */
  readonly places: readonly number[];
}

/** What may stand between two words of a phrase is the thing that is meant, and that is named in few words. */
const MAX_GAP = 3;

/** Phrases of several Latin words, by the first. */
export function groupByFirst(known: Known): ReadonlyMap<string, readonly KnownPhrase[]> {
  const groups = new Map<string, KnownPhrase[]>();
  for (const [key, meanings] of known) {
    const tokens = key.split(' ');
    const [first] = tokens;
    // Of words that stand everywhere some are always near.
    if (first === undefined || tokens.length < 2 || tokens.some(isStopWord)) continue;
    groups.set(first, [...(groups.get(first) ?? []), { tokens, meanings }]);
  }
  return groups;
}

/** Where the tokens of a phrase stand that begins at `start` and goes on behind one gap. */
export function splitPlaces(
  phrase: readonly string[],
  tokens: readonly string[],
  start: number,
): readonly number[] | undefined {
  const isAt = (places: readonly number[]) => places.every((place, number) => tokens[place] === phrase[number]);
  for (let before = 1; before < phrase.length && tokens[start + before - 1] === phrase[before - 1]; before++) {
    for (let gap = 1; gap <= MAX_GAP; gap++) {
      const places = phrase.map((_, number) => start + number + (number < before ? 0 : gap));
      if (isAt(places)) return places;
    }
  }
  return undefined;
}

/** Between a verb and its thing they count the thing, or say that it is done: `换个名字`, `改了哪些`. */
const INFIXES = /[个了过着些点一]/gu;
const isInfix = (letter: string | undefined) => letter !== undefined && letter.search(INFIXES) >= 0;
/** Behind a verb of one letter they say how it ends: `删掉`, `写好`, `找到`. */
const COMPLEMENTS = /^(?:起来|下来|出来|回来|上去|[掉完好成了过着到出上下回])/u;

export interface KnownWord {
  /** In UTF-16 units. */
  readonly length: number;
  readonly meanings: readonly Meaning[];
}

/** The longest known word of a Chinese, Japanese or Korean text that begins at a place. */
export function createWordAt(known: Known, longest: number): (text: string, start: number) => KnownWord | undefined {
  const squeezed = new Map<string, readonly Meaning[]>();
  for (const [key, meanings] of known) {
    const short = key.replace(INFIXES, '');
    if (short.length > 1 && !squeezed.has(short)) squeezed.set(short, meanings);
  }

  function asWritten(text: string, start: number): KnownWord | undefined {
    for (let length = Math.min(longest, text.length - start); length > 0; length--) {
      const meanings = known.get(text.slice(start, start + length));
      if (meanings) return { length, meanings };
    }
    return undefined;
  }

  function withInfixes(text: string, start: number): KnownWord | undefined {
    let found: KnownWord | undefined;
    let short = '';
    if (isInfix(text[start])) return undefined;
    for (let length = 1; start + length <= text.length && short.length < longest; length++) {
      const letter = text[start + length - 1] as string;
      if (isInfix(letter)) continue;
      short += letter;
      const meanings = squeezed.get(short);
      if (meanings) found = { length, meanings };
    }
    return found;
  }

  return (text, start) => {
    const plain = asWritten(text, start);
    if (plain?.length === 1) {
      const [complement] = COMPLEMENTS.exec(text.slice(start + 1)) ?? [];
      if (complement !== undefined) return { length: 1 + complement.length, meanings: plain.meanings };
    }
    const wide = withInfixes(text, start);
    return wide && wide.length > (plain?.length ?? 0) ? wide : plain;
  };
}
