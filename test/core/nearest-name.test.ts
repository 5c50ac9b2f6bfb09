import { describe, expect, it } from '@jest/globals';
import { nearestName } from '../../src/core/nearest-name.js';

const KNOWN = ['read_mail', 'send_mail', 'stock_quote'];

describe('the nearest known name', () => {
  it.each([
    ['read_mial', 'read_mail'],
    ['READ_MAIL', 'read_mail'],
    ['send_mails', 'send_mail'],
    ['stockquote', 'stock_quote'],
  ])('of %s is %s', (wrong, near) => {
    expect(nearestName(wrong, KNOWN)).toBe(near);
  });

  it.each(['', 'xyzzy', 'mail', 'x'.repeat(5_000)])('of "%s" is none', (wrong) => {
    expect(nearestName(wrong, KNOWN)).toBeUndefined();
  });
});
