import { describe, expect, it } from '@jest/globals';
import { stemOf } from '../../../src/core/search/stem.js';
import { withoutArticles } from '../../../src/core/search/synonyms.js';
import { tableOf } from './setup.js';

const TABLE = tableOf([
  { words: ['set aside', 'throw out', 'is it done', 'rename'], means: ['found'] },
  { words: ['删', '换名字', '改名', '哪些', '写的'], means: ['found'] },
]);

const splitsIn = (text: string) => {
  const words = withoutArticles(text.split(' '));
  const tokens = words.map(stemOf);
  const found = tokens.flatMap((_, place) => TABLE.splitPhrasesAt(tokens, place));
  return found.map(({ places }) => places.map((place) => words[place]).join(' '));
};

describe('a phrase', () => {
  it.each([
    ['put the changes aside', []],
    ['set the changes aside', ['set aside']],
    ['set all of it aside', ['set aside']],
    ['throw this old file out', ['throw out']],
    ['set aside the changes', []],
    ['set one two three four aside', []],
    ['aside set', []],
  ])('may have other words in one place between its own: %s', (text, phrases) => {
    expect(splitsIn(text)).toEqual(phrases);
  });

  it('of words that stand everywhere is met only as it is written', () => {
    expect(splitsIn('is the thing that we do done')).toEqual([]);
    expect(TABLE.phraseAt(['is', 'done'], 0)?.length).toBe(2);
  });

  it.each([['throw it out'], ['throw this out'], ['throw them out']])('is met around a pronoun: %s', (text) => {
    const tokens = withoutArticles(text.split(' ')).map(stemOf);
    expect(TABLE.phraseAt(tokens, 0)?.length).toBe(2);
  });
});

describe('a known word of a Chinese text', () => {
  it.each([
    ['换名字', 3],
    ['换个名字', 4],
    ['换了一个名字', 6],
    ['改个名', 3],
    ['删掉它', 2],
    ['删起来', 3],
    ['删它', 1],
    ['个换名字', undefined],
    ['名字', undefined],
    ['写的', 2],
  ])('is met with what may stand in it or behind it: %s', (text, length) => {
    expect(TABLE.wordAt(text, 0)?.length).toBe(length);
  });
});
