import { describe, expect, it } from '@jest/globals';
import { standsWhole } from '../../../src/core/logging/stands-whole.js';

describe('a value stands whole in a text', () => {
  it.each([
    ['as a word', 'open with hunter2 please', 'hunter2'],
    ['at the end', 'open with hunter2', 'hunter2'],
    ['before a full stop', 'open with hunter2. Now.', 'hunter2'],
    ['twice', 'hunter2, I mean: hunter2!', 'hunter2'],
    ['in quotation marks', 'open with "hunter2 secret9"', 'hunter2 secret9'],
    ['beside quoted words and an apostrophe', `it's "the" door's hunter2`, 'hunter2'],
    ['in JSON', 'Known: {"phrase":"a\\"b","pin":4711}', 'a"b'],
    ['as a number in JSON', 'Known: {"phrase":"a","pin":4711}', '4711'],
    ['in Chinese, which has no spaces', '密码是hunter2，请登录', 'hunter2'],
  ])('%s', (_, text, value) => expect(standsWhole(text, value)).toBe(true));

  it.each([
    ['where it is not there', 'open with Hunter2', 'hunter2'],
    ['at the beginning of a longer word', 'open with hunter2secret', 'hunter2'],
    ['at the end of a longer word', 'open with myhunter2', 'hunter2'],
    ['before a mark that goes on', 'open with hunter2-secret9', 'hunter2'],
    ['before a decimal', 'open with 47.11', '47'],
    ['where one place of two is a part', 'hunter2 or hunter2secret', 'hunter2'],
    ['inside of what is quoted', 'open with "my hunter2 secret9" now', 'hunter2'],
    ['inside of other quotation marks', '用「my hunter2 secret9」打开', 'hunter2'],
    ['inside of Chinese words', '密码是秘密九', '秘密'],
    ['as nothing', 'open', ''],
  ])('not %s', (_, text, value) => expect(standsWhole(text, value)).toBe(false));

  it('is found out in linear time', () => {
    const started = performance.now();
    for (const mark of ['"', "'", '“', '「', '\\"', 'a']) standsWhole(`${mark.repeat(100_000)}\nhunter2`, 'hunter2');
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
