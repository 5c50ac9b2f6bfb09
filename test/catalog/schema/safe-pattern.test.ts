import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createPatternTrials, createSafePattern } from '../../../src/catalog/schema/safe-pattern.js';

const RUNS_AWAY = '^(a+)+$';
const AWAY = `${'a'.repeat(40)}!`;

afterEach(() => {
  jest.restoreAllMocks();
});

/** Of a process that works so much, in milliseconds, between one look at the clock and the next. */
function countLooks(workedMs: number) {
  let looks = 0;
  jest.spyOn(process, 'cpuUsage').mockImplementation(() => {
    looks += 1;
    return { user: looks * workedMs * 1000, system: 0 };
  });
  return () => looks;
}

describe('a pattern that runs away', () => {
  it('does not match, and is tried once where the process worked all the time', () => {
    const looks = countLooks(100);
    expect(createSafePattern(RUNS_AWAY).test(AWAY)).toBe(false);
    expect(looks()).toBe(3);
  });

  it('is tried again where the process only stood in line, a few times', () => {
    const looks = countLooks(1);
    expect(createSafePattern(RUNS_AWAY).test(AWAY)).toBe(false);
    expect(looks()).toBe(9);
  });

  it('leaves a text that matches alone', () => {
    expect(createSafePattern(RUNS_AWAY).test('aaaa')).toBe(true);
  });

  it('spends the budget of those that share it, by work', () => {
    const trials = createPatternTrials();
    countLooks(0);
    for (let tries = 0; tries < 3; tries++) expect(trials(/^(a+)+$/u, 'aaaa')).toBe(true);
    countLooks(600);
    expect(trials(/^(a+)+$/u, 'aaaa')).toBe(true);
    expect(trials(/^(a+)+$/u, 'aaaa')).toBe(false);
  });
});
