import { describe, expect, it } from '@jest/globals';
import { statedByKind, useOf } from '../../../src/core/planning/unused-values.js';

const unusedOf = (message: string, values: unknown, tools: readonly string[] = []) =>
  useOf(statedByKind(message, tools), JSON.stringify(values)).unused;

describe('what a request states and no step uses', () => {
  it.each([
    ['identifiers of one shape', 'Check stations ST-01, ST-02 and ST-03', { code: 'ST-01' }, ['ST-02', 'ST-03']],
    ['identifiers behind Chinese words', '合同1:ID是C001，合同2:ID是C002', { id: 'C001' }, ['C002']],
    ['addresses', '一个IP是192.168.1.1，另一个IP是192.168.1.2。', { ip: '192.168.1.1' }, ['192.168.1.2']],
    ['mail addresses', 'Write to ann@example.com, then to bo@example.org', ['ann@example.com'], ['bo@example.org']],
    ['numbers of one unit', '第一位患者30岁，第二位45岁', { age: 30 }, ['45']],
    ['numbers of a currency', 'Split $250 to Ann, and $1,400 to Bo', { amount: 250 }, ['1,400']],
    ['numbers with a unit behind them', 'heat at 80bpm, then at 75 bpm', { bpm: 80 }, ['75']],
    ['quoted texts', 'Add "Buy milk" and “Call home” to my list', { title: 'Buy milk' }, ['Call home']],
    ['a number, whatever else is used', 'The value of 50 ETH in USD', { from: 'ETH' }, ['50']],
    ['small numbers of one unit', '7 USD and 9 USD to EUR', { amount: 7 }, ['9']],
    ['a day', 'Fly on December 1, 2024 and back on the 15th of December', { on: '2024-12-01' }, ['15th of December']],
    ['a day of a Chinese request', '从2024年12月1日到12月5日', { from: '2024-12-01' }, ['12月5日']],
    ['English names', 'Compare the weather in Rome and Athens', { city: 'Rome' }, ['Athens']],
    ['names of a longer list', 'Fares to Rome, New York, and Paris', ['Rome', 'Paris'], ['New York']],
  ])('is told of %s', (_, message, values, expected) => {
    expect(unusedOf(message, values)).toEqual(expected);
  });

  it.each([
    ['where it uses all, in other letters and units', 'C-001 and c-002, 50% and 20%', ['c001', 'C 002', 0.5, 0.2]],
    ['where it uses none: the request is of something else', 'Is C001 newer than C002?', { topic: 'age' }],
    ['where a kind has one thing', 'Order "Blue" of C001 for Ann', { item: 'paint' }],
    ['for names of tools', 'Use "sort_list", then "sum_list" on "a"', { of: 'a' }, ['sort_list', 'sum_list']],
    ['for years, days of a month and clocks', '1st to 3rd, 6月 to 8月, 1990 to 2001, 10:15 to 11:45', ['1st', '10:15']],
    [
      'for a day written otherwise',
      'May 2, the 3rd of June, 7月4日, 3/4/2026',
      ['2026-05-02', '06/03/2026', '20260704', '2026-03-04'],
    ],
    ['for a day that may be seconds since 1970', 'From May 2 on', { since: 1777680000 }],
    ['for what is said of today', 'Today is May 2, 2026: which films run?', { topic: 'films' }],
    ['for a number in another unit or form', '1,500 g at 20% for 2 hours', { kg: 1.5, share: 0.2, minutes: 120 }],
    ['where the request excludes something', 'Delete invoice 120 but not 130', { id: 120 }],
    ['where it replaces something', '把价格改成250元，原来200元', { price: 250 }],
    ['for the old of two values', 'Change the price of C001 from 200 to 250 dollars', { id: 'C001', price: 250 }],
    ['for counts', 'Invite 2 people to the 3 newest groups', { who: ['Ann', 'Bo'] }],
    ['for counts of nothing in common', 'Rooms 3 and 5', { room: 3 }],
    ['for spans of time', 'orders of the last 30 days, 1 hour 30 minutes, at 3 pm, 最近90天', { from: '2026-01-01' }],
    ['for marks of lists', '(1) find users 2) delete them, step 3, 第4个, page 25, 24/7', { of: 'users' }],
    ['for a page', 'Open https://example.com/a?id=55&x=70', { url: 'example' }],
    ['for names of firms', 'The bill of Miller & Sons', { reason: 'sons' }],
    ['for alternatives', 'Ask Ann or Bob', { who: 'Ann' }],
    ['for texts in other forms', '发送“你好，世界”和“再见”', ['你好，世界', '再见']],
    ['for names with other marks', 'Mail Ann Smith and Bo Lee', ['ann.smith@example.com', 'bo_lee']],
    ['for a day in parts', 'On May 2', { month: 5, day: 2 }],
    ['for days that begin alike', 'Hotel from May 2 to May 29', { from: '2026-05-02', to: '2026-05-29' }],
    ['for what is told of now', 'Current date: 2024-12-05. Which films run?', { topic: 'films' }],
    ['for numbers that are none', 'A 3D film\n1. rate m^3', { film: '-' }],
    ['for formulas, which are rewritten', "Take 'x^2 + 1' and 'y^3' over 'plain'", { of: 'plain' }],
    ['for the first word of a sentence', 'Compare Rome and Athens', ['Rome', 'Athens']],
    ['for months and the user', "Between May and June, Paris and I'm there", { city: 'Paris', from: 'May' }],
    ['for a whole request in quotes', '"Look at C001, then at C002"', ['C001', 'C002']],
  ])('is nothing %s', (_, message, values, tools: readonly string[] = []) => {
    expect(unusedOf(message, values, tools)).toEqual([]);
  });

  it('is nothing of a document or a table', () => {
    expect(unusedOf(`Sum 70 and 90 ${'of this text '.repeat(400)}`, { of: 70 })).toEqual([]);
    expect(unusedOf(`Sum ${Array.from({ length: 50 }, (_, place) => place * 7).join(', ')}`, { of: 7 })).toEqual([]);
  });

  it('is read in no time from what has many names and quotes', () => {
    const words = [
      `Rome ${'Anna '.repeat(700)}`,
      'A, '.repeat(1300),
      'Xx and '.repeat(550),
      `${'"a '.repeat(1300)}`,
      '9'.repeat(3900),
      '\n'.repeat(2000) + '1 '.repeat(900),
      'Anna and '.repeat(400),
    ];
    for (const text of words) expect(unusedOf(text, {}).length).toBeLessThan(3);
  });

  it('does not take a reference for a use', () => {
    expect(unusedOf('Users u1 and u2', ['u1', '${s1.u2}'])).toEqual(['u2']);
  });

  it('reads arguments that are not written to the end', () => {
    expect(useOf(statedByKind('Rooms R1, R2', []), '{"room":"R1","no').unused).toEqual(['R2']);
  });
});
