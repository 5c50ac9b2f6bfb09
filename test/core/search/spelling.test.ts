import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createSpelling } from '../../../src/core/search/spelling.js';
import { slipsBetween } from '../../../src/core/slips.js';

const VOCABULARY = ['error', 'file', 'branch', 'commit', 'package', 'reference', 'rename', 'plan', '分支'];
const spelling = createSpelling(VOCABULARY);
const nearest = (word: string) => spelling.near(word)[0]?.word;

describe('spelling', () => {
  it.each([
    ['a letter too much', 'commmit', 'commit'],
    ['a letter too few', 'brnch', 'branch'],
    ['a wrong letter', 'renome', 'rename'],
    ['two letters swapped', 'pacakge', 'package'],
    ['two slips in a long word', 'refrense', 'reference'],
    ['a letter too few in a short word', 'eror', 'error'],
    ['two letters swapped in a short word', 'fiel', 'file'],
  ])('forgives %s', (_, word, meant) => {
    expect(nearest(word)).toBe(meant);
  });

  it.each(['brnc', 'xylophone', 'pla', '分枝', 'cmit', 'play', 'mile', ''])('does not guess at "%s"', (word) => {
    expect(spelling.near(word)).toEqual([]);
  });

  it('names the nearest first', () => {
    const near = createSpelling(['referent', 'reference']).near('referense');
    expect(near.map(({ word }) => word)).toEqual(['reference', 'referent']);
  });

  const word = fc.string({ unit: fc.constantFrom(...'abcde'), minLength: 5, maxLength: 11 });

  it('finds all within reach, and nothing else: the quick look at the letters loses none', () => {
    fc.assert(
      fc.property(fc.uniqueArray(word, { maxLength: 40 }), word, (vocabulary, asked) => {
        const reach = asked.length >= 8 ? 2 : 1;
        const expected = vocabulary.filter((known) => slipsBetween(asked, known) <= reach);
        const found = createSpelling(vocabulary).near(asked);
        expect(found.map((one) => one.word).sort()).toEqual(expected.sort());
      }),
    );
  });
});
