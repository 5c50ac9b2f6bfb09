import { describe, expect, it } from '@jest/globals';
import { duration } from '../../src/cli/duration.js';

describe('a time at the command line', () => {
  it.each([
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['1.5h', 5_400_000],
  ])('written as "%s" is %s milliseconds', (text, expected) => {
    expect(duration(text)).toBe(expected);
  });

  it.each(['30', '0m', '-1m', 'soon'])('can not be "%s"', (text) => {
    expect(() => duration(text)).toThrow('write it as 90s, 30m or 2h.');
  });
});
