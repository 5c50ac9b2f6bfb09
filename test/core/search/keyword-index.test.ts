/** The index of keywords: its fields, its words and their synonyms. */
import { describe, expect, it } from 'vitest';
import { parseSynonyms } from '../../../src/agents/search/source-synonyms.js';
import { createScope } from '../../../src/core/catalog/scope.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { keywordSearchOf } from '../../../src/core/search/rank.js';
import { createSynonymTable, type Synonyms } from '../../../src/core/search/synonyms.js';
import { atomsOf, splitIdentifier, stemOf, wordsOf } from '../../../src/core/search/words.js';
import { loadFixture } from '../../support/fixtures.js';
import { makeTool, returning, TOOLS, viewOf } from '../selection/setup.js';

const searchIn = (tools: readonly Tool[]) => keywordSearchOf(viewOf(tools));
const index = await searchIn(TOOLS);
const found = (query: string, limit = 10) => index(query, limit).map(({ tool }) => tool.name);

describe('keyword search', () => {
  it.each<[string, Parameters<typeof makeTool>[1]]>([
    ['its name', {}],
    ['an alias', { aliases: ['zebra'] }],
    ['a keyword', { keywords: ['zebra'] }],
    ['its title', { title: 'The zebra' }],
    ['its category', { category: 'zebra' }],
    ['its description', { description: 'Rides a zebra.' }],
    ['a parameter', { inputSchema: returning('zebra') }],
  ])('finds a tool by %s', async (field, entry) => {
    const tool = makeTool(field === 'its name' ? 'zebra_ride' : 'other', entry);
    const [match] = (await searchIn([...TOOLS, tool]))('zebra', 5);
    expect(match?.tool).toBe(tool);
    expect(match?.why.map(({ asked }) => asked)).toEqual(['zebra']);
  });

  it('explains a match by the fields', () => {
    const [match] = index('coffee', 1);
    expect(match?.why).toEqual([{ asked: 'coffee', word: 'coffee', fields: ['name'] }]);
  });

  it('takes a slip of a word for the word, but of none so long that nobody types it', async () => {
    const slipOf = async (word: string) => {
      const search = await searchIn([...TOOLS, makeTool('other', { description: `Rides a ${word}.` })]);
      return search(word.replace('1', '2'), 5).map(({ tool }) => tool.name);
    };
    expect(await slipOf('zebra1abcdefghij')).toEqual(['other']);
    expect(await slipOf(`zebra1${'abcdefghij'.repeat(10)}`)).toEqual([]);
  });

  it('weighs the name above the description', async () => {
    const tools = [makeTool('one', { description: 'A zebra.' }), makeTool('zebra', { description: 'One.' })];
    expect((await searchIn(tools))('zebra', 2).map(({ tool }) => tool.name)).toEqual(['zebra', 'one']);
  });

  it('is best first, bounded, and keeps the order of the catalogue between equals', async () => {
    const scores = index('coffee song mail', 10).map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(found('coffee song mail', 2)).toHaveLength(2);
    const equal = ['c', 'a', 'b'].map((name) => makeTool(`${name}1`, { description: 'zebra' }));
    expect((await searchIn(equal))('zebra', 3).map(({ tool }) => tool.name)).toEqual(['c1', 'a1', 'b1']);
  });

  it.each([
    ['plurals', 'songs', 'play_song'],
    ['a slip of the pen', 'sprinklre', 'water_garden'],
    ['the beginning of a word', 'loudspeakers', 'play_song'],
  ])('forgives %s', (_, query, name) => {
    expect(found(query)).toEqual([name]);
  });

  it.each(['', '   ', '?!', 'the of and', 'xylophone'])('finds nothing for "%s"', (query) => {
    expect(found(query)).toEqual([]);
  });

  it('finds Chinese tools with a Chinese request', async () => {
    const hydrology = createScope((await loadFixture('hydrology')).catalog)({});
    const search = await keywordSearchOf(hydrology);
    const names = search('查一下水库的调度方案', 5).map(({ tool }) => tool.name);
    expect(names).toEqual(expect.arrayContaining(['list_dispatch_plans', 'get_dispatch_plan']));
  });

  it('is made once a view', () => {
    const view = viewOf(TOOLS);
    expect(keywordSearchOf(view)).toBe(keywordSearchOf(view));
  });

  it('never finds what the view does not hold', async () => {
    const secret = makeTool('zebra_ride', { scope: { user: 'ann' } });
    const search = await keywordSearchOf(viewOf([...TOOLS, secret]));
    expect(search('zebra ride', 10)).toEqual([]);
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
