import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSafePattern, createStepBudget, isPattern } from '../../../../src/core/catalog/schema/safe-pattern.js';

describe('a pattern', () => {
  it('on which others run for years is decided at once', () => {
    const pattern = createSafePattern('^(a+)+$');
    expect([`${'a'.repeat(10_000)}!`, 'b', 'aaaa'].map((text) => pattern.matches(text))).toEqual([false, false, true]);
  });

  it('is not decided on a text that takes too many steps', () => {
    const [pattern, text] = [createSafePattern('a'), 'a'.repeat(3_000_000)];
    expect(pattern.matches(text)).toBeUndefined();
    expect(pattern.matches(text, createStepBudget('operator'))).toBe(true);
  });

  it('spends the budget of those that share it, and no more than that', () => {
    const budget = createStepBudget();
    const tried = Array.from({ length: 40 }, () => createSafePattern('a').matches('a'.repeat(50_000), budget));
    expect(tried.slice(0, 10)).not.toContain(undefined);
    expect(tried.at(-1)).toBeUndefined();
    expect(createSafePattern('a').matches('a')).toBe(true);
  });

  it.each([
    ['a script', String.raw`^\p{Script=Han}+$`, '水位', true],
    ['a category', String.raw`^\p{Lu}\p{Ll}+$`, 'Oslo', true],
    ['a character by its number', String.raw`^[\u4e00-\u9fff]+$`, '水位', true],
    ['a class that engines without "u" take', String.raw`^[\w-_]+$`, 'a-b_c', true],
    ['no end in the middle', 'a$', 'ab', false],
  ])('is read as JavaScript reads it: %s', (_, pattern, text, expected) => {
    expect(createSafePattern(pattern).matches(text)).toBe(expected);
  });

  it('matches in letters of either case where that is asked for', () => {
    expect(createSafePattern('report', { ignoreCase: true }).matches('the REPORT')).toBe(true);
    expect(createSafePattern('report').matches('the REPORT')).toBe(false);
  });

  it.each(['(', '(?=a)b', String.raw`(a)\1`, 'a{1,9999}'])('is none where no linear time is promised: %s', (text) => {
    expect(isPattern(text)).toBe(false);
  });

  it.each([String.raw`\p{L}`, String.raw`[k-\u{10FFFF}]`, '[!-龥]'])(
    'has few classes of thousands of characters: %s',
    (wide) => {
      expect([40, 60].map((times) => isPattern(wide.repeat(times)))).toEqual([true, false]);
      expect(isPattern(`^${wide}{1,900}$`)).toBe(true);
    },
  );

  it('decides as the engine of JavaScript does', () => {
    const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', String.raw`\d`, '(a|b)', '(?:ab)', '^', '$');
    const part = fc
      .tuple(atom, fc.constantFrom('', '*', '+', '?'))
      .map(([one, many]) => (/[$^]/u.test(one) ? one : one + many));
    const patterns = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join(''));
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1'), maxLength: 12 });
    fc.assert(
      fc.property(patterns, texts, (pattern, text) => {
        expect(createSafePattern(pattern).matches(text)).toBe(new RegExp(pattern, 'u').test(text));
      }),
    );
  });
});
