/** The index of keywords: its fields, its words and their synonyms. */
import { describe, expect, it } from 'vitest';
import { parseSynonyms } from '../../../src/agents/search/source-synonyms.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { keywordSearchOf } from '../../../src/core/search/rank.js';
import { createSynonymTable, type Synonyms } from '../../../src/core/search/synonyms.js';
import { atomsOf, splitIdentifier, stemOf, wordsOf } from '../../../src/core/search/words.js';
import { makeTool, returning, TOOLS, viewOf } from '../selection/setup.js';

const searchIn = async (...tools: Tool[]) => {
  const search = await keywordSearchOf(viewOf([...TOOLS, ...tools]));
  return async (query: string, limit = 5) => (await search(query, limit)).map(({ tool }) => tool.name);
};

/** How it ranks is in rank.test.ts. */
describe('keyword search', () => {
  it('finds so many tools, by the names of their parameters too, and the name weighs most', async () => {
    const parameter = makeTool('other', { inputSchema: returning('zebra') });
    const search = await searchIn(makeTool('one', { description: 'A zebra.' }), makeTool('zebra'), parameter);
    expect(await search('zebra')).toEqual(['zebra', 'one', 'other']);
    expect(await search('zebra', 2)).toEqual(['zebra', 'one']);
  });

  it('takes a slip of a word for the word, but of none so long that nobody types it', async () => {
    const slipOf = async (word: string) =>
      (await searchIn(makeTool('other', { description: `Rides a ${word}.` })))(word.replace('1', '2'));
    expect(await slipOf('zebra1abcdefghij')).toEqual(['other']);
    expect(await slipOf(`zebra1${'abcdefghij'.repeat(10)}`)).toEqual([]);
  });

  it('takes an unknown word for the nearest ones alone, since many may each be a word of all tools', async () => {
    const near = ['zebrak', 'zebrakl', 'zebraklm', 'zebraklmn', 'zebraklmno', 'zebraklmnop'];
    const search = await searchIn(...near.map((word, place) => makeTool(`tool_${place}`, { keywords: [word] })));
    expect((await search('zebra', 10)).toSorted()).toEqual(['tool_0', 'tool_1', 'tool_2', 'tool_3']);
  });

  it('is made once a view', () => {
    const view = viewOf(TOOLS);
    expect(keywordSearchOf(view)).toBe(keywordSearchOf(view));
  });

  it('never finds what the view does not hold', async () => {
    const secret = makeTool('zebra_ride', { scope: { user: 'ann' } });
    expect(await (await searchIn(secret))('zebra ride')).toEqual([]);
  });
});

describe('identifiers', () => {
  it.each([
    ['getMovieCredits', ['get', 'movie', 'credits']],
    ['get_movie-credits', ['get', 'movie', 'credits']],
    ['GET /movie/{movie_id}/credits', ['get', 'movie', 'movie', 'id', 'credits']],
    ['HTTPServerName', ['http', 'server', 'name']],
    ['page2Token', ['page2', 'token']],
    ['查询_水位', ['查询', '水位']],
    ['', []],
  ])('%s is split at its seams', (text, words) => {
    expect(splitIdentifier(text)).toEqual(words);
  });

  it.each([
    ['movieIDs', ['movie', 'id']],
    ['scan for CVEs', ['scan', 'for', 'cve']],
    ['all open PRs here', ['all', 'open', 'pr', 'here']],
    ['getURLs', ['get', 'url']],
    ['DNSServer', ['dns', 'server']],
  ])('the plural of capitals is that of one word: %s', (text, words) => {
    expect(splitIdentifier(text)).toEqual(words);
  });
});

describe('words', () => {
  it('leaves out what says nothing, and keeps order and repetition', () => {
    expect(wordsOf('Please show me the songs of the song writer')).toEqual(['show', 'songs', 'song', 'writer']);
    expect(wordsOf('请帮我查水位')).toContain('水位');
    expect(wordsOf('请帮我查水位')).not.toContain('请');
  });

  it('finds Chinese compounds in whatever way they are cut', () => {
    const shared = (one: string, other: string) => wordsOf(one).filter((word) => wordsOf(other).includes(word));
    expect(shared('查询水库水位过程', '水库水位')).toEqual(expect.arrayContaining(['水库', '水位']));
    expect(shared('盘石头水库', '石头')).toContain('石头');
  });

  it('has no word in punctuation', () => {
    expect(wordsOf('?! … — 。')).toEqual([]);
  });
});

describe('stems', () => {
  it.each([
    ['debugging', 'debug'],
    ['translations', 'translate'],
    ['companies', 'company'],
    ['movies', 'movie'],
    ['boxes', 'box'],
    ['searches', 'search'],
    ['classes', 'class'],
    ['cookies', 'cookie'],
    ['ids', 'id'],
  ])('%s meets %s', (one, other) => {
    expect(stemOf(one)).toBe(stemOf(other));
  });

  it.each(['水位', 'sha256', 'news'])('%s stays as it is', (word) => {
    expect(stemOf(word)).toBe(word);
  });

  it('keep what differs apart', () => {
    expect(stemOf('news')).not.toBe(stemOf('new'));
  });
});

import GENERAL from '../../../src/core/search/synonyms.json' with { type: 'json' };

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
