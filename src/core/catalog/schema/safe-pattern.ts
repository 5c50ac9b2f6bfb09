/**
 * Regular expressions of strangers, tried so that none can hang the process: in linear time, as RE2 does (Cox, "Regular
 * Expression Matching in the Wild", 2010). Look-around and back-references are not of that language.
 */
import { RE2JS } from 're2js';
import { orUndefined } from '../../errors.js';

export interface SafePattern {
  /**
   * Undefined: not decided, since it takes more steps than are left.
   * @param budget shared by patterns that are tried together. Default: each try has one of its own.
   */
  matches(text: string, budget?: StepBudget): boolean | undefined;
}

/** Steps that are left: one for each instruction of a pattern at each character of a text. */
export interface StepBudget {
  left: number;
}

/** Of patterns of strangers: about a tenth of a second at worst, mostly a millisecond. Operators mean their patterns well. */
const MOST_STEPS = { stranger: 2 ** 21, operator: 2 ** 25 };

export function createStepBudget(author: keyof typeof MOST_STEPS = 'stranger'): StepBudget {
  return { left: MOST_STEPS[author] };
}

/** Of a pattern with its counts written out: compiling more takes too long. None of 122 of real tools has 300. */
export const MOST_PATTERN_SIZE = 5_000;

/** About how many characters and classes a pattern has with its counts written out: 7 for `a(b){3}`. */
export function sizeOfPattern(pattern: string): number {
  if (pattern.length > MOST_PATTERN_SIZE) return pattern.length;
  const around: number[] = [];
  // Of what stands before the last character, class or group, and of that itself.
  let [before, last] = [0, 0];
  for (const [part, least, most] of pattern.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]?|\{(\d+)(?:,(\d*))?\}|./gsu)) {
    if (part === '(') {
      around.push(before + last);
      [before, last] = [0, 1];
    } else if (part === ')') [before, last] = [around.pop() ?? 0, before + last];
    else if (least !== undefined) last *= Math.max(1, Number(least), Number(most ?? 0));
    else [before, last] = [before + last, 1];
  }
  return around.reduce((sum, size) => sum + size, before + last);
}

/** @throws Error where it is no regular expression that RE2 knows, or one with too many steps */
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

/** Whether an engine of JavaScript takes it, with `u` or without (`[\w-_]`). It is not tried on anything. */
export function isRegExp(text: string): boolean {
  return ['u', ''].some((flags) => orUndefined(() => new RegExp(text, flags)) !== undefined);
}

/** RE2 alone knows `(?P<x>a)`, and writes `\p{Han}` for `\p{Script=Han}`. */
function compile(pattern: string, flags: number): RE2JS {
  if (sizeOfPattern(pattern) > MOST_PATTERN_SIZE) throw new SyntaxError('a pattern that is too large');
  if (!isRegExp(pattern)) throw new SyntaxError(`${pattern} is no regular expression`);
  const ofScripts = pattern.replace(/\\(p)\{(?:Script|sc|General_Category|gc)=(\w+)\}/giu, '\\$1{$2}');
  return RE2JS.compile(RE2JS.translateRegExp(ofScripts), flags);
}
