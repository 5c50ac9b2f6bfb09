import { describe, expect, it } from '@jest/globals';
import { unsaidDates } from '../../../src/core/planning/unsaid-dates.js';
import type { Step } from '../../../src/core/result.js';

const fly = (values: Step['arguments']): Step[] => [
  { id: 's1', tool: 'fly', arguments: values, purpose: '', dependsOn: [] },
];
const chosen = (message: string, values: Step['arguments']) =>
  unsaidDates(fly(values), { message, today: '2026-11-22 (Sunday)' });

describe('a day that nobody said in place of one that was', () => {
  it('is found with the days to choose from', () => {
    expect(
      chosen('Fly on December 1, 2027 and back on December 15', { out: '2026-11-22', back: '2027-12-15' }),
    ).toEqual([{ tool: 'fly', argument: 'out', among: ['2027-12-01', '2027-12-15'] }]);
  });

  it.each([
    ['of this year', 'on the 24th of December', '2026-12-24'],
    ['of the next', '3月2日出发', '2027-03-02'],
    ['today', 'on November 22', '2026-11-22'],
  ])('has a day without a year %s', (_, message, day) => {
    expect(chosen(message, { out: '2025-01-01' })).toEqual([{ tool: 'fly', argument: 'out', among: [day] }]);
  });

  it.each([
    ['all days are used', 'on May 2, 2027', { out: '2027-05-02', back: '2027-05-09' }],
    ['none is said', 'tomorrow', { out: '2026-11-23' }],
    ['a day can be read in two ways', 'on 3/4/2027', { out: '2026-11-22' }],
    ['the argument is no day alone', 'on May 2, 2027', { note: 'from 2026-11-22 on', out: '22.11.2026', seats: 2 }],
  ])('is none where %s', (_, message, values) => {
    expect(chosen(message, values)).toEqual([]);
  });
});
