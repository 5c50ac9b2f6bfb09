/**
 * Runs regular expressions from untrusted sources in linear time, so that none can hang the process, with RE2 (Cox, "Regular
 * Expression Matching in the Wild", 2010). RE2 has no look-around and no back-references.
 */
import { RE2JS } from 're2js';
import { orUndefined } from '../../errors.js';

export interface SafePattern {
  /**
   * Undefined: not decided, since matching would take more steps than are left.
   * @param budget shared by several calls. Default: each call has its own.
   */
  matches(text: string, budget?: StepBudget): boolean | undefined;
}

/** Steps that are left: one for each instruction of a pattern at each character of a text. */
export interface StepBudget {
  left: number;
}

/** For untrusted patterns: about 0.1 s at worst, mostly a millisecond. Patterns of operators are trusted; `rule`: for all rules. */
const MOST_STEPS = { stranger: 2 ** 21, rule: 2 ** 24, operator: 2 ** 25 };

export function createStepBudget(author: keyof typeof MOST_STEPS = 'stranger'): StepBudget {
  return { left: MOST_STEPS[author] };
}

/** Size of a pattern with its repetitions expanded: larger ones compile too slowly. None of 122 of real tools has 300. */
export const MOST_PATTERN_SIZE = 5_000;

/** A class of thousands of characters takes up to 4 ms to compile, as long as some hundred characters. */
const WIDE_CLASS = { form: /\\p|-(?:\\[ux]|[^\0-\x7f])/giu, size: 100 };

/** About how many characters and classes a pattern has with its repetitions expanded: 7 for `a(b){3}`, 101 for `\p{L}`. */
export function sizeOfPattern(pattern: string): number {
  if (pattern.length > MOST_PATTERN_SIZE) return pattern.length;
  const wide = WIDE_CLASS.size * (pattern.match(WIDE_CLASS.form) ?? []).length;
  const around: number[] = [];
  // Sizes of all before the last character, class or group, and of that itself.
  let [before, last] = [0, 0];
  for (const [part, least, most] of pattern.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]?|\{(\d+)(?:,(\d*))?\}|./gsu)) {
    if (part === '(') {
      around.push(before + last);
      [before, last] = [0, 1];
    } else if (part === ')') [before, last] = [around.pop() ?? 0, before + last];
    else if (least !== undefined) last *= Math.max(1, Number(least), Number(most ?? 0));
    else [before, last] = [before + last, 1];
  }
  return around.reduce((sum, size) => sum + size, wide + before + last);
}

/** @throws Error when RE2 can't parse the pattern, or when it is too large */
export function createSafePattern(pattern: string, { ignoreCase = false } = {}): SafePattern {
  const expression = compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  return {
    matches(text, budget = createStepBudget()) {
      budget.left -= expression.programSize() * text.length;
      return budget.left < 0 ? undefined : expression.test(text);
    },
  };
}

export const NO_PATTERN = 'not a regular expression of RE2, which has neither look-around nor back-references';

export function isPattern(text: string): boolean {
  return findSafePattern(text) !== undefined;
}

export function findSafePattern(text: string): SafePattern | undefined {
  return orUndefined(() => createSafePattern(text));
}

/** Whether JavaScript accepts the pattern, with the flag `u` or without (`[\w-_]`). Nothing is matched. */
function isRegExp(text: string): boolean {
  return ['u', ''].some((flags) => orUndefined(() => new RegExp(text, flags)) !== undefined);
}

/** Only RE2 has `(?P<x>a)`; it writes `\p{Han}` for `\p{Script=Han}`. */
function compile(pattern: string, flags: number): RE2JS {
  if (sizeOfPattern(pattern) > MOST_PATTERN_SIZE) throw new SyntaxError('a pattern that is too large');
  if (!isRegExp(pattern)) throw new SyntaxError(`${pattern} is no regular expression`);
  const ofScripts = pattern.replace(/\\(p)\{(?:Script|sc|General_Category|gc)=(\w+)\}/giu, '\\$1{$2}');
  return RE2JS.compile(RE2JS.translateRegExp(ofScripts), flags);
}
