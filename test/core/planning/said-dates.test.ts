import { describe, expect, it } from '@jest/globals';
import { datesIn, isSameDay } from '../../../src/core/planning/said-dates.js';

describe('days that a text names', () => {
  it.each([
    ['December 1, 2024', ['12-1'], '2024'],
    ['Sept. 3rd', ['9-3'], undefined],
    ['the 20th of July 2023', ['7-20'], '2023'],
    ['2024-12-01', ['12-1'], '2024'],
    ['2024年12月1日', ['12-1'], '2024'],
    ['20241201', ['12-1'], '2024'],
    ['12月1日', ['12-1'], undefined],
    ['3/4/2026', ['3-4', '4-3'], '2026'],
    ['24.12.2026', ['24-12', '12-24'], '2026'],
  ])('are read in %s', (text, days, year) => {
    expect(datesIn(`On ${text}, please`)).toEqual([{ text: expect.any(String), days, year }]);
  });

  it.each(['in May', 'it may 3 times fail', 'version 1.2.3', '12 months', '10:15', 'room 2024', '1.2.2023.4'])(
    'are none in "%s"',
    (text) => {
      expect(datesIn(text)).toEqual([]);
    },
  );

  it('are one day in any form, whatever the year', () => {
    const [one, other, next] = ['May 2', '02.05.2026', '2026-05-03'].flatMap(datesIn);
    expect(one && other && isSameDay(one, other)).toBe(true);
    expect(one && next && isSameDay(one, next)).toBe(false);
  });
});
