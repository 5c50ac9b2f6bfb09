import { describe, expect, it } from '@jest/globals';
import { nearestName, nearestNames, nearHint } from '../../src/core/nearest-name.js';

describe('the nearest known name', () => {
  const known = ['read_mail', 'send_mail', 'stock_quote'];
  it.each([
    ['read_mial', 'read_mail'],
    ['READ_MAIL', 'read_mail'],
    ['send_mails', 'send_mail'],
    ['stockquote', 'stock_quote'],
  ])('of %s is %s', (wrong, near) => {
    expect(nearestName(wrong, known)).toBe(near);
  });

  it.each(['', 'xyzzy', 'mail', 'x'.repeat(5_000)])('of "%s" is none', (wrong) => {
    expect(nearestName(wrong, known)).toBeUndefined();
  });

  it('may be asked to be nearer', () => {
    expect(nearestName('read_mial', known, { maxSlips: 0.1 })).toBeUndefined();
  });
});

describe('near names', () => {
  const known = ['weather_forecast', 'weather_now', 'send_email', 'git_log', 'getLog', 'log'];
  it.each([
    ['wether_forecast', ['weather_forecast']],
    ['WEATHER_NOW', ['weather_now']],
    ['git_lgo', ['git_log']],
    ['get_log', ['git_log', 'getLog']],
    ['lo', []],
    ['calendar', []],
    ['', []],
  ])('of "%s"', (name, names) => {
    expect(nearestNames(name, known)).toEqual(names);
  });

  it('are three at most', () => {
    expect(nearestNames('a_tool', ['b_tool', 'c_tool', 'd_tool', 'e_tool'])).toHaveLength(3);
  });

  it('end a message', () => {
    expect([nearHint('git_lgo', known), nearHint('zzz', known)]).toEqual(['; near: git_log', '']);
  });
});
