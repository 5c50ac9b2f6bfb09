import { describe, expect, it } from '@jest/globals';
import { numeralsOf } from '../../../src/core/planning/said-numbers.js';

const holds = (value: string, said: string, about?: unknown) => numeralsOf(said)?.hold(value, about);

describe('a value made of the numbers that were said', () => {
  it.each([
    ['as it stands', '92', 'an invoice over 92 dollars'],
    ['with a mark for thousands', '200000', 'a loan of 200,000 dollars'],
    ['with the mark in the value', '200,000', 'a loan of 200000 dollars'],
    ['with a space for thousands', '12500', 'a loan of 12 500 kr'],
    ['with the marks of other countries', '1234.56', 'the sum of 1.234,56 EUR'],
    ['with other zeros', '1.5', 'the rate of 1.50'],
    ['as a share of a hundred', '0.05', 'at 5 % of it'],
    ['in thousands', '200000', 'a loan of 200k'],
    ['in billions', '2000000000', 'a loan of 2 billion'],
    ['in Chinese units', '200000000', '给他2亿元'],
    ['in minutes for hours', '120', 'for 2 hours'],
    ['in months for years', '120', 'for 10 years'],
    ['after noon', '19:00', 'at 7 for us'],
    ['with another mark', '09:30', 'at 9.30 for us'],
    ['of a telephone', '+14155552671', 'call the number +1 (415) 555-2671'],
    ['of another telephone', '13812345678', '给 138-1234-5678 打电话'],
    ['in full width', '92', '金额是９２元'],
    ['in a date', '2026', 'the report of 2026-12-05'],
  ])('is known %s', (_, value, said) => {
    expect(holds(value, said)).toBe(true);
  });

  it('is known by what belongs to the value, as the default of an argument', () => {
    expect(holds('30', 'the list of them', { default: 30 })).toBe(true);
    expect(holds('30', 'the list of them', { default: 40 })).toBe(false);
  });

  it.each([
    ['a sum', '1200', 'a salary of 1000 and 200 more'],
    ['a product', '800', 'the discount of 20 % on 1000'],
    ['a part of a date in another unit', '744', 'the days from 2024-12-31'],
    ['a time', '08:00', 'a ticket for the bus of 11/02/2024'],
    ['a place', '41.89,76.90, Mumbai', 'the time zone of Mumbai'],
    ['one of two numbers', '10:45', 'at 10 for us'],
  ])('is not known as %s', (_, value, said) => {
    expect(holds(value, said)).toBe(false);
  });

  it.each(['2026-12-05', '2026年12月5日', '2026-12', '12/05', '5.12.2026', '20261205', '2026', '2026-12-05T10:45'])(
    'is always known where it is a date: %s',
    (date) => {
      expect(holds(date, 'the report of the day')).toBe(true);
    },
  );

  it.each([
    'fifty dollars for it',
    'half an hour of it',
    'at noon for us',
    'the report of next month',
    'the ticket for tomorrow',
    '三百元',
    '十五分钟',
    '早上8点',
    '去年的报告',
    'für zwölf Uhr',
    'для нас в 8',
  ])('is not judged where words may say it: %s', (said) => {
    expect(numeralsOf(said)).toBeUndefined();
  });
});
