import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  canRunAway,
  createPatternTrials,
  createSafePattern,
} from '../../../../src/core/catalog/schema/safe-pattern.js';

const RUNS_AWAY = '^(a+)+$';
const AWAY = `${'a'.repeat(40)}!`;

afterEach(() => {
  jest.restoreAllMocks();
});

/** Of a process that has worked so much of each time it is asked about, in milliseconds. */
function workBy(workedMs: number) {
  return jest
    .spyOn(process, 'cpuUsage')
    .mockImplementation((since) => ({ user: since ? workedMs * 1000 : 0, system: 0 }));
}

const timeOf = (work: () => void) => {
  const begin = performance.now();
  work();
  return performance.now() - begin;
};

describe('a pattern that runs away', () => {
  it('does not match, and is tried once where the process worked all the time', () => {
    const looks = workBy(1_000);
    expect(createSafePattern(RUNS_AWAY).test(AWAY)).toBe(false);
    expect(looks).toHaveBeenCalledTimes(2);
  });

  it('is tried again where the process only stood in line, a few times', () => {
    const looks = workBy(1);
    expect(createSafePattern(RUNS_AWAY).test(AWAY)).toBe(false);
    expect(looks).toHaveBeenCalledTimes(6);
  });

  it('is told from one that does not match', () => {
    const pattern = createSafePattern(RUNS_AWAY);
    expect([AWAY, 'b', 'aaaa'].map((text) => pattern.matches(text))).toEqual([undefined, false, true]);
  });

  it('leaves a text that matches alone', () => {
    expect(createSafePattern(RUNS_AWAY).test('aaaa')).toBe(true);
  });

  it('spends the budget of those that share it, by its own work', () => {
    const trials = createPatternTrials();
    workBy(1_000);
    // Other threads worked for a second in each of these moments.
    for (let tries = 0; tries < 20; tries++) expect(trials(/^(a+)+$/u, 'aaaa')).toBe(true);
    for (let tries = 0; tries < 8; tries++) expect(trials(/^(a+)+$/u, AWAY)).toBeUndefined();
    expect(trials(/^(a+)+$/u, 'aaaa')).toBeUndefined();
  });

  it('spends no more than some seconds by the clock, however little of it was work', () => {
    const trials = createPatternTrials();
    workBy(0);
    const spent = timeOf(() => {
      for (let tries = 0; tries < 30; tries++) expect(trials(/^(a+)+$/u, AWAY)).toBeUndefined();
    });
    // Without a bound it were nine seconds.
    expect(trials(/^(a+)+$/u, 'aaaa')).toBeUndefined();
    expect(spent).toBeGreaterThan(1_000);
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
