import { describe, expect, it } from '@jest/globals';
import { splitIdentifier, stemOf, wordsOf } from '../../../src/core/search/words.js';

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
