import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { GENERAL_SYNONYMS } from '../../../src/core/search/general-synonyms.js';
import { stemOf } from '../../../src/core/search/stem.js';
import { loadSynonyms, parseSynonyms, synonymsSchema } from '../../../src/core/search/synonyms.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { tableOf } from './setup.js';

const termsAt = (table: ReturnType<typeof tableOf>, ...words: string[]) =>
  table.phraseAt(words.map(stemOf), 0)?.meanings.map(({ terms }) => terms.join(' ')) ?? [];

describe('a table of synonyms', () => {
  it('takes a group in all directions', () => {
    const table = tableOf([['delete', 'remove', 'rm']]);
    expect(termsAt(table, 'delete').sort()).toEqual(['remov', 'rm']);
    expect(termsAt(table, 'rm').sort()).toEqual(['delet', 'remov']);
  });

  it('takes words and what they mean in one direction', () => {
    const table = tableOf([{ words: ['squiggles'], means: ['diagnostics'] }]);
    expect(termsAt(table, 'squiggles')).toEqual(['diagnostic']);
    expect(termsAt(table, 'diagnostics')).toEqual([]);
  });

  it('knows a phrase in all its forms, with articles or without, and prefers the longest', () => {
    const table = tableOf([
      ['pull request', 'PR'],
      { words: ['change the name'], means: ['rename'] },
      ['change', 'modify'],
    ]);
    expect(table.phraseAt(['pull', 'request'].map(stemOf), 0)?.length).toBe(2);
    expect(termsAt(table, 'changing', 'name')).toEqual(['renam']);
    expect(termsAt(table, 'changing', 'colour')).toEqual(['modify']);
    expect(termsAt(table, 'pr')).toEqual(['pull request']);
  });

  it('finds Chinese words without spaces around them', () => {
    const table = tableOf([
      ['分支', 'branch'],
      ['分', 'minute'],
    ]);
    expect(table.wordAt('新建分支吧', 2)).toMatchObject({ length: 2, meanings: [{ terms: ['branch'] }] });
    expect(table.wordAt('新建分支吧', 0)).toBeUndefined();
  });

  it('trusts what a catalogue says more than what is said in general', () => {
    const both = tableOf(
      [['a1', 'b1']],
      [
        ['a1', 'b1'],
        ['a1', 'c1'],
      ],
    );
    const weights = Object.fromEntries(
      both.phraseAt(['a1'], 0)?.meanings.map(({ terms, weight }) => [terms[0], weight]) ?? [],
    );
    expect(weights.b1).toBeGreaterThan(weights.c1 ?? 1);
  });

  it('says which entry is wrong', () => {
    expect(() => parseSynonyms([['alone'], { words: ['a'] }], 'tools.json')).toThrow(
      /tools\.json are not usable: group\.0: .*group\.1: /su,
    );
  });
});

describe('the general table', () => {
  it('is of the documented form, and no word stands twice in a group', () => {
    expect(synonymsSchema.safeParse(GENERAL_SYNONYMS).success).toBe(true);
    const groups = GENERAL_SYNONYMS.map((group) => (Array.isArray(group) ? group : []));
    expect(groups.filter((group) => new Set(group).size < group.length)).toEqual([]);
    expect(groups.length).toBeGreaterThan(100);
  });
});

describe('a file of synonyms', () => {
  const folder = temporaryFolder();
  const file = (content: string) => {
    const path = join(folder, `${Math.random()}.json`);
    writeFileSync(path, content);
    return path;
  };

  it.each([
    ['a catalogue with the key', '{"tools": [], "synonyms": [["a", "b"]]}', [['a', 'b']]],
    ['a catalogue without it', '{"tools": []}', []],
    ['the table alone', '[["a", "b"]]', [['a', 'b']]],
  ])('may be %s', async (_, content, synonyms) => {
    expect(await loadSynonyms(file(content))).toEqual(synonyms);
  });

  it.each([
    ['is missing', join(folder, 'none.json')],
    ['is no JSON', file('{')],
    ['has a wrong entry', file('{"synonyms": [["a"]]}')],
  ])('that %s is named in the error', async (_, path) => {
    await expect(loadSynonyms(path)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(path),
    });
  });
});
