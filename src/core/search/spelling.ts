/**
 * Known words near an unknown one: at most one slip up to seven letters, two from eight on. A slip is a letter too much,
 * too few, wrong, or two swapped.
 */
import { isSwapped, slipsBetween } from '../slips.js';

const MIN_LETTERS = 4;
const TWO_SLIPS_FROM = 8;

export interface Spelling {
  /** Words of the vocabulary within reach, the nearest first, in its order between equals. */
  near(word: string): readonly { word: string; slips: number }[];
}

/** @param vocabulary lower-case words; those of other scripts are never a slip of a Latin word. */
export function createSpelling(vocabulary: readonly string[]): Spelling {
  const words = vocabulary.filter((word) => /^[a-z]+$/u.test(word) && word.length >= MIN_LETTERS - 1);
  const masks = Uint32Array.from(words, letterMask);
  const lengths = Uint8Array.from(words, ({ length }) => Math.min(length, 255));
  return {
    near(word) {
      if (word.length < MIN_LETTERS || !/^[a-z]+$/u.test(word)) return [];
      const reach = word.length >= TWO_SLIPS_FROM ? 2 : 1;
      const mask = letterMask(word);
      const found: { word: string; slips: number }[] = [];
      for (let place = 0; place < words.length; place++) {
        // A slip adds one letter and takes one away at most: two bits, seen without a look at the word.
        if (Math.abs((lengths[place] as number) - word.length) > reach) continue;
        if (bits(mask ^ (masks[place] as number)) > 2 * reach) continue;
        const known = words[place] as string;
        const slips = slipsBetween(word, known);
        if (slips <= reach && !isOtherWord(word, known)) found.push({ word: known, slips });
      }
      return found.sort((one, other) => one.slips - other.slips);
    },
  };
}

/** Short words differ in one letter all the time (play, plan): there a slip lost a letter or swapped two. */
function isOtherWord(word: string, known: string): boolean {
  return (
    word.length === MIN_LETTERS && (word[0] !== known[0] || (known.length <= word.length && !isSwapped(word, known)))
  );
}

function letterMask(word: string): number {
  let mask = 0;
  for (let place = 0; place < word.length; place++) mask |= 1 << (word.charCodeAt(place) - 97);
  return mask >>> 0;
}

function bits(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++;
  return count;
}
