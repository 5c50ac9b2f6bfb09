import { describe, expect, it } from '@jest/globals';
import { canRunAway, stepsOf } from '../../../../src/core/catalog/schema/pattern-steps.js';

describe('the steps of a pattern at worst', () => {
  it.each([
    ['one place to begin', '^/tmp/', 1],
    ['a word anywhere', 'word', 100],
    ['a repetition', '^a+$', 100],
    ['a repetition anywhere', 'a+b', 100 ** 2],
    ['repetitions', '^a+[+*]{2,}b*?$', 100 ** 3],
    ['options', '^a?b??$', 4],
    ['alternatives, each of which may begin anywhere', '^a|b|c', 400],
    ['exact counts', '^[0-9a-f]{8}-[0-9a-f]{12}$', 20],
    ['what is escaped or in a class', String.raw`^\+[+*|?{]\?\p{Lu}$`, 1],
    ['groups that are no choice', '^(?:a)(?<b>c)(?=d)(?!e)$', 1],
    ['a group that is repeated, and holds no choice', '^(ab)+$', 100],
    ['a group that is optional', '^(a+)?$', 200],
  ])('%s', (_, pattern, steps) => {
    expect(stepsOf(pattern)(100)).toBe(steps);
    expect(canRunAway(pattern)).toBe(false);
  });

  it.each([
    ['a repetition in a repetition', '^(a+)+$', true],
    ['one behind a character of two units', '^😀(a+)+$', true],
    ['alternatives in a repetition', '(a|a)*b', true],
    ['a repetition deep in a repetition', '((x(a*))y)+', true],
    ['a repetition in one of at least so many', '(a?b?){3,}', true],
    ['a repetition in one of so many', String.raw`(\d{1,3}\.){3}`, false],
    ['what was matched before', String.raw`^(a+)\1$`, false],
  ])('know no bound with %s', (_, pattern, isRisky) => {
    expect(stepsOf(pattern)(1)).toBe(Number.POSITIVE_INFINITY);
    expect(canRunAway(pattern)).toBe(isRisky);
  });
});
