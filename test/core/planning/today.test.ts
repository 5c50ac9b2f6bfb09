import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { renderToday } from '../../../src/core/planning/today.js';

afterEach(() => {
  jest.useRealTimers();
});

describe('the day of the user', () => {
  it.each([
    ['2026-11-22T15:30:00Z', 'Asia/Shanghai', '2026-11-22 (Sunday), time zone Asia/Shanghai'],
    ['2026-11-22T16:30:00Z', 'Asia/Shanghai', '2026-11-23 (Monday), time zone Asia/Shanghai'],
    ['2026-11-22T04:30:00Z', 'America/New_York', '2026-11-21 (Saturday), time zone America/New_York'],
  ])('at %s is that of the clock in %s', (now, timeZone, day) => {
    jest.useFakeTimers({ now: new Date(now) });
    expect(renderToday({ timeZone })).toBe(day);
  });

  it('is the one that the request names, whatever the clock says', () => {
    jest.useFakeTimers({ now: new Date('2030-01-01T00:00:00Z') });
    expect(renderToday({ today: '2024-02-29', timeZone: 'UTC' })).toBe('2024-02-29 (Thursday), time zone UTC');
  });

  it('has the time zone of the machine where the request names none', () => {
    const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
    expect(renderToday({ today: '2026-11-22' })).toBe(`2026-11-22 (Sunday), time zone ${timeZone}`);
  });
});
