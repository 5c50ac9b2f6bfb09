/**
 * Regular expressions of strangers, tried so that none can hang the process. A pattern that takes few steps at worst is
 * tried directly. Any other runs in `node:vm` under a time limit, and is undecided when it meets the limit.
 */
import { type Context, createContext, Script } from 'node:vm';
import { oncePer } from '../../kept.js';

export interface SafePattern {
  /**
   * Undefined: not decided within the limits.
   * @param trials shared by patterns that are tried together. Default: each try has a budget of its own.
   */
  matches(text: string, trials?: PatternTrials): boolean | undefined;
  /** What is not decided does not match. */
  test(text: string): boolean;
  /** ajv shares the compiled form between patterns of one text. */
  toString(): string;
}

/** One try of one expression on one text. Undefined: it met the limit, or the budget is spent. */
export type PatternTrials = (expression: RegExp, text: string) => boolean | undefined;

/** By the clock: a process that stands in line for a processor needs more than its own work. */
const TIME_LIMIT_IN_MS = 250;
/** For all tries that share a budget. */
const BUDGET_IN_MS = 1_000;
/** About 10 ms of direct matching; less where hundreds of patterns share a budget. */
const MOST_STEPS = 256 ** 3;
const MOST_STEPS_OF_ONE = 256 ** 2;
const LONGEST_TEXT_CHARACTERS = 1_000_000;

/** @throws SyntaxError where it is a regular expression neither with the flag `u` nor without. */
export function createSafePattern(pattern: string, { ignoreCase = false } = {}): SafePattern {
  const expression = compile(pattern, ignoreCase ? 'i' : '');
  const steps = stepsOf(pattern);
  const matches: SafePattern['matches'] = (text, trials) => {
    if (steps(text.length) <= (trials ? MOST_STEPS_OF_ONE : MOST_STEPS)) return expression.test(text);
    if (text.length > LONGEST_TEXT_CHARACTERS) return undefined;
    return (trials ?? createPatternTrials())(expression, text);
  };
  return { matches, test: (text) => matches(text) === true, toString: () => pattern };
}

const SCRIPT = new Script('new RegExp(source, flags).test(text)');
/** One for all tries, made for the first: it takes longer than a decision, most of which try no such pattern. */
const sandboxOf = oncePer((_: Script): Context => createContext({}));

/** Tries with a time limit each, and with one budget for all of them. */
export function createPatternTrials(): PatternTrials {
  let left = BUDGET_IN_MS;
  return ({ source, flags }, text) => {
    if (left <= 0) return undefined;
    const sandbox = sandboxOf(SCRIPT);
    Object.assign(sandbox, { source, flags, text });
    const begin = performance.now();
    try {
      return SCRIPT.runInContext(sandbox, { timeout: Math.ceil(Math.min(TIME_LIMIT_IN_MS, left)) }) === true;
    } catch {
      return undefined;
    } finally {
      left -= performance.now() - begin;
    }
  };
}

export function isPattern(text: string): boolean {
  try {
    return compile(text, '') instanceof RegExp;
  } catch {
    return false;
  }
}

/** Authors write for engines without `u` (`[\w-_]`, `\-`): those forms count too. */
function compile(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, `${flags}u`);
  } catch {
    return new RegExp(pattern, flags);
  }
}

/**
 * The steps of a pattern at worst, by the length of a text, at each character of which it may begin: each repetition, option
 * and alternative multiplies them by the length. A repeated group with a choice inside, or a back-reference, has no bound.
 */
function stepsOf(pattern: string): (characters: number) => number {
  const plain = plainOf(pattern);
  if (repeatsChoice(plain, /^[*+{]/) || /\\(?:[1-9]|k<)/.test(pattern)) return () => Number.POSITIVE_INFINITY;
  const choices = plain.match(/[*+?|{]/g)?.length ?? 0;
  return (characters) => Math.max(characters, 2) ** (choices + 1);
}

/** Whether short texts exist on which the pattern would work for years. */
export function canRunAway(pattern: string): boolean {
  return repeatsChoice(plainOf(pattern), /^(?:[*+]|\{\d+,\})/);
}

/** With one plain character for each escape and class. */
function plainOf(pattern: string): string {
  const plain = pattern.replace(/\\./gs, 'x').replace(/\[[^\]]*\]/g, 'x');
  return plain.replace(/\(\?(?:<?[=!]|:|<\w+>)/g, '(');
}

/** Whether a group is repeated that holds a repetition, an option or an alternative itself. */
function repeatsChoice(plain: string, repeated: RegExp): boolean {
  const holdsChoice = [false];
  for (const { 0: character, index } of plain.matchAll(/[()*+?|{]/g)) {
    const top = holdsChoice.length - 1;
    if (character === '(') holdsChoice.push(false);
    else if (character !== ')') holdsChoice[top] = true;
    else if (top > 0) {
      const holds = holdsChoice.pop() ?? false;
      if (holds && repeated.test(plain.slice(index + 1))) return true;
      holdsChoice[top - 1] ||= holds;
    }
  }
  return false;
}
