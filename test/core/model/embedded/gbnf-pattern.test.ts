import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Count } from '../../../../src/core/model/embedded/gbnf-collections.js';
import { patternBody } from '../../../../src/core/model/embedded/gbnf-pattern.js';
import { createGrammarRules } from '../../../../src/core/model/embedded/gbnf-rules.js';
import { createGbnfMatcher } from '../../../support/gbnf-matcher.js';

const ANY_LENGTH: Count = { least: 0, most: undefined };

function grammarOf(pattern: string, { maxRepeat = 64, length = ANY_LENGTH } = {}) {
  const rules = createGrammarRules();
  const made = patternBody(pattern, { rules, maxRepeat, length });
  if (made === undefined) return undefined;
  const { accepts } = createGbnfMatcher(rules.render(made.body));
  return { ...made, takes: (text: string) => accepts(JSON.stringify(text)), accepts };
}

function writer(pattern: string, options?: { maxRepeat?: number; length?: Count }) {
  const grammar = grammarOf(pattern, options);
  if (grammar === undefined) throw new Error(`${pattern} has no grammar`);
  return grammar;
}

describe('a pattern as a grammar', () => {
  it.each<[string, string[], string[]]>([
    ['^[0-9A-Z]{8}$', ['001A0000'], ['001A000', '001a0000', '001A00000']],
    ['^\\d{4}-\\d{2}$', ['2024-05'], ['2024-5', ' 2024-05']],
    ['^https?://', ['http://a', 'https://', 'https://a"b\\c\n'], ['ftp://a', 'xhttp://a']],
    ['\\.(png|svg)$', ['a.png', '.svg'], ['a.png ', 'a.gif']],
    ['b', ['b', 'abc', '"b"'], ['', 'ac']],
    // A text without a reference; see planning/plan-schema.ts.
    ['^([^$]|[$]+[^${])*[$]*$', ['', 'a {b}', '5$', '$5 "a"', '$$'], ['${s1.a}', 'a ${s1.a}', '$${']],
    ['', ['', 'x'], []],
    ['^$', [''], ['x']],
    ['^a|b$', ['ax', 'xb', 'a', 'b'], ['xa', 'bx']],
    ['^(?:(^a)|b$)$', ['a', 'b'], ['ab', 'xa']],
    ['(^|,)x(,|$)', ['x', 'a,x', 'x,a', 'a,x,b'], ['ax', 'xa']],
    ['^(one|two|)$', ['one', 'two', ''], ['onetwo', 'o']],
    ['^["\\\\]+$', ['"', '\\', '\\"\\'], ['/', '']],
    ['^[^"a]$', ['b', '\\', '盘', '😀', '\n'], ['a', '"', 'bb']],
    ['^.$', ['"', '😀', '\t'], ['\n', '\u2028', 'ab']],
    ['^[\\s\\S]$', ['\n', '\u2028', 'a'], ['', 'ab']],
    ['^[\\w.-]+@\\S+$', ['a.b-c@d"e'], ['a b@c', '@c']],
    ['^\\W\\D$', ['-x', '"盘'], ['ax', '-1']],
    ['^[\\]\\[^-]$', [']', '[', '^', '-'], ['\\', '_']],
    ['^\\u0041\\x42\\u{1F600}\\n$', ['AB😀\n'], ['AB😀n']],
    ['^(?<year>a{2}){2}b?c{0}$', ['aaaa', 'aaaab'], ['aaa', 'aaaac']],
    ['^a+?b*?$', ['a', 'aab'], ['b']],
    ['^\\$\\{s[1-9]\\}$', ['${s1}'], ['${s0}', '$s1']],
  ])('%s', (pattern, right, wrong) => {
    const { takes, isExact } = writer(pattern);
    const expression = new RegExp(pattern, 'u');
    expect([right.every((text) => expression.test(text)), wrong.some((text) => expression.test(text))]).toEqual([
      true,
      false,
    ]);
    expect(right.filter((text) => !takes(text))).toEqual([]);
    expect(wrong.filter(takes)).toEqual([]);
    expect(isExact).toBe(true);
  });

  it.each([
    '^(?=a)b$',
    '^(?!a).*$',
    '(?<=a)b',
    '^(a)\\1$',
    '\\bword\\b',
    'a\\Bb',
    '^\\p{L}+$',
    '^[\\p{Lu}]$',
    '^(?i:a)$',
    '^(a*)*$',
    '^(a?|b)+$',
    '^a{65}$',
    '^(a{9}){9}$',
    'a^b',
    'a$b',
    '(^a)+',
    '^\\ud800$',
    '^\\x00[\\x01-\\x02]$',
    '^[]$',
    '[',
    '^[\\w-.]$',
  ])('has none for what is not regular, or can not be written: %s', (pattern) => {
    expect(grammarOf(pattern)).toBeUndefined();
  });

  it('has none for brackets without end', () => {
    expect(grammarOf('('.repeat(20_000) + ')'.repeat(20_000))).toBeUndefined();
  });

  it('has only the two-character escapes and no control character as it is', () => {
    const { accepts } = writer('^[\\s\\S]*$');
    expect(['"\\n\\t\\"\\\\"', '"\\/"', '"\\x"', '"\n"', '"\\"'].map(accepts)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  it.each<[string, string, string, string]>([
    ['a range', '^a{1,65}$', 'a'.repeat(99), ''],
    ['a range inside of a range', '^(a{1,9},){1,9}$', `${'a'.repeat(12)},`, 'a,'.repeat(10)],
    ['the least of a range', '^a{3,99}$', 'aaa', 'aa'],
  ])('has no end for %s that is written out too often, and says so', (_, pattern, right, wrong) => {
    const { takes, isExact } = writer(pattern);
    expect([isExact, takes(right), takes(wrong)]).toEqual([false, true, false]);
  });

  it('stays small for counts inside of counts', () => {
    const rules = createGrammarRules();
    const made = patternBody('^(([a-z]{1,4}\\.){1,4}-){4}$', { rules, maxRepeat: 64, length: ANY_LENGTH });
    expect(made).toMatchObject({ isExact: true });
    expect(made?.body.length).toBeLessThan(80);
  });

  it('keeps to the length of the text where the pattern is a run of one kind of character', () => {
    const { takes, keepsLength } = writer('^[a-z]+$', { length: { least: 2, most: 3 } });
    expect(keepsLength).toBe(true);
    expect(['a', 'ab', 'abc', 'abcd', 'a1'].map(takes)).toEqual([false, true, true, false, false]);
    expect(writer('^[a-z]+-$', { length: { least: 2, most: 3 } }).keepsLength).toBe(false);
    expect(grammarOf('^[a-z]{4}$', { length: { least: 0, most: 3 } })).toBeUndefined();
  });
});

/** Patterns of the regular part, small enough that random texts come near them. */
const { pattern: regular } = fc.letrec<Record<'pattern' | 'branches' | 'pieces' | 'piece' | 'atom', string>>((tie) => ({
  pattern: fc
    .array(fc.tuple(fc.constantFrom('', '^'), tie('pieces'), fc.constantFrom('', '$')), { minLength: 1, maxLength: 3 })
    .map((branches) => branches.map((parts) => parts.join('')).join('|')),
  branches: fc.array(tie('pieces'), { minLength: 1, maxLength: 3 }).map((branches) => branches.join('|')),
  pieces: fc.array(tie('piece'), { maxLength: 3 }).map((pieces) => pieces.join('')),
  piece: fc
    .tuple(tie('atom'), fc.constantFrom('', '', '', '?', '+', '*', '{2}', '{1,2}'))
    .map((parts) => parts.join('')),
  atom: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    fc.constantFrom('a', 'b', '"', '\\\\', '\\d', '\\W', '\\s', '.', '[a"]', '[^a\\d]', '[^\\s\\\\]', '盘', '😀'),
    fc.oneof({ weight: 6, arbitrary: tie('branches') }, tie('pattern')).map((inner) => `(?:${inner})`),
  ),
}));
const letter = fc.constantFrom('a', 'b', '"', '\\', '1', ' ', '\n', '盘', '😀', '_');
const anyText = fc.array(letter, { maxLength: 6 }).map((letters) => letters.join(''));

/** A text, and with luck one that is a step away from it. */
const change = fc.record({ at: fc.nat(8), remove: fc.nat(1), insert: fc.oneof(fc.constant(''), letter) });
function changed(text: string, { at, remove, insert }: { at: number; remove: number; insert: string }): string {
  const letters = [...text];
  letters.splice(at, remove, insert);
  return letters.join('');
}

/** Control characters without a short escape are the one thing that a grammar never writes. */
const isWritable = (text: string) => [...text].every((one) => !/^"\\u/u.test(JSON.stringify(one)));

describe('the grammar of any regular pattern', () => {
  it('takes the texts that the pattern matches and no others', () => {
    const seen = { taken: 0, refused: 0, without: 0 };
    fc.assert(
      fc.property(regular, fc.array(anyText, { minLength: 4, maxLength: 4 }), (pattern, texts) => {
        const grammar = grammarOf(pattern);
        if (grammar === undefined) seen.without += 1;
        const expression = new RegExp(pattern, 'u');
        for (const text of grammar ? texts : []) {
          const matches = expression.test(text);
          expect({ pattern, text, taken: grammar?.takes(text) }).toEqual({ pattern, text, taken: matches });
          seen[matches ? 'taken' : 'refused'] += 1;
        }
      }),
      { numRuns: 600 },
    );
    expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(100);
    // 270 in the mean, ±12: an anchor in the middle, or a repeated group that may be empty.
    expect(seen.without).toBeLessThan(360);
  });

  it.each([
    '^[0-9A-Z]{8}$',
    '^([01]\\d|2[0-3]):?[0-5]\\d$',
    '^(?:[a-z0-9](?:[a-z0-9-]{0,6}[a-z0-9])?\\.)+[a-z]{2,4}$',
    '^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,}$',
    '^[ -~]*$',
    '^[^,]+(,[^,]+)*$',
    '^(GET|POST)(,(GET|POST))*$',
    '"[^"]*"',
    '\\\\[nt]$',
  ])('takes whatever matches %s, and judges what is a step away as the pattern does', (pattern) => {
    const expression = new RegExp(pattern, 'u');
    const { takes } = writer(pattern);
    fc.assert(
      fc.property(fc.stringMatching(expression, { size: 'small' }), change, (text, step) => {
        fc.pre(isWritable(text));
        expect(takes(text)).toBe(true);
        const near = changed(text, step);
        expect({ near, taken: takes(near) }).toEqual({ near, taken: expression.test(near) });
      }),
      { numRuns: 60 },
    );
  });
});
