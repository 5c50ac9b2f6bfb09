import { describe, expect, it, jest } from '@jest/globals';
import {
  canRunAway,
  createPatternTrials,
  createSafePattern,
} from '../../../../src/core/catalog/schema/safe-pattern.js';

const RUNS_AWAY = '^(a+)+$';
const AWAY = `${'a'.repeat(40)}!`;

describe('a pattern that runs away', () => {
  it('is told from one that does not match', () => {
    const pattern = createSafePattern(RUNS_AWAY);
    expect([AWAY, 'b', 'aaaa'].map((text) => pattern.matches(text))).toEqual([undefined, false, true]);
    expect([AWAY, 'b', 'aaaa'].map((text) => pattern.test(text))).toEqual([false, false, true]);
  });

  it('spends the budget of those that share it, and no more than that', () => {
    let time = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => (time += 250));
    const trials = createPatternTrials();
    const tried = Array.from({ length: 6 }, () => trials(/^(a+)+$/u, 'aaaa'));
    clock.mockRestore();
    expect(tried).toEqual([true, true, true, true, undefined, undefined]);
    expect(createPatternTrials()(/^(a+)+$/u, 'aaaa')).toBe(true);
  });
});

describe('a pattern that can run away', () => {
  it.each([
    ['a repetition in a repetition', '^(a+)+$', true],
    ['one behind a character of two units', '^😀(a+)+$', true],
    ['alternatives in a repetition', '(a|a)*b', true],
    ['a repetition deep in a repetition', '((x(a*))y)+', true],
    ['a repetition in one of at least so many', '(a?b?){3,}', true],
    ['a repetition in one of so many', String.raw`(\d{1,3}\.){3}`, false],
    ['a group that is repeated, and holds no choice', '^(ab)+$', false],
    ['what is escaped or in a class', String.raw`^\+[+*|?{]\?\p{Lu}$`, false],
    ['what was matched before', String.raw`^(a+)\1$`, false],
  ])('is told from others: %s', (_, pattern, isRisky) => {
    expect(canRunAway(pattern)).toBe(isRisky);
  });
});
