import { describe, expect, it } from '@jest/globals';
import { splitLiterals } from '../../../src/core/search/literals.js';

describe('the literals of a query', () => {
  it.each([
    ['a path', 'show src/queue/worker.ts', 'src/queue/worker.ts', 'file'],
    ['a file name', 'read package.json now', 'package.json', 'file'],
    ['a pattern', 'where are all *.snap files', '*.snap', 'pattern'],
    ['an address', 'fetch https://example.org/a?b=1', 'https://example.org/a?b=1', 'url'],
    ['the number of an issue', 'details of #118', '#118', 'issue'],
    ['the hash of a commit', 'what did 3f2a91c do', '3f2a91c', 'commit'],
    ['a quotation', 'search for "connection refused" here', '"connection refused"', undefined],
    ['a Chinese quotation', '搜索“连接失败”', '“连接失败”', undefined],
    ['a number', 'lines 120 to 180', '120', undefined],
    ['a file that has no ending', 'one paragraph of the README', 'README', 'file'],
    ['what follows a colon', 'remember: we use tabs here', 'we use tabs here', undefined],
    ['what follows a Chinese colon', '记住：发布前要先跑迁移脚本', '发布前要先跑迁移脚本', undefined],
    ['what comes before', 'before deleting it find who uses it', 'before deleting', undefined],
    ['what comes before, in Chinese', '合并之前把改动审一遍', '合并之前', undefined],
  ])('%s is told from the words around it', (_, query, literal, kind) => {
    const split = splitLiterals(query);
    expect(split.literals).toContain(literal);
    expect(split.text).not.toContain(literal);
    expect(split.kinds).toEqual(kind === undefined ? [] : [kind]);
  });

  it('leaves a query without any alone', () => {
    expect(splitLiterals('rename a symbol everywhere')).toEqual({
      text: 'rename a symbol everywhere',
      literals: [],
      kinds: [],
    });
  });

  it("does not take what is said not to happen, nor the 's of what's, for words", () => {
    expect(splitLiterals("what's new, don't push it").text.split(/\s+/u)).toEqual(['what', 'new,', 'push', 'it']);
  });

  it.each([
    ['use the cache instead of reading again', /reading/u],
    ['no need to push it', /push/u],
    ['别跑了，停掉它', /跑/u],
  ])('does not take what is not wanted for what is: %s', (query, word) => {
    expect(splitLiterals(query).text).not.toMatch(word);
  });

  it.each([
    ['I love mystery movies: can you find one', 'movies'],
    ['之前的决定是什么', '之前'],
    ['给这个类起个别名', '别名'],
  ])('leaves what only looks like it: %s', (query, word) => {
    expect(splitLiterals(query).text).toContain(word);
  });
});
