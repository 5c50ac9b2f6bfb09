import { describe, expect, it } from '@jest/globals';
import { parseSynonyms } from '../../../src/agents/search/source-synonyms.js';
import { createSynonymTable, type Synonyms } from '../../../src/core/search/synonyms.js';
import GENERAL from '../../../src/core/search/synonyms.json' with { type: 'json' };
import { atomsOf } from '../../../src/core/search/words.js';

function meaningsOf(own: Synonyms, text: string): string[] {
  const atoms = atomsOf(text);
  const known = createSynonymTable(own, []).phraseAt(atoms, 0);
  return known?.length === atoms.length ? known.meanings.map((terms) => terms.join(' ')) : [];
}

describe('a table of synonyms', () => {
  it.each<[string, Synonyms, string, string[]]>([
    ['takes a group in all directions', [['delete', 'remove', 'rm']], 'rm', ['delet', 'remov']],
    ['takes {words, means} in one direction', [{ words: ['squiggles'], means: ['lint'] }], 'squiggles', ['lint']],
    ['takes {words, means} in no other', [{ words: ['squiggles'], means: ['lint'] }], 'lint', []],
    ['knows a phrase in all its forms', [['change the name', 'rename']], 'changing name', ['renam']],
    ['knows a shortening', [['pull request', 'PR']], 'PRs', ['pull request']],
    ['knows words without spaces', [['分支', 'branch']], '分支', ['branch']],
    [
      'adds up what several entries say',
      [
        ['a1', 'b1'],
        ['a1', 'c1'],
      ],
      'a1',
      ['b1', 'c1'],
    ],
  ])('%s', (_, own, text, meanings) => {
    expect(meaningsOf(own, text)).toEqual(meanings);
  });

  it('prefers the longest phrase', () => {
    const table = createSynonymTable(
      [
        ['pull', 'fetch'],
        ['pull request', 'PR'],
      ],
      [],
    );
    expect(table.phraseAt(atomsOf('pull request now'), 0)).toMatchObject({ length: 2 });
    expect(table.phraseAt(atomsOf('pull it now'), 0)).toMatchObject({ length: 1 });
  });

  it('finds a word inside a text without spaces, and nothing where it is not', () => {
    const table = createSynonymTable([['分支', 'branch']], []);
    expect(table.phraseAt(atomsOf('新建分支吧'), 2)).toMatchObject({ length: 2, meanings: [['branch']] });
    expect(table.phraseAt(atomsOf('新建分支吧'), 0)).toBeUndefined();
  });

  it('says which entry is wrong', () => {
    expect(() => parseSynonyms([['alone'], { words: ['a'] }], 'tools.json')).toThrow(
      /tools\.json are not usable: group\.0: .*group\.1: /su,
    );
  });

  it('has general entries of the documented form', () => {
    expect(parseSynonyms(GENERAL)).toHaveLength(GENERAL.length);
    expect(GENERAL.length).toBeGreaterThan(100);
  });
});
